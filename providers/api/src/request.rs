//! What an instance is asked.

use std::sync::Arc;

use engine_model::{
    address::ResourceAddr,
    change::Action,
    name::PlanDigest,
    operation::{Hold, Operation, Wave},
    plan::Plan,
};
use engine_value::Value;

/// Reads one object again.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// Its address.
    pub addr: ResourceAddr,
    /// As the state has it.
    pub object: Value,
    /// What the provider stored beside it.
    pub private: Vec<u8>,
}

/// Plans one object.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// Its address.
    pub addr: ResourceAddr,
    /// As it is now (after `read`); null where there is none.
    pub prior: Value,
    /// As the state had it before it was read: what differs from `prior` has drifted. Null where there is none.
    pub stored: Value,
    /// What the provider stored beside it.
    pub private: Vec<u8>,
    /// What the configuration says, with unknown values; null: it is to be destroyed.
    pub config: Value,
    /// `config` with computed attributes that it leaves out taken from `prior`, or unknown where there is none.
    pub proposed: Value,
    /// Changes of the types that this one plans after, in address order; of an object that is planned again
    /// ([`crate::Planned::waits`]) also those that are announced ([`crate::Provider::announces`]).
    pub earlier: Arc<[PlannedChange]>,
    /// Is it planned again, so that nothing more will be announced to it?
    pub is_last: bool,
}

/// A planned change, as other plans and `operations` see it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedChange {
    /// Its address.
    pub addr: ResourceAddr,
    /// What happens.
    pub action: Action,
    /// The object now; null where there is none.
    pub before: Value,
    /// The object afterwards; null where there will be none.
    pub after: Value,
    /// What the configuration says; null for deletions.
    pub config: Value,
    /// What `plan` gave to see again.
    pub private: Vec<u8>,
}

/// Carries out one change.
#[derive(Clone, Debug)]
pub struct ApplyRequest {
    /// The change. `after` and `config` are evaluated again with what is now known: unknown only where the provider
    /// itself decides. A deletion has a null `after`; its private bytes are those that the state holds.
    pub change: PlannedChange,
    /// The plan that it belongs to.
    pub plan: PlanDigest,
}

/// Reads a data source.
#[derive(Clone, Debug)]
pub struct DataRequest {
    /// Its address.
    pub addr: ResourceAddr,
    /// What the configuration says.
    pub config: Value,
}

/// Takes a node out of use, or gives it back.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    /// Node, envelope, deadline.
    pub hold: Hold,
    /// Its operations, in order.
    pub operations: Vec<Operation>,
    /// The plan that holds it.
    pub plan: PlanDigest,
}

/// Carries out one operation.
#[derive(Clone, Debug)]
pub struct OperateRequest {
    /// Which.
    pub operation: Operation,
    /// The plan that it belongs to.
    pub plan: PlanDigest,
    /// Grows with every lock of the state: an agent never obeys a lower one.
    pub fence: u64,
}

/// Asks whether a wave is healthy.
#[derive(Clone, Debug)]
pub struct GateRequest {
    /// Which nodes.
    pub wave: Wave,
    /// All operations of the wave.
    pub operations: Vec<Operation>,
    /// The plan that it belongs to.
    pub plan: PlanDigest,
}

/// Asks what became of an operation that was begun and not seen to finish.
#[derive(Clone, Debug)]
pub struct RecoverRequest {
    /// Which.
    pub operation: Operation,
    /// The plan that it belonged to.
    pub plan: PlanDigest,
}

/// Shows the whole plan for review.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// Everything; `review` is still empty.
    pub plan: &'a Plan,
}
