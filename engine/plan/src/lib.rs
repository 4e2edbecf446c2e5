//! Configuration, snapshot and what providers say make a plan.
//!
//! Owns the worklist. No I/O but through the provider contract.

#![forbid(unsafe_code)]

mod action;
pub mod contract;
pub mod depend;
mod evaluation;
mod expand;
pub mod file;
pub mod generate;
mod import;
pub mod json;
pub mod place;
mod planner;
mod program;
mod proposed;
mod providers;
mod reason;
mod repeated;
mod replace_order;
pub mod schedule;
mod stored;
mod target;
mod validate;
mod variables;
mod worklist;

pub use evaluation::{Evaluation, Stopped, objects};
pub use import::{Found, Import, ImportOutput, import};
pub use planner::{PlanInput, PlanOutput, plan, redacted};
pub use program::{Given, Program};
pub use proposed::{proposed, settled};
pub use providers::Providers;
pub use repeated::mark_repeated;
pub use target::Target;
pub use validate::validate;
pub use variables::{given_text, undeclared_variable};

#[cfg(test)]
mod tests;
