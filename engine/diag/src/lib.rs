//! Diagnostics: what is wrong, where, and what to do about it.
//!
//! Knows sources and positions, and nothing about how a diagnostic is shown: the CLI renders.

#![forbid(unsafe_code)]

mod chain;
mod diagnostic;
mod sentence;
mod source;

pub use chain::chain;
pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use sentence::sentence;
pub use source::{FileId, Position, Source, Sources, Span};
