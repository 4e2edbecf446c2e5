//! Which pods hold which devices: what the kubelet's PodResources service tells, or the simulator.

use std::{future::Future, pin::Pin};

/// Devices that are allocated to a container. Allocated is in use, whether or not a process runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodDevice {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
    /// Resource name: `nvidia.com/mig-1g.10gb`.
    pub resource: String,
    /// Device ids as the device plugin registered them: GPU or MIG UUIDs (`GPU-…`, `MIG-…`; shares have `::N` behind).
    pub device_ids: Vec<String>,
}

/// The kubelet cannot tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kubelet does not tell which pods hold which devices: {0}")]
pub struct PodDevicesError(pub String);

/// Which pods of this node hold which devices.
pub trait PodDevices: Send + Sync {
    /// All allocations of the node.
    fn list(&self) -> Pin<Box<dyn Future<Output = Result<Vec<PodDevice>, PodDevicesError>> + Send + '_>>;
}
