//! What the device plugin offers of a node and what the kubelet has given to pods.

use std::future::{Future, ready};
use std::pin::Pin;

use providers_agent_api::{PodDevice, PodDevices, PodDevicesError};
use serde::{Deserialize, Serialize};

use crate::{Condition, Node, SharedFleet};

/// Devices that a container has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Allocation {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
    /// Resource name: `nvidia.com/mig-1g.10gb`.
    pub resource: String,
    /// GPU or MIG UUIDs.
    pub device_ids: Vec<String>,
}

/// A device as NVIDIA's plugin offers it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Device {
    /// Resource name: `nvidia.com/gpu`, or `nvidia.com/mig-…`.
    pub resource: String,
    /// GPU or MIG UUID.
    pub id: String,
}

impl Node {
    /// What the device plugin offers under strategy `mixed`: each card with MIG off as `nvidia.com/gpu`, each slice with
    /// one compute instance over all of it under its profile's name. In order of card and start.
    pub fn devices(&self) -> Vec<Device> {
        let mut devices = Vec::new();
        for card in self.cards.iter().filter(|card| card.condition == Condition::Healthy) {
            if !card.mig {
                devices.push(Device { resource: "nvidia.com/gpu".to_owned(), id: card.uuid.to_string() });
            }
            for instance in &card.instances {
                let whole = instance.instance.profile.compute_slices;
                for compute in instance.compute.iter().filter(|compute| compute.slices == whole) {
                    let resource = instance.instance.profile.resource_name();
                    devices.push(Device { resource, id: compute.uuid.clone() });
                }
            }
        }
        devices
    }

    /// Offered devices that no pod has.
    pub fn free_devices(&self) -> Vec<Device> {
        let taken = |device: &Device| self.allocations.iter().any(|holder| holder.device_ids.contains(&device.id));
        self.devices().into_iter().filter(|device| !taken(device)).collect()
    }

    /// Gives free devices to a container, the first ones offered; false, and nothing changed, if there are not enough.
    pub fn allocate(&mut self, namespace: &str, pod: &str, container: &str, resource: &str, count: usize) -> bool {
        let free = self.free_devices().into_iter().filter(|device| device.resource == resource);
        let device_ids: Vec<String> = free.map(|device| device.id).take(count).collect();
        if device_ids.len() < count {
            return false;
        }
        self.allocations.push(Allocation {
            namespace: namespace.to_owned(),
            pod: pod.to_owned(),
            container: container.to_owned(),
            resource: resource.to_owned(),
            device_ids,
        });
        self.allocations.sort();
        true
    }

    /// Takes back everything that a pod has, and ends its processes.
    pub fn release(&mut self, namespace: &str, pod: &str) {
        let of_pod = |holder: &Allocation| holder.namespace == namespace && holder.pod == pod;
        let (gone, kept) = std::mem::take(&mut self.allocations).into_iter().partition(of_pod);
        self.allocations = kept;
        let gone: Vec<Allocation> = gone;
        for id in gone.iter().flat_map(|holder| &holder.device_ids) {
            self.set_processes(id, &[]);
        }
    }

    /// Replaces the processes that run on a device, given by GPU or MIG UUID; false if there is no such device.
    pub fn set_processes(&mut self, device_id: &str, pids: &[u32]) -> bool {
        for card in &mut self.cards {
            if card.uuid.as_str() == device_id {
                card.processes = pids.to_vec();
                return true;
            }
            let mut compute = card.instances.iter_mut().flat_map(|instance| &mut instance.compute);
            if let Some(compute) = compute.find(|compute| compute.uuid == device_id) {
                compute.processes = pids.to_vec();
                return true;
            }
        }
        false
    }
}

/// What pods of one node hold, as the kubelet would tell.
#[derive(Clone, Debug)]
pub struct SimulatedPods {
    fleet: SharedFleet,
    node: String,
}

impl SimulatedPods {
    /// The pods of that node of the fleet.
    pub fn new(fleet: SharedFleet, node: &str) -> Self {
        Self { fleet, node: node.to_owned() }
    }
}

impl PodDevices for SimulatedPods {
    fn list(&self) -> Pin<Box<dyn Future<Output = Result<Vec<PodDevice>, PodDevicesError>> + Send + '_>> {
        let found = self.fleet.read(|fleet| {
            let node = fleet.nodes.get(&self.node)?;
            let devices = node.allocations.iter().map(|allocation| PodDevice {
                namespace: allocation.namespace.clone(),
                pod: allocation.pod.clone(),
                container: allocation.container.clone(),
                resource: allocation.resource.clone(),
                device_ids: allocation.device_ids.clone(),
            });
            Some(devices.collect())
        });
        Box::pin(ready(found.ok_or_else(|| PodDevicesError(format!("there is no node {}", self.node)))))
    }
}
