//! `gpu_pool`: a set of nodes and how their cards are cut.
//!
//! Configuration, snapshot and world make a plan (`plan`), by giving each card a profile (`assign`) and each card a
//! layout (`target`); what the nodes are now is read back in the same shape (`drift`). Everything here is pure.

mod assign;
mod config;
pub(crate) mod destroy;
mod drift;
mod object;
mod plan;
mod private;
mod profile;
mod proposal;
mod schema;
mod settle;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use config::{OnDestroy, PoolConfig, check};
pub(crate) use drift::read;
pub(crate) use object::{CardState, NodeState, nodes_of, spell};
pub(crate) use plan::{PoolPlan, plan_pool};
pub(crate) use private::{Found, Private};
pub(crate) use profile::Cut;
pub(crate) use proposal::propose;
pub(crate) use schema::{TYPE, schema};
pub(crate) use settle::settle;
pub(crate) use target::{CardDiff, card_diff};

use engine_value::Path;

/// The path of a profile in a pool.
pub(crate) fn profile_path(name: &str) -> Path {
    Path::root().attr("profiles").key(name)
}
