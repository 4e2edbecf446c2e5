//! Why a change is planned. No plan without a reason.

use engine_value::Path;
use serde::{Deserialize, Serialize};

/// Why a change is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The configuration says something else than what was applied; the paths that differ.
    Configuration(Vec<Path>),
    /// The world is no longer as it was left; the paths that drifted.
    Drift(Vec<Path>),
    /// Both of these.
    ConfigurationAndDrift {
        /// Paths that differ from what was applied.
        configuration: Vec<Path>,
        /// Paths that drifted.
        drift: Vec<Path>,
    },
    /// It cannot be changed in place; the paths that forbid it.
    Immutable(Vec<Path>),
    /// An earlier apply did a part of it.
    Unfinished {
        /// Parts that are done, such as nodes.
        done: u64,
        /// All parts.
        total: u64,
        /// What the parts are: "nodes".
        unit: String,
    },
    /// Nodes joined since the last apply.
    NodesJoined(Vec<crate::name::NodeName>),
    /// There is nothing in the configuration that it belongs to.
    Orphan(Orphan),
    /// Its creation failed half way.
    Tainted,
    /// `-replace` asked for it.
    Requested,
    /// `replace_triggered_by` asked for it.
    Triggered(Vec<String>),
    /// A data source whose arguments are not known yet.
    ReadUnknown,
    /// A data source that depends on something that will change.
    ReadPending,
    /// `check` needs it.
    ReadCheck,
    /// It is a first creation: nothing of it exists.
    New,
    /// `destroy` asked for it.
    Destroy,
    /// `removed` asked to forget it.
    Removed,
}

/// Why nothing in the configuration belongs to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Orphan {
    /// Its block is gone.
    NoResourceConfig,
    /// Its block has `count` or `for_each` now, or no longer has it.
    WrongRepetition,
    /// Its index is not below `count`.
    CountIndex,
    /// Its key is not in `for_each`.
    EachKey,
    /// Its module instance is gone.
    NoModule,
    /// `moved` names a target that does not exist.
    NoMoveTarget,
}

impl Reason {
    /// Terraform's `action_reason` in plan JSON; `None` where it has none. `replaces` tells whether the change replaces
    /// the object.
    pub fn action_reason(&self, replaces: bool) -> Option<&'static str> {
        Some(match self {
            Self::Immutable(_) => "replace_because_cannot_update",
            Self::Tainted => "replace_because_tainted",
            Self::Requested => "replace_by_request",
            Self::Triggered(_) => "replace_by_triggers",
            Self::Orphan(Orphan::NoResourceConfig) | Self::Removed => "delete_because_no_resource_config",
            Self::Orphan(Orphan::WrongRepetition) => "delete_because_wrong_repetition",
            Self::Orphan(Orphan::CountIndex) => "delete_because_count_index",
            Self::Orphan(Orphan::EachKey) => "delete_because_each_key",
            Self::Orphan(Orphan::NoModule) => "delete_because_no_module",
            Self::Orphan(Orphan::NoMoveTarget) => "delete_because_no_move_target",
            Self::ReadUnknown => "read_because_config_unknown",
            Self::ReadPending => "read_because_dependency_pending",
            Self::ReadCheck => "read_because_check_nested",
            Self::Configuration(_) | Self::Drift(_) | Self::ConfigurationAndDrift { .. } if replaces => {
                "replace_because_cannot_update"
            }
            Self::Configuration(_)
            | Self::Drift(_)
            | Self::ConfigurationAndDrift { .. }
            | Self::Unfinished { .. }
            | Self::NodesJoined(_)
            | Self::New
            | Self::Destroy => return None,
        })
    }
}
