//! Reviews the whole plan, whoever's changes they are: what the cluster offers before and after, and what does not fit
//! between the layers: quotas, workloads, selectors. Pure.

mod capacity;
mod offers;
mod quotas;
mod selectors;
mod workloads;

#[cfg(test)]
mod tests;

use engine_model::{
    change::ResourceChange,
    finding::Review,
    operation::{Excluded, Operation},
    plan::Plan,
};

use crate::world::World;

/// What of a plan is looked at.
struct Reviewed<'a> {
    changes: &'a [ResourceChange],
    operations: &'a [Operation],
    excluded: &'a [Excluded],
}

/// Reviews a plan.
pub(crate) fn review(plan: &Plan, world: &World) -> Review {
    let Plan { changes, operations, excluded, .. } = plan;
    look(&Reviewed { changes, operations, excluded }, world)
}

fn look(plan: &Reviewed<'_>, world: &World) -> Review {
    let mut capacity = capacity::capacity(plan, world);
    let mut findings = quotas::findings(plan, world, &mut capacity);
    findings.extend(workloads::findings(plan, world, &capacity));
    findings.extend(selectors::findings(plan));
    Review { findings, capacity: capacity.into_values().collect() }
}
