//! What becomes of the cards of a pool that is destroyed.

use std::collections::BTreeMap;

use engine_model::name::{GpuUuid, NodeName};
use engine_value::{Path, Value};
use providers_api::Issue;
use providers_catalog::Layout;

use super::{NodeState, OnDestroy, Private, nodes_of};
use crate::{
    attributes::texts,
    exclusion::exclusion,
    world::{Card, Node, World},
};

/// What each card becomes, by node and card. Nodes that left the pool or are excluded are left alone.
pub(crate) fn layouts(
    before: &Value,
    private: &Private,
    world: &World,
) -> BTreeMap<NodeName, BTreeMap<GpuUuid, Layout>> {
    let how = OnDestroy::of(before);
    if how == OnDestroy::Keep {
        return BTreeMap::new();
    }
    let stored = nodes_of(before);
    let nodes = free_nodes(before, &stored, world).into_iter().map(|(name, node, state)| {
        let cards = cards(node).filter_map(|card| {
            let layout = match how {
                OnDestroy::Restore => private.found.get(name)?.get(&card.uuid)?.clone(),
                OnDestroy::Whole => {
                    state.cards.get(&card.pci)?.cut.as_ref()?;
                    Layout::Whole
                }
                OnDestroy::Keep => return None,
            };
            Some((card.uuid.clone(), layout))
        });
        (name.clone(), cards.collect())
    });
    nodes.collect()
}

/// Why the layouts that were found first cannot be brought back.
pub(super) fn impossible(before: &Value, private: &Private, world: &World) -> Vec<Issue> {
    let stored = nodes_of(before);
    let mut errors = Vec::new();
    for (name, node, _) in free_nodes(before, &stored, world) {
        for card in cards(node) {
            let found = private.found.get(name).and_then(|found| found.get(&card.uuid));
            let Some(Layout::Mig(slices)) = found else { continue };
            let why = match card.model.and_then(|model| model.geometry()) {
                None => "the catalog has no placements for this card".to_owned(),
                Some(geometry) => match geometry.check(slices) {
                    Ok(()) => continue,
                    Err(illegal) => illegal.to_string(),
                },
            };
            let detail = format!("{name} {} had a layout that no longer fits: {why}.", card.label());
            let hint = "Set on_destroy = \"whole\" (or \"keep\") and apply that first.";
            let path = Path::root().attr("on_destroy");
            errors.push(Issue::error(path, "The layout found first cannot be restored", detail).hint(hint));
        }
    }
    errors
}

/// Cards whose first layout nobody remembers: they stay as they are, which is told.
pub(super) fn forgotten(before: &Value, private: &Private, world: &World) -> Vec<Issue> {
    let stored = nodes_of(before);
    let mut warnings = Vec::new();
    for (name, node, state) in free_nodes(before, &stored, world) {
        for card in cards(node) {
            let is_cut = state.cards.get(&card.pci).is_some_and(|state| state.cut.is_some());
            let is_found = private.found.get(name).is_some_and(|found| found.contains_key(&card.uuid));
            if is_cut && !is_found {
                let detail = format!(
                    "What {name} {} was before it came into the pool is not in the state. It stays as it is.",
                    card.label()
                );
                let path = Path::root().attr("on_destroy");
                warnings.push(Issue::warning(path, "A layout cannot be restored", detail));
            }
        }
    }
    warnings
}

fn free_nodes<'a>(
    before: &Value,
    stored: &'a BTreeMap<NodeName, NodeState>,
    world: &'a World,
) -> Vec<(&'a NodeName, &'a Node, &'a NodeState)> {
    let selector: BTreeMap<String, String> = texts(before, "selector").collect();
    let known = stored.iter().filter_map(|(name, state)| {
        let node = world.nodes.get(name)?;
        let selected = selector.iter().all(|(key, value)| node.labels.get(key) == Some(value));
        (selected && exclusion(name, world, Some(state)).is_none()).then_some((name, node, state))
    });
    known.collect()
}

fn cards(node: &Node) -> impl Iterator<Item = &Card> {
    node.report.iter().flat_map(|report| &report.cards)
}
