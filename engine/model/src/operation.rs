//! Operations on nodes, the holds around them, and the waves that order the holds.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    address::{ProviderConfigAddr, ResourceAddr},
    card::CardChange,
    name::{GpuUuid, LayoutDigest, NodeName, OperationId, PlanDigest},
};

/// How much an operation disrupts its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperationKind {
    /// Not at all: no hold is needed.
    None,
    /// Pods on what changes must go.
    Drain,
    /// Cards are reset: everything on them must go.
    Reset,
    /// The node restarts.
    Reboot,
}

/// One change on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Unique in the plan; the agent acts once on each.
    pub id: OperationId,
    /// Who carries it out.
    pub provider: ProviderConfigAddr,
    /// Where.
    pub node: NodeName,
    /// How much it disrupts.
    pub kind: OperationKind,
    /// What it does, in one line without the node: "re-slice card 0".
    pub summary: String,
    /// Failure domain of the node: the value of the policy's label.
    pub domain: Option<String>,
    /// What must change together with it: the value of the policy's label, such as a rack.
    pub unit: Option<String>,
    /// What must still be so when it begins.
    pub precondition: Precondition,
    /// How to go back.
    pub undo: Undo,
    /// Whose pods it ends.
    pub victims: Vec<Victim>,
    /// The resources that it carries out; never empty.
    pub owners: Vec<ResourceAddr>,
    /// Every card that it changes, before and after.
    pub cards: Vec<CardChange>,
    /// What the provider wants to see again when it carries this out. Opaque to the engine.
    pub payload: Json,
    /// Operations of the same instance that must be finished before this one (dependencies between their owners are
    /// added by the engine).
    pub after: Vec<OperationId>,
}

/// What must still be so when an operation begins: anything else stops the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// The layout of each card that is touched.
    pub cards: BTreeMap<GpuUuid, LayoutDigest>,
}

/// How to go back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Undo {
    /// What the provider needs for it. Opaque to the engine.
    Payload(Json),
    /// There is no way back, and why.
    Impossible(String),
}

/// Pods that may be ended, as an envelope: pods come and go between approval and apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Victim {
    /// Namespace of the pods.
    pub namespace: String,
    /// Kind of what owns them, in lower case: `deployment`; `pod` for a pod without owner.
    pub owner_kind: String,
    /// Its name.
    pub owner_name: String,
    /// Their priority.
    pub priority: i32,
    /// At most so many.
    pub count: u64,
}

impl Victim {
    /// `team-b/deployment/notebook`.
    pub fn owner(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.owner_kind, self.owner_name)
    }
}

/// A node taken out of use while operations run on it: a taint of ours, and exactly its victims evicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Which node.
    pub node: NodeName,
    /// Through whom.
    pub provider: ProviderConfigAddr,
    /// The worst kind of its operations.
    pub kind: OperationKind,
    /// All of its operations, in the order of the plan.
    pub operations: Vec<OperationId>,
    /// Whose pods may be ended: the operations' envelopes together.
    pub victims: Vec<Victim>,
    /// The wave that it is in: an index into the plan's waves.
    pub wave: usize,
    /// How long it may take.
    pub timeout: Duration,
    /// An earlier run of this state that was cut off and still holds the node: its hold is taken over.
    pub takes_over: Option<PlanDigest>,
}

/// A node that an earlier run still holds and that nothing more is to be done on: it is given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    /// Which node.
    pub node: NodeName,
    /// Through whom.
    pub provider: ProviderConfigAddr,
    /// The plan that holds it.
    pub plan: PlanDigest,
}

/// Nodes of one provider instance that are held together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wave {
    /// Through whom.
    pub provider: ProviderConfigAddr,
    /// First, second, … wave of that instance, from 1.
    pub number: usize,
    /// Its nodes, ascending.
    pub nodes: Vec<NodeName>,
    /// The failure domain that they share.
    pub domain: Option<String>,
}

/// A node that is left alone, and why. Exclusion is never drift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Excluded {
    /// Which node.
    pub node: NodeName,
    /// Why.
    pub why: ExclusionReason,
    /// What was seen, as a fragment: "no heartbeat for 3 m".
    pub detail: String,
}

/// Why a node is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// It is gone from the cluster.
    Vanished,
    /// Kubernetes says that it is not ready.
    NotReady,
    /// Its agent does not answer.
    AgentDown,
    /// Its cards could not be read.
    Unreadable,
    /// A card vanished or was exchanged.
    CardExchanged,
    /// A card waits for a reset, a reboot or a repair.
    CardFrozen,
    /// Another owner manages its cards.
    OtherOwner,
    /// A protected pod is on it.
    Protected,
}
