//! Workloads that ask for what vanishes: their pods, made anew or still waiting, would wait for ever.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::Severity;
use engine_model::{finding::Finding, name::ResourceName};

use super::{Reviewed, capacity::Capacity, offers::takes_away};
use crate::world::World;

/// More owners than this are counted, not named: a list that fills the screen is not read.
const NAMED: usize = 5;

/// One warning for each resource that vanishes and is still asked for.
pub(super) fn findings(plan: &Reviewed<'_>, world: &World, capacity: &Capacity) -> Vec<Finding> {
    let vanishing =
        |name: &ResourceName| capacity.get(name).is_some_and(|row| row.now > 0 && row.then == 0 && row.excluded == 0);
    let mut askers: BTreeMap<&ResourceName, BTreeSet<String>> = BTreeMap::new();
    for (pod_name, pod) in &world.pods {
        // A pod without owner that runs is ended or stays; nobody makes it anew.
        if pod.owner_kind == "pod" && pod.node.is_some() {
            continue;
        }
        for name in pod.requests.keys().filter(|name| vanishing(name)) {
            askers.entry(name).or_default().insert(pod.envelope(pod_name).owner());
        }
    }
    let finding = |(name, owners): (&ResourceName, BTreeSet<String>)| {
        let count = owners.len();
        let mut named: Vec<String> = owners.into_iter().take(NAMED).collect();
        if count > NAMED {
            named.push(format!("{} more", count - NAMED));
        }
        let place = takes_away(plan, name);
        Finding {
            severity: Severity::Warning,
            code: "workload_loses_resource".to_owned(),
            summary: "Workloads ask for a resource that this plan takes away".to_owned(),
            detail: format!("No node will offer {name}, which these ask for: {}.", named.join(", ")),
            hint: Some("Change what they ask for, or their next pods wait for ever.".to_owned()),
            places: place.map(|place| ("the pool that no longer offers it".to_owned(), place)).into_iter().collect(),
        }
    };
    askers.into_iter().map(finding).collect()
}
