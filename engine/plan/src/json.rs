//! Terraform's JSON of plans, states and outputs, as other tools read it.
//!
//! Everything of ours is under one extra key, `sliceform`. Secrets are null unless they are asked for; what is sensitive
//! is marked as Terraform marks it. Numbers keep every digit. Writes no file.

mod change;
mod configuration;
mod modules;
mod ours;
mod state;

use engine_lang::config::Config;
use engine_model::plan::{Plan, PlanMode};
use engine_value::{
    Value,
    json::{Json, known_part, type_to_tree},
};
use state::Snapshot as _;

pub use state::{outputs_json, state_json};
