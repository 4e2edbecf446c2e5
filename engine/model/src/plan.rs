//! A plan: everything that apply will do, and why.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::Value;
use serde::{Deserialize, Serialize};

use crate::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::{OutputChange, ResourceChange, ResourceDrift},
    execution::ExecutionGraph,
    finding::{Review, SourcePlace},
    name::ClusterIdentity,
    operation::{Excluded, GivenBack, Hold, Operation, Wave},
};

/// What kind of plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMode {
    /// Towards the configuration.
    Normal,
    /// Towards nothing.
    Destroy,
    /// The state towards the world; the world stays as it is.
    RefreshOnly,
}

/// What a plan was made from, so that apply can tell whether it is stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotIdentity {
    /// The state's lineage; empty where there is no state yet.
    pub lineage: String,
    /// Its serial.
    pub serial: u64,
    /// Digest of the journal records behind it; empty where there are none.
    pub tail: String,
}

/// What an unknown value waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WaitsFor {
    /// The result of a planned change.
    Change(ResourceAddr),
    /// A data source that is read during apply.
    Read(ResourceAddr),
    /// An ephemeral resource or variable.
    Ephemeral(String),
}

/// A variable of the root module as the plan was made with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanVariable {
    /// Its value, after conversion to its type.
    pub value: Value,
    /// Never shown.
    pub sensitive: bool,
    /// Not kept in the plan: it must be given again.
    pub ephemeral: bool,
}

/// A variable, an output, a resource and so on that a plan of `-target` left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    /// Why the plan is not the whole: "-target".
    pub why: String,
}

/// Everything that apply will do, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Normal, destroy or refresh-only.
    pub mode: PlanMode,
    /// What it was made from.
    pub snapshot: SnapshotIdentity,
    /// The cluster behind each provider configuration that has one.
    pub clusters: BTreeMap<ProviderConfigAddr, ClusterIdentity>,
    /// Is it of the sandbox? Then it applies nowhere else.
    pub sandbox: bool,
    /// When it was made: RFC 3339, UTC, seconds.
    pub timestamp: String,
    /// Variables of the root module by name.
    pub variables: BTreeMap<Arc<str>, PlanVariable>,
    /// Every object that there is or will be, in address order, no-ops included.
    pub changes: Vec<ResourceChange>,
    /// Objects that are no longer as they were left, in address order.
    pub drift: Vec<ResourceDrift>,
    /// Outputs of the root module by name.
    pub outputs: BTreeMap<Arc<str>, OutputChange>,
    /// What is done on nodes.
    pub operations: Vec<Operation>,
    /// Nodes that are taken out of use.
    pub holds: Vec<Hold>,
    /// The order of the holds.
    pub waves: Vec<Wave>,
    /// Nodes that an earlier run still holds and that are given back.
    pub given_back: Vec<GivenBack>,
    /// Nodes that are left alone.
    pub excluded: Vec<Excluded>,
    /// What apply does, in which order.
    pub graph: ExecutionGraph,
    /// What the review of the whole says.
    pub review: Review,
    /// What unknown values wait for, by their origin's number.
    pub origins: Vec<WaitsFor>,
    /// Where each resource of the configuration is written.
    pub places: BTreeMap<String, SourcePlace>,
    /// Set where the plan leaves something out.
    pub incomplete: Option<Incomplete>,
    /// Did planning fail? Then it is shown and never applied.
    pub errored: bool,
}

/// Additions, changes and destructions, as the summary line counts them. A replacement counts in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// To add.
    pub add: usize,
    /// To change.
    pub change: usize,
    /// To destroy.
    pub destroy: usize,
}

impl Plan {
    /// Would apply do anything at all: change an object, a node, an output, or what the state says?
    pub fn changes_anything(&self) -> bool {
        use crate::change::Action::NoOp;
        self.changes.iter().any(|c| c.action != NoOp || c.previous.is_some())
            || self.outputs.values().any(|o| o.action != NoOp)
            || !self.operations.is_empty()
            || !self.given_back.is_empty()
            || (self.mode == PlanMode::RefreshOnly && !self.drift.is_empty())
    }

    /// The counts of the summary line.
    pub fn summary(&self) -> Summary {
        use crate::change::Action;
        let mut summary = Summary::default();
        for change in &self.changes {
            match change.action {
                Action::Create => summary.add += 1,
                Action::Update => summary.change += 1,
                Action::Delete => summary.destroy += 1,
                Action::Replace(_) => {
                    summary.add += 1;
                    summary.destroy += 1;
                }
                Action::NoOp | Action::Read | Action::Forget => {}
            }
        }
        summary
    }
}

/// Bytes as base64 text in JSON.
pub(crate) mod base64 {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_ref()).map_err(D::Error::custom)
    }
}
