//! What happens while plan and apply run: one stream of events, several printers.

use std::time::Duration;

use engine_diag::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::{
    address::ResourceAddr,
    change::Action,
    execution::Step,
    name::{NodeName, OperationId},
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An object of the state is being read.
    RefreshStart(ResourceAddr),
    /// It was read.
    RefreshDone(ResourceAddr),
    /// A step begins. `action` is set for steps on resources.
    StepStart {
        /// Which.
        step: Step,
        /// What is done to the resource.
        action: Option<Action>,
    },
    /// A step is still running.
    StepProgress {
        /// Which.
        step: Step,
        /// How long it has been running.
        elapsed: Duration,
        /// What it does or waits for.
        doing: Doing,
    },
    /// A step has finished.
    StepDone {
        /// Which.
        step: Step,
        /// How long it took.
        elapsed: Duration,
        /// The identifier of the object, where it has one: ("id", "…").
        id: Option<(String, String)>,
    },
    /// A step has failed.
    StepFailed {
        /// Which.
        step: Step,
        /// How long it took.
        elapsed: Duration,
    },
    /// A step will never run, because one before it failed.
    StepSkipped {
        /// Which.
        step: Step,
    },
    /// Something to tell the user at once.
    Diagnostic(Diagnostic),
    /// The first interrupt was received: running steps come to a safe point.
    Interrupted,
}

/// What a running step does or waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doing {
    /// Works: "creating 2g.20gb at 4 on card 0".
    Working(String),
    /// Waits, and for what: "pod team-b/nb-1 to end".
    Waiting(String),
}

/// Where a provider reports what it is doing. Reports are best effort: nothing depends on their arrival.
pub trait Progress: Send + Sync {
    /// It does or waits for this now.
    fn doing(&self, doing: Doing);
}

/// What an operation on a node left behind, as progress and state name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldNode {
    /// The node.
    pub node: NodeName,
    /// The plan that holds it.
    pub plan: crate::name::PlanDigest,
    /// Operations that were finished.
    pub done: Vec<OperationId>,
}
