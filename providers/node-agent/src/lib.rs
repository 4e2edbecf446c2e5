//! The node daemon.

#![forbid(unsafe_code)]
