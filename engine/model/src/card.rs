//! What one card looks like, before and after: the data of the card map.

use serde::{Deserialize, Serialize};

use crate::name::{GpuUuid, LayoutDigest, NodeName, PciAddress};

/// A stretch of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// What it is: a MIG profile (`1g.10gb`), an MPS share, `whole`.
    pub label: String,
    /// First unit of the card's axis.
    pub start: u8,
    /// Units.
    pub size: u8,
    /// Is a pod or a process on it?
    pub in_use: bool,
}

/// How one card is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardLayout {
    /// Is MIG enabled?
    pub mig: bool,
    /// Its slices in order of start. Without MIG: one segment, `whole`.
    pub segments: Vec<Segment>,
}

/// How one card is cut, now and then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardChange {
    /// The node that it is in.
    pub node: NodeName,
    /// NVML's index at the time of planning: for people only, never an identity.
    pub index: u32,
    /// Its identity.
    pub uuid: GpuUuid,
    /// Where it sits.
    pub pci: PciAddress,
    /// `A100-SXM4-80GB`.
    pub product: String,
    /// Units of its axis: 8 on A100.
    pub axis: u8,
    /// Which of the pool's profiles it gets; `None` where it is left alone.
    pub profile: Option<String>,
    /// As it is.
    pub now: CardLayout,
    /// As it will be.
    pub then: CardLayout,
    /// Digest of what is now: the operation's precondition.
    pub digest: LayoutDigest,
}
