//! Implied moves: an object whose block got or lost its `count` is the same object under a new address.
//!
//! As in Terraform `x` is `x[0]` where `x` has a count now, and the other way round. Not so for module calls (observed).
//! Nothing moves onto an address that is taken.

use std::{borrow::Cow, collections::BTreeMap};

use engine_lang::config::Repeat;
use engine_model::address::{InstanceKey, ResourceAddr};
use state::Snapshot;

use crate::program::Program;

/// The state with every object under the address that the configuration has for it, and the old address of each that got
/// a new one.
pub(super) fn moved<'a>(
    program: &Program,
    snapshot: &'a Snapshot,
) -> (Cow<'a, Snapshot>, BTreeMap<ResourceAddr, ResourceAddr>) {
    let mut moves: BTreeMap<ResourceAddr, ResourceAddr> = BTreeMap::new();
    for (addr, resource) in snapshot.resources() {
        let to = destination(program, addr);
        let is_free = snapshot.resource(&to).is_none() && !moves.contains_key(&to);
        // What is still to be destroyed of it is known under the old address: first that, then the move.
        if to != *addr && is_free && resource.deposed.is_empty() {
            moves.insert(to, addr.clone());
        }
    }
    if moves.is_empty() {
        return (Cow::Borrowed(snapshot), moves);
    }
    let mut renamed = snapshot.clone();
    moves.retain(|to, from| renamed.rename(from, to));
    (Cow::Owned(renamed), moves)
}

/// The address that the configuration has for an object of the state.
fn destination(program: &Program, addr: &ResourceAddr) -> ResourceAddr {
    match program.resource(addr) {
        Some(block) => addr.with_key(implied(&block.repeat, addr.key.as_ref())),
        None => addr.clone(),
    }
}

fn implied(repeat: &Repeat, key: Option<&InstanceKey>) -> Option<InstanceKey> {
    match (repeat, key) {
        (Repeat::Count(_), None) => Some(InstanceKey::Int(0)),
        (Repeat::Once, Some(InstanceKey::Int(0))) => None,
        (_, key) => key.cloned(),
    }
}
