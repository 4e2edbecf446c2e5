//! Source text to configuration, and its evaluation.
//!
//! `syntax` reads text into trees, `config` reads trees into modules, variables and resources, and
//! the evaluator gives expressions their values. Knows no network and no file system.

#![forbid(unsafe_code)]

pub mod config;
pub mod eval;
pub mod format;
pub mod functions;
pub mod syntax;
pub mod write;
