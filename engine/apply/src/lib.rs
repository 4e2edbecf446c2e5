//! Executes the execution graph of a plan.
//!
//! Walks the steps that the plan spells out and makes no choice: what depends on what, who is held when, and which half
//! of a replacement comes first are the plan's. Each step is recorded before and after: an intent is durable before the
//! provider is called, its result before a dependant starts.
//!
//! A step that fails stops what comes after it and nothing else. The first interrupt starts nothing more and lets what
//! runs come to a safe point; dropping the future is the second, and the journal still tells what was begun.

#![forbid(unsafe_code)]

mod begin;
mod budget;
mod call;
mod describe;
mod edit;
mod partial;
mod recover;
mod run;
mod secrets;
mod settle;
mod stale;
mod stored;

pub use budget::used_up;
pub use edit::{Edit, edit};
pub use run::{Applied, Apply, Stop, apply};
pub use stale::{other_cluster, stale};
