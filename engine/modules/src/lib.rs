//! Module sources and the module manifest.
//!
//! Fetches the modules that a configuration calls ([`install`]), writes down which is where, and brings their files into a
//! [`engine_lang::config::SourceTree`] ([`read_tree`]), which needs no network. What a source means is
//! [`engine_lang::config::ModuleSource`]'s.

#![forbid(unsafe_code)]

mod archive;
mod credentials;
mod directory;
mod fetch;
mod install;
mod manifest;
mod place;
mod registry;

pub use directory::{ReadError, read_tree, read_with, tree_of};
pub use fetch::Limits;
pub use install::{Installation, install};
pub use manifest::{Entry, Manifest, ManifestError};
