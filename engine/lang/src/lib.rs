//! Source text to configuration, and its evaluation.

#![forbid(unsafe_code)]
