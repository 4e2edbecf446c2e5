//! What is stored beside a pool: the layouts found first, and what of an approved configuration is still to be done.

use std::collections::BTreeMap;

use engine_model::name::{GpuUuid, NodeName};
use providers_catalog::Layout;
use serde::{Deserialize, Serialize};

use crate::world::World;

/// What is stored beside a pool. Bytes that are not ours (an empty state, another tool's) read as the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Private {
    /// The layout that each card had before it was first given a profile.
    #[serde(default)]
    pub(crate) found: Found,
    /// What was approved and not yet seen to be finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved: Option<Approved>,
}

/// The layout that each card had first, by node and card.
pub(crate) type Found = BTreeMap<NodeName, BTreeMap<GpuUuid, Layout>>;

/// An approved configuration and what it makes of each node that it changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Approved {
    /// Digest of the configuration.
    pub(crate) configuration: String,
    /// What the cards of each node become.
    pub(crate) nodes: Found,
}

impl Approved {
    /// How many of its nodes are as approved. One that cannot be seen is not.
    pub(crate) fn done(&self, world: &World) -> usize {
        self.nodes.keys().filter(|node| self.is_done(node, world)).count()
    }

    /// Is a node as approved?
    pub(crate) fn is_done(&self, node: &NodeName, world: &World) -> bool {
        let Some(cards) = self.nodes.get(node) else { return true };
        let report = world.nodes.get(node).and_then(|node| node.report.as_ref());
        cards.iter().all(|(uuid, layout)| {
            let found = report.into_iter().flat_map(|report| &report.cards).find(|card| card.uuid == *uuid);
            found.is_some_and(|card| card.layout == *layout)
        })
    }
}

impl Private {
    /// Reads what was stored.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// What is stored.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("maps by text of plain data are always JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_round_and_forgives() {
        let cards = BTreeMap::from([("GPU-0".into(), Layout::Whole), ("GPU-1".into(), Layout::mig([]))]);
        let nodes = BTreeMap::from([("gpu-01".into(), cards)]);
        let approved = Some(Approved { configuration: "abc".to_owned(), nodes: nodes.clone() });
        let private = Private { found: nodes, approved };
        assert_eq!(Private::from_bytes(&private.to_bytes()), private);
        for bytes in [&b""[..], b"{}", b"nonsense"] {
            assert_eq!(Private::from_bytes(bytes), Private::default());
        }
    }
}
