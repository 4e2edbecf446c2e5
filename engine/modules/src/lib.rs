//! Module sources and the module manifest.

#![forbid(unsafe_code)]
