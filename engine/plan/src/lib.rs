//! Configuration, snapshot and what providers say make a plan.
//!
//! Owns the worklist. No I/O but through the provider contract.

#![forbid(unsafe_code)]

pub mod depend;
pub mod schedule;
