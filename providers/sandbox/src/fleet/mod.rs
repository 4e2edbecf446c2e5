//! Fleets as people describe them: nodes with cards, pods that run there, and what is wrong with them from the start.
//!
//! Read from HCL into plain data ([`Fleet`]); what a fleet becomes in a world is in `create`.

mod create;
mod read;
mod schema;

use std::collections::BTreeMap;

use providers_catalog::{MigProfile, Product};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use create::Unmade;
pub(crate) use create::{definitions, objects, owners, pod_object, reference, simulated};
pub(crate) use read::milliseconds;
pub use read::read;

/// The fleet of a sandbox that is given none: file name and text.
pub const DEFAULT_FLEET: (&str, &str) = ("default-fleet.hcl", include_str!("../../data/default-fleet.hcl"));

/// A fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fleet {
    /// Nodes in the order of the file.
    pub nodes: Vec<NodeSpec>,
    /// Pods in the order of the file, which is the order in which they are created.
    pub pods: Vec<PodSpec>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// Its labels, as an administrator sets them.
    pub labels: BTreeMap<String, String>,
    /// Version of the NVIDIA driver.
    pub driver: String,
    /// Cards in the order of their addresses.
    pub cards: Vec<CardsSpec>,
    /// Whether its kubelet works.
    pub ready: bool,
    /// Whether somebody has cordoned it.
    pub unschedulable: bool,
    /// Its agent.
    pub agent: AgentState,
    /// Whether it is a virtual machine whose cards may not be reset from inside.
    pub passthrough: bool,
}

/// Equal cards of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardsSpec {
    /// The product.
    pub product: Product,
    /// How many.
    pub count: usize,
    /// Whether MIG is on.
    pub mig: bool,
    /// MIG instances of each of them, in the order in which they are made.
    pub instances: Vec<InstanceWish>,
    /// Host processes outside any pod, one on each slice, or on each card without slices.
    pub held: bool,
}

/// A MIG instance to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceWish {
    /// Its MIG profile.
    pub profile: MigProfile,
    /// Its first memory slice; none: where the driver puts it.
    pub start: Option<u8>,
}

/// What is with the agent of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// It runs.
    Up,
    /// It ran once: its object is there, its heartbeat is old.
    Down,
    /// It was never there.
    Absent,
}

/// One pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodSpec {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it asks for.
    pub resources: BTreeMap<String, String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Labels that its node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Its priority; a class of that value is made for it.
    pub priority: Option<i32>,
    /// What it belongs to.
    pub owner: Option<Owner>,
    /// How long it runs, in milliseconds of the world's time; none: for ever.
    pub ends_after_ms: Option<u64>,
    /// How long it takes to stop when it is told to, in milliseconds of the world's time.
    pub stops_after_ms: u64,
    /// Whether a process of it runs on its devices. An idle notebook has none, and the driver would cut under it.
    pub busy: bool,
}

/// What a pod belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// A deployment, with a replica set between.
    Deployment(String),
    /// A replica set.
    ReplicaSet(String),
    /// A job.
    Job(String),
}

impl Fleet {
    /// Tells fleets apart by what they describe, not by how it is written.
    pub fn digest(&self) -> String {
        let json = serde_json::to_vec(self).expect("a fleet has only text keys, so it is always JSON");
        Sha256::digest(json).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}
