//! What a pool's nodes are now, in the shape that the state has, and what of it drifted.
//!
//! Nodes that joined are not in it, and nodes that left or are excluded stay as the state has them: none of these is
//! drift. Cards without a profile are nobody's business.

use engine_model::name::NodeName;
use engine_value::Value;
use providers_catalog::Layout;

use super::{
    CardState, NodeState, Private,
    object::{isolation_value, nodes_of, nodes_value, resources_of, resources_value},
};
use crate::{
    attributes::{texts, with},
    exclusion::exclusion,
    resource::{add, subtract},
    world::{Card, World},
};

/// The object as it is now, and what drifted, for people.
pub(crate) fn read(stored: &Value, private: &Private, world: &World) -> (Value, Vec<String>) {
    let selector = texts(stored, "selector").collect();
    let mut nodes = nodes_of(stored);
    let (mut notes, mut resources) = (Vec::new(), resources_of(stored));
    for (name, node) in world.selected(&selector) {
        let Some(state) = nodes.get_mut(name) else { continue };
        if state.excluded.is_some() || exclusion(name, world, Some(state)).is_some() {
            continue;
        }
        let before = state.offered();
        let cards = node.report.iter().flat_map(|report| &report.cards);
        let found: Vec<String> = cards.flat_map(|card| drifted(name, state, card)).collect();
        if !found.is_empty() {
            // The state has what was approved. Where an apply was cut off before it came to a node, nothing drifted.
            let undone = private.approved.as_ref().is_some_and(|approved| !approved.is_done(name, world));
            if undone {
                notes.push(format!("{name} is not changed yet: an earlier apply did not come to its end"));
            } else {
                notes.extend(found);
            }
            subtract(&mut resources, &before);
            add(&mut resources, &state.offered());
        }
    }
    if notes.is_empty() {
        return (stored.clone(), notes);
    }
    let object = with(stored, "nodes", nodes_value(&nodes));
    let object = with(&object, "resources", resources_value(&resources));
    (with(&object, "isolation", isolation_value(&resources)), notes)
}

// The differences between what the state has of a card and what it is; the state takes what is.
fn drifted(node: &NodeName, state: &mut NodeState, card: &Card) -> Vec<String> {
    let Some(CardState { cut: Some((_, layout)), .. }) = state.cards.get_mut(&card.pci) else { return Vec::new() };
    if *layout == card.layout {
        return Vec::new();
    }
    let was = std::mem::replace(layout, card.layout.clone());
    let differences = differences(&was, &card.layout).into_iter();
    differences.map(|difference| format!("{node} {}: {difference}", card.label())).collect()
}

fn differences(was: &Layout, is: &Layout) -> Vec<String> {
    match (was.is_mig(), is.is_mig()) {
        (true, false) => return vec!["MIG is off, and its slices are gone".to_owned()],
        (false, true) => return vec!["MIG is on, and the card is no longer whole".to_owned()],
        _ => {}
    }
    let gone = was.instances().iter().filter(|slice| !is.instances().contains(slice));
    let new = is.instances().iter().filter(|slice| !was.instances().contains(slice));
    let tell = |slice: &providers_catalog::Instance, what: &str| {
        format!("{} at {} is {what}", slice.profile, slice.placement.start)
    };
    gone.map(|slice| tell(slice, "gone")).chain(new.map(|slice| tell(slice, "new"))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fixture::{WorldBuilder, a100, mig, pool_config as config, whole_a100};

    fn stored(slices: &str) -> Value {
        let card = |uuid: &str, cut| CardState { uuid: uuid.into(), product: "A100-SXM4-80GB".to_owned(), cut };
        let cards = BTreeMap::from([
            ("0000:00:00.0".into(), card("GPU-0", Some(("notebooks".to_owned(), mig(slices))))),
            ("0000:01:00.0".into(), card("GPU-1", None)),
        ]);
        let nodes = BTreeMap::from([("gpu-01".into(), NodeState { excluded: None, cards })]);
        let object = config(&[("example.com/pool", "dev")], &[]);
        let resources = nodes[&NodeName::from("gpu-01")].offered();
        let object = with(&object, "nodes", nodes_value(&nodes));
        let object = with(&object, "resources", resources_value(&resources));
        with(&object, "isolation", isolation_value(&resources))
    }

    fn world(slices: &str) -> WorldBuilder {
        WorldBuilder::default().node("gpu-01", vec![a100(0, slices, &[]), whole_a100(1, &[])])
    }

    #[test]
    fn a_slice_that_is_gone_is_named_with_its_node_card_and_place() {
        let stored = stored("1g.10gb@0:1 1g.10gb@4:1");
        let (object, notes) = read(&stored, &Private::default(), &world("1g.10gb@0:1").build());
        assert_eq!(notes, ["gpu-01 card 0 (GPU-0): 1g.10gb at 4 is gone"]);
        let nodes = nodes_of(&object);
        let card = &nodes[&NodeName::from("gpu-01")].cards[&"0000:00:00.0".into()];
        assert_eq!(card.cut, Some(("notebooks".to_owned(), mig("1g.10gb@0:1"))));
        assert_eq!(resources_of(&object), [("nvidia.com/mig-1g.10gb".into(), 1)].into());
    }

    #[test]
    fn other_drift_is_told_too() {
        let stored = stored("1g.10gb@0:1");
        for (now, expected) in [
            (a100(0, "1g.10gb@0:1 2g.20gb@2:2", &[]), "2g.20gb at 2 is new"),
            (whole_a100(0, &[]), "MIG is off, and its slices are gone"),
        ] {
            let world = WorldBuilder::default().node("gpu-01", vec![now, whole_a100(1, &[])]).build();
            let (_, notes) = read(&stored, &Private::default(), &world);
            assert_eq!(notes, [format!("gpu-01 card 0 (GPU-0): {expected}")]);
        }
    }

    #[test]
    fn what_is_no_drift_leaves_the_object_as_it_was() {
        let stored = stored("1g.10gb@0:1");
        let joined = world("1g.10gb@0:1").node("gpu-02", vec![whole_a100(0, &[])]);
        let other_card = WorldBuilder::default().node("gpu-01", vec![a100(0, "1g.10gb@0:1", &[]), a100(1, "", &[])]);
        let relabelled = world("").with("gpu-01", |node| node.labels.clear());
        let down = world("").with("gpu-01", |node| node.heartbeat = crate::world::Heartbeat::Never);
        for (what, world) in [
            ("nothing", world("1g.10gb@0:1")),
            ("a node joined", joined),
            ("a card that is left alone changed", other_card),
            ("a node left", relabelled),
            ("a node vanished", WorldBuilder::default()),
            ("an agent is down", down),
        ] {
            assert_eq!(read(&stored, &Private::default(), &world.build()), (stored.clone(), vec![]), "{what}");
        }
    }
}
