//! The GPU trait over a simulated node.

use std::thread;
use std::time::Duration;

use engine_model::name::GpuUuid;
use providers_agent_api::{CardReading, CardSettings, GpuError, Gpus, InstanceReading, Inventory, MigMode};
use providers_catalog::{MigProfile, ProfileInfo};

use crate::{Card, Condition, GpuInstance, Node, Refusal, SharedFleet};

/// The cards of one node of a fleet.
#[derive(Clone, Debug)]
pub struct SimulatedGpus {
    fleet: SharedFleet,
    node: String,
}

impl SimulatedGpus {
    /// The cards of that node of the fleet.
    pub fn new(fleet: SharedFleet, node: &str) -> Self {
        Self { fleet, node: node.to_owned() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Node) -> Result<T, GpuError>) -> Result<T, GpuError> {
        let (answer, delay) = self
            .fleet
            .with(&self.node, |node| (work(node), node.take_delay_ms()))
            .ok_or_else(|| GpuError::DriverNotLoaded(format!("there is no node {}", self.node)))?;
        // Outside the lock: a slow card does not hold up the rest of the fleet.
        if delay > 0 {
            thread::sleep(Duration::from_millis(delay));
        }
        answer
    }
}

impl Gpus for SimulatedGpus {
    fn inventory(&mut self) -> Result<Inventory, GpuError> {
        self.with(|node| {
            node.begin_inventory().map_err(|refusal| refusal.about("the node's cards cannot be read"))?;
            Ok(inventory(node))
        })
    }

    fn set_mig_mode(&mut self, card: &GpuUuid, enabled: bool) -> Result<MigMode, GpuError> {
        self.with(|node| {
            node.set_mig_mode(card, enabled).map_err(|refusal| refusal.about(format!("MIG mode of {card}")))?;
            let card = node.card(card).map_err(|refusal| refusal.about(card.as_str()))?;
            Ok(MigMode { current: card.mig, pending: card.mig_pending })
        })
    }

    fn create_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
        let what = || format!("MIG profile {profile} at {start} of {card}");
        self.with(|node| {
            let info = profile_of(node, card, profile).map_err(|refusal| refusal.about(what()))?;
            let (id, slices) = (info.gi_profile_id, info.compute_slices);
            let gpu_instance =
                node.create_gpu_instance(card, id, Some(start)).map_err(|refusal| refusal.about(what()))?;
            node.create_compute_instance(card, gpu_instance, slices).map(|_| ()).map_err(|refusal| {
                match node.destroy_gpu_instance(card, gpu_instance) {
                    Ok(()) => refusal.about(format!("the compute instance of {}", what())),
                    Err(second) => refusal.about(format!(
                        "the compute instance of {}; its GPU instance {gpu_instance} is left over: {second}",
                        what()
                    )),
                }
            })
        })
    }

    fn destroy_instance(&mut self, card: &GpuUuid, profile: &str, start: u8) -> Result<(), GpuError> {
        let what = || format!("MIG profile {profile} at {start} of {card}");
        self.with(|node| {
            let instance = instance_of(node, card, profile, start).map_err(|refusal| refusal.about(what()))?;
            if instance.is_busy() {
                return Err(Refusal::InUse.about(what()));
            }
            let (id, compute): (u32, Vec<u32>) =
                (instance.id, instance.compute.iter().map(|compute| compute.id).collect());
            for compute in compute {
                node.destroy_compute_instance(card, id, compute).map_err(|refusal| refusal.about(what()))?;
            }
            node.destroy_gpu_instance(card, id).map_err(|refusal| refusal.about(what()))
        })
    }

    fn reset(&mut self, card: &GpuUuid) -> Result<(), GpuError> {
        self.with(|node| node.reset(card).map_err(|refusal| refusal.about(format!("reset of {card}"))))
    }

    fn set(&mut self, card: &GpuUuid, settings: &CardSettings) -> Result<(), GpuError> {
        self.with(|node| {
            node.set(card, settings).map_err(|(refusal, field)| refusal.about(format!("{field} of {card}")))
        })
    }
}

fn profile_of(node: &Node, card: &GpuUuid, profile: &str) -> Result<&'static ProfileInfo, Refusal> {
    let geometry = node.card(card)?.geometry().ok_or(Refusal::NotSupported)?;
    let profile: MigProfile = profile.parse().map_err(|_| Refusal::InvalidArgument)?;
    geometry.profile(profile).ok_or(Refusal::InvalidArgument)
}

fn instance_of<'a>(node: &'a Node, card: &GpuUuid, profile: &str, start: u8) -> Result<&'a GpuInstance, Refusal> {
    let is_it = |instance: &&GpuInstance| {
        instance.instance.placement.start == start && instance.instance.profile.to_string() == profile
    };
    let card = node.card(card)?;
    card.geometry().ok_or(Refusal::NotSupported)?;
    card.instances.iter().find(is_it).ok_or(Refusal::NotFound)
}

fn inventory(node: &Node) -> Inventory {
    // A lost card answers nothing, not even its UUID, so it is not there.
    let reachable = node.counted().filter(|(_, card)| card.condition == Condition::Healthy);
    let mut cards: Vec<CardReading> = reachable.map(|(index, card)| reading(index, card)).collect();
    cards.sort_by(|one, other| one.pci.cmp(&other.pci));
    Inventory { boot_id: node.boot_id(), driver_version: node.driver_version.clone(), cards }
}

fn reading(index: u32, card: &Card) -> CardReading {
    let instances = card.instances.iter().map(|instance| InstanceReading {
        profile: instance.instance.profile.to_string(),
        start: instance.instance.placement.start,
        size: instance.instance.placement.size,
        uuid: instance.compute.first().map(|compute| compute.uuid.clone()),
        processes: instance.compute.iter().flat_map(|compute| &compute.processes).copied().collect(),
    });
    CardReading {
        index,
        uuid: card.uuid.clone(),
        pci: card.pci.clone(),
        product: card.product.to_string(),
        memory_mib: card.memory_mib(),
        mig: card.geometry().map(|_| MigMode { current: card.mig, pending: card.mig_pending }),
        instances: instances.collect(),
        processes: card.processes.clone(),
        settings: card.settings(),
        frozen: card.frozen().map(str::to_owned),
    }
}
