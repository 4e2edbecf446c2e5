//! One simulated node: its cards, what is allocated, what will go wrong.

use engine_model::name::{GpuUuid, PciAddress};
use providers_agent_api::ComputeMode;
use providers_catalog::{Product, catalog};
use serde::{Deserialize, Serialize};

use crate::settings::PowerLimits;
use crate::{Allocation, Card, Condition, Fault, Refusal, RowRemap, identity};

/// The hardware and the driver of one node, and what the kubelet has allocated of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Name of the node; identities derive from it.
    pub name: String,
    /// Version of the driver.
    pub driver_version: String,
    /// How often the node was started.
    pub boots: u64,
    /// Whether it is a virtual machine whose cards may not be reset from inside.
    #[serde(default)]
    pub passthrough: bool,
    /// The cards in the order of NVML's index, which is no identity.
    pub cards: Vec<Card>,
    /// What pods hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<Allocation>,
    /// What will go wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// How many compute instances were ever made: what keeps MIG UUIDs apart.
    #[serde(default)]
    pub(crate) made: u64,
    /// Time lost to slow calls that nobody has waited for yet.
    #[serde(default, skip_serializing)]
    pub(crate) delay_ms: u64,
}

/// Cards to put into a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardRequest {
    /// The product, in any spelling that the catalog knows.
    pub product: Product,
    /// How many.
    pub count: usize,
}

/// A product that the catalog does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the catalog has no card {0}, so it cannot be simulated")]
pub struct UnknownProduct(pub Product);

// Buses of the eight cards of a DGX A100: real nodes do not number them from zero either.
const BUSES: [u8; 8] = [0x07, 0x0f, 0x47, 0x4e, 0x87, 0x90, 0xb7, 0xbd];

impl Node {
    /// A node with these cards, MIG off, just started. The same arguments give the same identities.
    pub fn new(name: &str, driver_version: &str, requests: &[CardRequest]) -> Result<Self, UnknownProduct> {
        let mut cards = Vec::new();
        for request in requests {
            let Some(model) = catalog().find(&request.product) else {
                return Err(UnknownProduct(request.product.clone()));
            };
            for _ in 0..request.count {
                let pci = pci_address(cards.len());
                let has_ecc = !model.product.as_str().starts_with("GeForce");
                cards.push(Card {
                    uuid: GpuUuid::from(format!("GPU-{}", identity::uuid(&["gpu", name, pci.as_str()]))),
                    pci,
                    product: model.product.clone(),
                    condition: Condition::Healthy,
                    row_remap: RowRemap::None,
                    mig: false,
                    mig_pending: false,
                    instances: Vec::new(),
                    processes: Vec::new(),
                    persistence_mode: true,
                    power: PowerLimits::of(model),
                    graphics_clocks: None,
                    memory_clocks: None,
                    ecc: has_ecc.then_some(true),
                    ecc_pending: has_ecc.then_some(true),
                    compute_mode: ComputeMode::Default,
                });
            }
        }
        Ok(Self {
            name: name.to_owned(),
            driver_version: driver_version.to_owned(),
            boots: 1,
            passthrough: false,
            cards,
            allocations: Vec::new(),
            faults: Vec::new(),
            made: 0,
            delay_ms: 0,
        })
    }

    /// The kernel's boot id: another one after each reboot.
    pub fn boot_id(&self) -> String {
        identity::uuid(&["boot", &self.name, &self.boots.to_string()])
    }

    /// The cards that the driver counts, each with its index.
    pub fn counted(&self) -> impl Iterator<Item = (u32, &Card)> {
        (0..).zip(self.cards.iter().filter(|card| card.condition != Condition::Missing))
    }

    /// The card of that UUID, as the driver reaches it.
    pub fn card(&self, uuid: &GpuUuid) -> Result<&Card, Refusal> {
        let card = self.cards.iter().find(|card| card.uuid == *uuid).ok_or(Refusal::NotFound)?;
        match card.condition {
            Condition::Healthy => Ok(card),
            Condition::Lost => Err(Refusal::GpuIsLost),
            Condition::Missing => Err(Refusal::NotFound),
        }
    }

    pub(crate) fn reach(&mut self, uuid: &GpuUuid) -> Result<&mut Card, Refusal> {
        self.card(uuid)?;
        self.cards.iter_mut().find(|card| card.uuid == *uuid).ok_or(Refusal::NotFound)
    }
}

fn pci_address(index: usize) -> PciAddress {
    let bus = BUSES[index % BUSES.len()];
    // More than eight cards: the same buses of the next PCI domain.
    let domain = index / BUSES.len();
    PciAddress::from(format!("{domain:04x}:{bus:02x}:00.0"))
}
