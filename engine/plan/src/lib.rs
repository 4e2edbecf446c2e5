//! Configuration, snapshot and what providers say make a plan.
//!
//! Owns the worklist. No I/O but through the provider contract.

#![forbid(unsafe_code)]

mod action;
pub mod contract;
pub mod depend;
mod evaluation;
pub mod file;
mod proposed;
mod providers;
mod reason;
pub mod schedule;
mod worklist;

pub use evaluation::{Evaluation, Program, Stopped};
pub use proposed::{proposed, settled};
pub use providers::Providers;
