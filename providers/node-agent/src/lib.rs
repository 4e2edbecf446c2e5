//! The node daemon: watches the one `GpuNode` of its own node, and carries out what was approved there.
//!
//! It acts on a new `spec.operation.id`, or at start when the boot id has changed, never on a difference alone: a slice
//! destroyed by hand is drift, for people to see. It listens on nothing, writes only the status of its own object and
//! its own Lease, and keeps no NVML handle while idle.

#![deny(unsafe_code)]

mod agent;
mod attention;
mod heartbeat;
mod journal;
mod kubelet;
mod nvml;
mod operation;
mod status;
mod steps;

pub use agent::{Agent, AgentError};
pub use attention::Attention;
pub use journal::{Journal, JournalError};
pub use kubelet::KubeletFiles;
pub use nvml::{NvmlGpus, Reset};
