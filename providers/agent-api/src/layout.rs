//! How a card is cut and set, as the node resource spells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a card is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Layout {
    /// Is MIG enabled?
    pub mig: bool,
    /// MIG instances in order of start; empty without MIG.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<InstanceSpec>,
    /// How the whole card is shared without MIG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
}

/// One MIG instance: a GPU instance with one compute instance over all of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceSpec {
    /// First memory slice.
    pub start: u8,
    /// Memory slices.
    pub size: u8,
    /// MIG profile: `1g.10gb`.
    pub profile: String,
}

/// How one whole card is shared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Sharing {
    /// MPS with these shares.
    Mps(Vec<MpsShare>),
    /// Time-slicing between so many.
    TimeSlicing(u32),
}

/// One kind of share of a card under MPS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MpsShare {
    /// Resource name without domain: `notebook`.
    pub name: String,
    /// How many of them.
    pub count: u32,
    /// Device memory of each, MiB.
    pub memory_mib: u64,
    /// Active thread percentage of each, 1 to 100.
    pub compute_percent: u8,
}

/// What is set on a card besides its layout. `None` is left as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardSettings {
    /// Persistence mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_mode: Option<bool>,
    /// Power limit, milliwatts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_limit_mw: Option<u32>,
    /// Locked graphics clocks, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphics_clocks: Option<Clocks>,
    /// Locked memory clocks, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_clocks: Option<Clocks>,
    /// ECC, from the next reset on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecc: Option<bool>,
    /// Compute mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_mode: Option<ComputeMode>,
}

/// A range of clocks, MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Clocks {
    /// Lowest.
    pub min: u32,
    /// Highest.
    pub max: u32,
}

/// Who may open contexts on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ComputeMode {
    /// Any number of processes.
    Default,
    /// Nobody.
    Prohibited,
    /// One process.
    ExclusiveProcess,
}
