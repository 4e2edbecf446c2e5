//! What the cluster offers now, and when the plan is applied.

use std::collections::{BTreeMap, BTreeSet};

use engine_model::{
    card::{CardChange, CardLayout},
    finding::CapacityRow,
    name::{GpuUuid, NodeName, ResourceName},
};
use providers_catalog::MigProfile;

use super::Reviewed;
use crate::{
    resource::{Amounts, WHOLE_CARD, add, offered},
    world::{Node, World},
};

/// Rows by resource name.
pub(super) type Capacity = BTreeMap<ResourceName, CapacityRow>;

/// Capacity before and after.
pub(super) fn capacity(plan: &Reviewed<'_>, world: &World) -> Capacity {
    let excluded: BTreeSet<&NodeName> = plan.excluded.iter().map(|excluded| &excluded.node).collect();
    let mut changes: BTreeMap<&NodeName, BTreeMap<&GpuUuid, &CardChange>> = BTreeMap::new();
    for card in plan.operations.iter().flat_map(|operation| &operation.cards) {
        changes.entry(&card.node).or_default().insert(&card.uuid, card);
    }
    let (mut now, mut then, mut aside) = (Amounts::new(), Amounts::new(), Amounts::new());
    for (name, node) in &world.nodes {
        if excluded.contains(name) || node.not_ready.is_some() {
            add(&mut aside, &node.allocatable);
            continue;
        }
        add(&mut now, &node.allocatable);
        match changes.get(name) {
            None => add(&mut then, &node.allocatable),
            Some(changes) => add(&mut then, &after(node, changes)),
        }
    }
    let names: BTreeSet<&ResourceName> = now.keys().chain(then.keys()).chain(aside.keys()).collect();
    let of = |amounts: &Amounts, name: &ResourceName| amounts.get(name).copied().unwrap_or(0);
    let row = |name: &ResourceName| CapacityRow {
        resource: name.clone(),
        now: of(&now, name),
        then: of(&then, name),
        excluded: of(&aside, name),
        notes: Vec::new(),
    };
    names.into_iter().map(|name| (name.clone(), row(name))).collect()
}

// What a node offers when these cards are changed: all of its cards as they are then cut, and what others offer there.
fn after(node: &Node, changes: &BTreeMap<&GpuUuid, &CardChange>) -> Amounts {
    let mut sum = Amounts::new();
    for card in node.report.iter().flat_map(|report| &report.cards) {
        match changes.get(&card.uuid) {
            Some(change) => add(&mut sum, &segments(&change.then)),
            None => add(&mut sum, &offered(&card.layout)),
        }
    }
    let others = node.allocatable.iter().filter(|(name, _)| !name.as_str().starts_with("nvidia.com/"));
    add(&mut sum, &others.map(|(name, amount)| (name.clone(), *amount)).collect());
    sum
}

fn segments(layout: &CardLayout) -> Amounts {
    let mut sum = Amounts::new();
    for segment in &layout.segments {
        let name = match segment.label.parse::<MigProfile>() {
            Ok(profile) if layout.mig => profile.resource_name(),
            _ => WHOLE_CARD.to_owned(),
        };
        add(&mut sum, &[(ResourceName::from(name), 1)].into());
    }
    sum
}
