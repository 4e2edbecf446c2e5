//! Configuration to values, on demand: one evaluator for plan and apply.
//!
//! The difference between the two is only which objects are there: while planning they are planned, while applying each
//! is there once its step is done ([`Evaluation::settle`]). Instances are those of the plan, and stay so.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    plan::Plan,
};
use engine_value::Value;
use providers_api::PlannedChange;

/// What an evaluation is of: configuration, variables of the root module, providers, files that functions read.
#[derive(Clone)]
pub struct Program {}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// These objects are not there yet: their steps are not done, or failed.
    Blocked(Vec<ResourceAddr>),
    /// The configuration is wrong, or contradicts what was planned; at least one of these is an error.
    Failed(Diagnostics),
}

/// Values of a configuration, evaluated on demand, each at most once.
pub struct Evaluation {}

impl Evaluation {
    /// For applying a plan: what the plan leaves as it is and what it has read is there from the start, everything else
    /// once it is settled.
    pub fn resume(program: Arc<Program>, plan: &Plan) -> Self {
        let _ = (program, plan);
        Self {}
    }

    /// The object at an address is there now. After that its value never changes.
    pub fn settle(&mut self, addr: &ResourceAddr, object: Value) {
        let _ = (addr, object);
    }

    /// The arguments of a resource, data source or ephemeral resource: an object of its schema's type.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn arguments(&mut self, addr: &ResourceAddr) -> Result<Value, Stopped> {
        let _ = addr;
        Err(unfinished())
    }

    /// A planned creation, update or replacement with what is now known: `config` is evaluated again, and stands in
    /// `after` wherever that was unknown. Where the two contradict the plan, both are told.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn change(&mut self, addr: &ResourceAddr) -> Result<PlannedChange, Stopped> {
        let _ = addr;
        Err(unfinished())
    }

    /// The block of a provider configuration: an object of its schema's type, all null where there is no block.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn provider(&mut self, addr: &ProviderConfigAddr) -> Result<Value, Stopped> {
        let _ = addr;
        Err(unfinished())
    }

    /// An output of the root module.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn output(&mut self, name: &str) -> Result<Value, Stopped> {
        let _ = name;
        Err(unfinished())
    }
}

fn unfinished() -> Stopped {
    Stopped::Failed(Diagnostic::error("Not evaluated", "The evaluator is not there yet.").into())
}
