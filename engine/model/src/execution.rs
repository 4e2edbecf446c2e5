//! The execution graph: what apply does, in which order. Apply walks it and makes no choice.

use serde::{Deserialize, Serialize};

use crate::{
    address::{DeposedKey, ProviderConfigAddr, ResourceAddr},
    name::{NodeName, OperationId},
};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Configures a provider.
    Configure(ProviderConfigAddr),
    /// Reads a data source.
    Read(ResourceAddr),
    /// Creates an object.
    Create(ResourceAddr),
    /// Changes an object in place. For a resource with operations: reads again, stores, exports.
    Update(ResourceAddr),
    /// Destroys an object: the current one, or one that was replaced.
    Delete(ResourceAddr, Which),
    /// Drops an object from the state only.
    Forget(ResourceAddr),
    /// Writes to the state only: what was read (refresh), a new address, new dependencies.
    StateOnly(ResourceAddr),
    /// Opens an ephemeral resource.
    Open(ResourceAddr),
    /// Closes it.
    Close(ResourceAddr),
    /// Takes a node out of use.
    Hold(ProviderConfigAddr, NodeName),
    /// Changes a node.
    Operation(OperationId),
    /// Gives a node back.
    Release(ProviderConfigAddr, NodeName),
    /// Asks whether a wave (an index into the plan's waves) is healthy.
    Gate(usize),
    /// Does nothing: everything after it waits for everything before it, so that N × M dependencies are N + M edges.
    Group(String),
}

/// Which object of an address a deletion means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Which {
    /// The current one (also the first half of destroy-then-create).
    Current,
    /// The one that this plan replaces under `create_before_destroy`: it is deposed when the new one is made.
    Replaced,
    /// One that an earlier run replaced and could not destroy.
    Deposed(DeposedKey),
}

/// Steps and what comes before what. Has no cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionGraph {
    /// The steps, in a deterministic order that keeps every edge.
    pub steps: Vec<Step>,
    /// (before, after): indices into `steps`, ascending.
    pub edges: Vec<(u32, u32)>,
}
