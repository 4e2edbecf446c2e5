//! A fleet of GPUs in memory that obeys the catalog: MIG modes, instances, processes, resets, reboots, faults.
//!
//! [`Node`] is the hardware and the driver of one node: plain data that can be written to disk, changed only by what
//! NVML, `nvidia-smi`, the power button and a script of faults can do to it. [`SharedFleet`] lets several parties (agents,
//! a scheduler, a person with `nvidia-smi`) work on the same nodes. Over it stand [`SimulatedGpus`] and
//! [`SimulatedPods`], which the agent takes for the real thing, and [`nvidia_smi`], which people do.
//!
//! Deterministic: identities are derived from names and counters, and nothing reads a clock. It plans nothing and knows
//! no Kubernetes object.

#![forbid(unsafe_code)]

mod card;
mod fault;
mod fleet;
mod gpus;
mod identity;
mod instances;
mod lifecycle;
mod mode;
mod node;
mod pods;
mod refusal;
mod settings;
mod smi;

pub use card::{Card, ComputeInstance, Condition, GpuInstance, RowRemap};
pub use fault::{Call, Effect, Fault};
pub use fleet::{Fleet, SharedFleet};
pub use gpus::SimulatedGpus;
pub use instances::{MigDevice, compute_instance_profile, compute_instance_slices};
pub use mode::Activation;
pub use node::{CardRequest, Node, UnknownProduct};
pub use pods::{Allocation, Device, SimulatedPods};
pub use refusal::Refusal;
pub use settings::PowerLimits;
pub use smi::{SmiOutput, nvidia_smi};
