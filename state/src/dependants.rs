//! Ancestors of objects, and the same the other way round: who depends on an instance.

use std::collections::{BTreeMap, BTreeSet};

pub use engine_model::address::Ancestor;
use engine_model::address::ResourceAddr;

use crate::snapshot::Resource;

/// Who depends on what: makes the removal of an instance as cheap as it has dependants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependants(BTreeMap<Ancestor, BTreeSet<ResourceAddr>>);

impl Dependants {
    pub(crate) fn insert(&mut self, addr: &ResourceAddr, resource: &Resource) {
        for ancestor in ancestors(resource) {
            self.0.entry(ancestor.clone()).or_default().insert(addr.clone());
        }
    }

    pub(crate) fn remove(&mut self, addr: &ResourceAddr, resource: &Resource) {
        for ancestor in ancestors(resource) {
            if let Some(dependants) = self.0.get_mut(ancestor) {
                dependants.remove(addr);
                if dependants.is_empty() {
                    self.0.remove(ancestor);
                }
            }
        }
    }

    pub(crate) fn of(&self, addr: &ResourceAddr) -> impl Iterator<Item = &ResourceAddr> {
        let instance = self.0.get(&Ancestor::Instance(addr.clone()));
        let block = self.0.get(&Ancestor::Block(addr.with_key(None)));
        let by_block = block.into_iter().flatten();
        let only_instance = move |a: &&ResourceAddr| block.is_none_or(|block| !block.contains(*a));
        by_block.chain(instance.into_iter().flatten().filter(only_instance))
    }
}

fn ancestors(resource: &Resource) -> impl Iterator<Item = &crate::Ancestor> {
    resource.current.iter().chain(resource.deposed.values()).flat_map(|object| object.ancestors())
}
