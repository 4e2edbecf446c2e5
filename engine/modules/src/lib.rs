//! Module sources and the module manifest.
//!
//! Brings the files of a configuration from directories into a [`engine_lang::config::SourceTree`], and writes down
//! which module is where. Only local sources so far: [`engine_lang::config::load`] refuses the others by name, where
//! they stand.

#![forbid(unsafe_code)]

mod directory;
mod manifest;

pub use directory::{ReadError, read_tree};
pub use manifest::{Entry, Manifest, ManifestError};
