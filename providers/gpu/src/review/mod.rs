//! Reviews the whole plan, whoever's changes they are: what the cluster offers before and after, and what does not fit
//! between the layers: quotas, workloads, selectors. Pure.

mod capacity;
mod offers;
mod quotas;
mod selectors;
mod workloads;

use engine_model::{finding::Review, plan::Plan};

use crate::world::World;

/// Reviews a plan.
pub(crate) fn review(plan: &Plan, world: &World) -> Review {
    let mut capacity = capacity::capacity(plan, world);
    let mut findings = quotas::findings(plan, world, &mut capacity);
    findings.extend(workloads::findings(plan, world, &capacity));
    findings.extend(selectors::findings(plan));
    Review { findings, capacity: capacity.into_values().collect() }
}
