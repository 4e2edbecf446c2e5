//! One simulated card: plain data. What may happen to it is in `mode`, `instances`, `lifecycle` and `settings`.

use engine_model::name::{GpuUuid, PciAddress};
use providers_agent_api::ComputeMode;
use providers_catalog::{CardModel, Geometry, Instance, Product, catalog};
use serde::{Deserialize, Serialize};

use crate::settings::PowerLimits;

/// One card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    /// GPU UUID: the identity of the card.
    pub uuid: GpuUuid,
    /// Where it sits.
    pub pci: PciAddress,
    /// The product; always one of the catalog.
    pub product: Product,
    /// Whether it can be reached.
    #[serde(default, skip_serializing_if = "is_default")]
    pub condition: Condition,
    /// Row remapping, which freezes a card.
    #[serde(default, skip_serializing_if = "is_default")]
    pub row_remap: RowRemap,
    /// MIG mode in force.
    #[serde(default)]
    pub mig: bool,
    /// MIG mode after the next reset.
    #[serde(default)]
    pub mig_pending: bool,
    /// GPU instances, by start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<GpuInstance>,
    /// Host process ids on the card outside MIG instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<u32>,
    /// Persistence mode.
    pub persistence_mode: bool,
    /// Power limits.
    pub power: PowerLimits,
    /// Locked graphics clocks, MHz. NVML can set them, not read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphics_clocks: Option<(u32, u32)>,
    /// Locked memory clocks, MHz. NVML can set them, not read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_clocks: Option<(u32, u32)>,
    /// ECC in force; none: the card has no ECC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecc: Option<bool>,
    /// ECC after the next reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecc_pending: Option<bool>,
    /// Compute mode.
    pub compute_mode: ComputeMode,
}

/// Whether a card can be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// It can.
    #[default]
    Healthy,
    /// It fell off the bus: the driver still counts it and answers every call for it with "GPU is lost".
    Lost,
    /// The node came up without it: the cards behind it have moved up by one index.
    Missing,
}

/// The state of row remapping of a card's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RowRemap {
    /// Nothing to remap.
    #[default]
    None,
    /// Waits for a reset.
    Pending,
    /// Failed: the card is to be replaced.
    Failed,
}

/// A GPU instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GpuInstance {
    /// The driver's id: depends on the placement, so a new instance at an old place has an old id.
    pub id: u32,
    /// What it is and where it stands.
    pub instance: Instance,
    /// Compute instances, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compute: Vec<ComputeInstance>,
}

/// A compute instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComputeInstance {
    /// The driver's id within its GPU instance.
    pub id: u32,
    /// First compute slice within the GPU instance.
    pub start: u8,
    /// Compute slices.
    pub slices: u8,
    /// MIG UUID: never the same twice.
    pub uuid: String,
    /// Host process ids on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<u32>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Card {
    /// What the catalog knows of it.
    pub fn model(&self) -> &'static CardModel {
        catalog().find(&self.product).expect("only cards of the catalog are put into a node")
    }

    /// The geometry by which it is cut; none without MIG, or when its placements are unknown.
    pub fn geometry(&self) -> Option<&'static Geometry> {
        self.model().geometry()
    }

    /// Memory in MiB. Where the catalog does not know it: that of the largest slice.
    pub fn memory_mib(&self) -> u64 {
        let largest = || {
            let profiles = self.geometry().map_or(&[][..], |geometry| &geometry.profiles);
            profiles.iter().map(|info| u64::from(info.profile.memory_gb) * 1024).max().unwrap_or(0)
        };
        self.model().memory_mib.unwrap_or_else(largest)
    }

    /// Whether a process runs on the card or on one of its slices. This is what the driver looks at; that a pod has a
    /// slice allocated it does not know.
    pub fn is_busy(&self) -> bool {
        !self.processes.is_empty() || self.instances.iter().any(GpuInstance::is_busy)
    }

    /// Why nothing may be changed on it.
    pub fn frozen(&self) -> Option<&'static str> {
        match self.row_remap {
            RowRemap::None => None,
            RowRemap::Pending => Some("a row remap waits for a reset of the card"),
            RowRemap::Failed => Some("a row remap failed: the card is to be replaced"),
        }
    }
}

impl GpuInstance {
    /// Whether a process runs on it.
    pub fn is_busy(&self) -> bool {
        self.compute.iter().any(|compute| !compute.processes.is_empty())
    }
}
