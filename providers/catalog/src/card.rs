//! A card model: what the catalog knows about a product.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{DriverVersion, Geometry, MigProfile, Product};

/// NVIDIA's name for a generation of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the variants are NVIDIA's names and say nothing more")]
pub enum Architecture {
    Pascal,
    Volta,
    Turing,
    Ampere,
    #[serde(rename = "Ada Lovelace")]
    Ada,
    Hopper,
    Blackwell,
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pascal => "Pascal",
            Self::Volta => "Volta",
            Self::Turing => "Turing",
            Self::Ampere => "Ampere",
            Self::Ada => "Ada Lovelace",
            Self::Hopper => "Hopper",
            Self::Blackwell => "Blackwell",
        })
    }
}

/// Whether a card can be cut into MIG slices, and whether we know how.
#[derive(Clone, Debug)]
pub enum MigSupport {
    /// The card has no MIG.
    No,
    /// The card has MIG with these profiles, but NVIDIA published no placements, so no layout can be planned.
    Unpublished(Vec<MigProfile>),
    /// The card has MIG and its placements are known.
    Known(Arc<Geometry>),
}

/// A card model.
#[derive(Clone, Debug)]
pub struct CardModel {
    /// The product, in the spelling of its node label.
    pub product: Product,
    /// The name that NVML tells.
    pub name: String,
    /// Spellings of other tools and drivers that mean this card too.
    pub other_spellings: Vec<Product>,
    /// The PCI device id, where known. Vendor is always 0x10DE.
    pub device_id: Option<u16>,
    /// The generation.
    pub architecture: Architecture,
    /// Memory in MiB as the driver reports it, where known. Varies by some MiB with driver and ECC.
    pub memory_mib: Option<u64>,
    /// The first driver that can cut this card, where known.
    pub min_driver: Option<DriverVersion>,
    /// MIG.
    pub mig: MigSupport,
}

impl CardModel {
    /// The geometry by which layouts of this card can be planned: none without MIG, and none when NVIDIA published no
    /// placements.
    pub fn geometry(&self) -> Option<&Geometry> {
        match &self.mig {
            MigSupport::Known(geometry) => Some(geometry),
            MigSupport::No | MigSupport::Unpublished(_) => None,
        }
    }

    /// Whether the card has MIG at all.
    pub fn is_mig_capable(&self) -> bool {
        !matches!(self.mig, MigSupport::No)
    }
}
