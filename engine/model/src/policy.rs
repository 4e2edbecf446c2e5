//! How much may be disrupted at a time. One policy per cluster.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How much of a cluster may be disrupted at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisruptionPolicy {
    /// So many nodes at a time, held ones and those that are unavailable for other reasons together.
    pub max_unavailable: MaxUnavailable,
    /// All nodes of a wave have the same value of this label. A node without it is a domain of its own.
    pub failure_domain: Option<String>,
    /// Nodes with the same value of this label change together.
    pub unit: Option<String>,
    /// Whose pods are never evicted.
    pub protect: Option<Protect>,
    /// How long one hold may take until the step fails with its diagnosis.
    pub timeout: Duration,
}

/// A number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MaxUnavailable {
    /// So many; at least 1.
    Nodes(u64),
    /// So many percent of all nodes that the instance manages, rounded down, at least 1.
    Percent(u64),
}

impl MaxUnavailable {
    /// The number of nodes, of all nodes that the instance manages.
    pub fn of(self, nodes: u64) -> u64 {
        match self {
            Self::Nodes(n) => n.max(1),
            Self::Percent(percent) => (nodes.saturating_mul(percent) / 100).max(1),
        }
    }
}

/// Whose pods are never evicted, and what to do where one would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protect {
    /// Namespaces; `*` stands for anything.
    pub namespaces: Vec<String>,
    /// What to do.
    pub on_hit: OnHit,
}

/// What to do where a protected pod would be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnHit {
    /// Wait until it has ended.
    Wait,
    /// Leave the node out.
    Skip,
    /// Refuse the plan.
    Fail,
}

impl Default for DisruptionPolicy {
    /// One node at a time, 15 minutes each (`docs`: the deadline covers an eviction with a long grace period and a reset).
    fn default() -> Self {
        Self {
            max_unavailable: MaxUnavailable::Nodes(1),
            failure_domain: None,
            unit: None,
            protect: None,
            timeout: Duration::from_secs(15 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_round_down_to_at_least_one() {
        for (max, nodes, expected) in [
            (MaxUnavailable::Percent(10), 37, 3),
            (MaxUnavailable::Percent(10), 5, 1),
            (MaxUnavailable::Nodes(0), 5, 1),
            (MaxUnavailable::Percent(100), 5, 5),
        ] {
            assert_eq!(max.of(nodes), expected, "{max:?} of {nodes}");
        }
    }
}
