//! What a cluster and its cards are, as one snapshot that everything is planned from. Pure data: `read` fills it.

mod card;
mod from_api;
mod node;
mod pod;
mod read;

use std::collections::BTreeMap;

use engine_model::name::NodeName;

pub(crate) use card::{Card, agent_layout, catalog_layout};
pub(crate) use from_api::report;
pub(crate) use node::{Heartbeat, Node, Report};
pub(crate) use pod::{Pod, PodName, Quota, pod_name};
pub(crate) use read::{read_node, read_world};

/// One snapshot of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// All nodes by name.
    pub(crate) nodes: BTreeMap<NodeName, Node>,
    /// Pods that ask for GPUs or have one, and have not ended.
    pub(crate) pods: BTreeMap<PodName, Pod>,
    /// All quotas.
    pub(crate) quotas: Vec<Quota>,
}

impl World {
    /// The nodes that have all of these labels, in order.
    pub(crate) fn selected<'a>(
        &'a self,
        selector: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = (&'a NodeName, &'a Node)> {
        self.nodes.iter().filter(|(_, node)| selector.iter().all(|(key, value)| node.labels.get(key) == Some(value)))
    }
}
