//! The node resource that engine and agent share, and the traits behind which the agent sees the hardware.
//!
//! One [`GpuNode`] per node: `spec` is what was approved, written by the CLI alone; `status` is what is, written by that
//! node's agent alone. There is no other channel between the two, so RBAC and the API server's audit log cover
//! everything. Knows no client and no NVML.

#![forbid(unsafe_code)]

mod digest;
mod gpus;
mod layout;
mod node;
mod pods;

pub use digest::layout_digest;
pub use gpus::{CardReading, GpuError, Gpus, InstanceReading, Inventory, MigMode};
pub use layout::{CardSettings, Clocks, ComputeMode, InstanceSpec, Layout, MpsShare, Sharing};
pub use node::{
    CardSpec, CardStatus, GpuNode, GpuNodeSpec, GpuNodeStatus, InstanceStatus, OperationPhase, OperationSpec,
    OperationStatus, User,
};
pub use pods::{PodDevice, PodDevices, PodDevicesError};

/// API group of [`GpuNode`], and prefix of our labels, taints and resource names.
pub const GROUP: &str = "sliceform.io";

/// Namespace of the agents' heartbeats: one Lease per node, named as the node.
pub const LEASE_NAMESPACE: &str = "sliceform-system";

/// A heartbeat older than this means that the agent is down. The agent renews every ten seconds, so five may be lost.
pub const HEARTBEAT_LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

/// How often the agent renews its Lease.
pub const HEARTBEAT_INTERVAL: std::time::Duration = std::time::Duration::from_secs(10);

/// Key of the `NoSchedule` taint that holds a node; its value is the digest of the plan, cut to a label's length.
pub const HOLD_TAINT: &str = "sliceform.io/hold";
