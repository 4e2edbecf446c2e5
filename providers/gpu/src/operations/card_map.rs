//! A card before and after, as the card map shows it.

use engine_model::{
    card::{CardChange, CardLayout, Segment},
    name::NodeName,
};
use providers_catalog::Layout;

use crate::world::Card;

/// One card of one node, before and after.
pub(super) fn change(node: &NodeName, card: &Card, then: &Layout, profile: Option<&str>) -> CardChange {
    let in_use = |start: u8, label: &str| {
        let slice = card.slices.iter().find(|slice| slice.instance.placement.start == start);
        slice.is_some_and(|slice| slice.instance.profile.to_string() == label && !slice.users.is_empty())
    };
    let now = segments(&card.layout, card.axis(), |start, label| match card.layout {
        Layout::Whole => !card.users.is_empty(),
        Layout::Mig(_) => in_use(start, label),
    });
    // What stays is in use afterwards as it is now.
    let then = segments(then, card.axis(), |start, label| match (then, &card.layout) {
        (Layout::Whole, Layout::Whole) => !card.users.is_empty(),
        (Layout::Mig(_), Layout::Mig(_)) => in_use(start, label),
        _ => false,
    });
    CardChange {
        node: node.clone(),
        index: card.index,
        uuid: card.uuid.clone(),
        pci: card.pci.clone(),
        product: card.product.clone(),
        axis: card.axis(),
        profile: profile.map(str::to_owned),
        now,
        then,
        digest: card.digest.clone(),
    }
}

fn segments(layout: &Layout, axis: u8, in_use: impl Fn(u8, &str) -> bool) -> CardLayout {
    let segment = |label: String, start, size| {
        let in_use = in_use(start, &label);
        Segment { label, start, size, in_use }
    };
    let segments = match layout {
        Layout::Whole => vec![segment("whole".to_owned(), 0, axis)],
        Layout::Mig(slices) => slices
            .iter()
            .map(|slice| segment(slice.profile.to_string(), slice.placement.start, slice.placement.size))
            .collect(),
    };
    CardLayout { mig: layout.is_mig(), segments }
}
