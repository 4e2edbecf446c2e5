//! Which half of each replacement comes first.
//!
//! What is created before its predecessor is destroyed needs everything that it depends on to live as long: so
//! `create_before_destroy` goes on to all of it, or the two orders would wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use engine_model::{
    address::{Ancestor, ResourceAddr},
    change::{Action, ReplaceOrder, ResourceChange},
};

/// Settles `create_before_destroy` of every change, and with it the order of every replacement. What asked for it itself
/// has it already. `stored` are the dependencies that the state remembers.
pub(crate) fn settle(changes: &mut [ResourceChange], stored: &BTreeMap<ResourceAddr, Vec<ResourceAddr>>) {
    let mut blocks: BTreeMap<ResourceAddr, Vec<usize>> = BTreeMap::new();
    let mut places: BTreeMap<&ResourceAddr, usize> = BTreeMap::new();
    for (i, change) in changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none()) {
        blocks.entry(change.addr.with_key(None)).or_default().push(i);
        places.insert(&change.addr, i);
    }
    let mut asked: BTreeSet<usize> = (0..changes.len()).filter(|i| changes[*i].create_before_destroy).collect();
    let mut todo: Vec<usize> = asked.iter().copied().collect();
    let mut seen_blocks: BTreeSet<&ResourceAddr> = BTreeSet::new();
    while let Some(i) = todo.pop() {
        let mut found: Vec<usize> = Vec::new();
        for ancestor in &changes[i].dependencies {
            match ancestor {
                Ancestor::Instance(addr) => found.extend(places.get(addr)),
                Ancestor::Block(block) if seen_blocks.insert(block) => {
                    found.extend(blocks.get(block).into_iter().flatten());
                }
                Ancestor::Block(_) => {}
            }
        }
        // What goes with its old half needs what the state says, however the configuration has turned round since.
        if matches!(changes[i].action, Action::Delete | Action::Replace(_)) {
            found.extend(stored.get(&changes[i].addr).into_iter().flatten().filter_map(|addr| places.get(addr)));
        }
        todo.extend(found.into_iter().filter(|i| asked.insert(*i)));
    }
    for (i, change) in changes.iter_mut().enumerate() {
        change.create_before_destroy = asked.contains(&i);
        if change.action.is_replace() {
            let order = if change.create_before_destroy {
                ReplaceOrder::CreateThenDestroy
            } else {
                ReplaceOrder::DestroyThenCreate
            };
            change.action = Action::Replace(order);
        }
    }
}
