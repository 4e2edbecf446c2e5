//! Who depends on whom, from what was used while evaluating.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine_model::address::{Ancestor, ResourceAddr};

use super::{Evaluation, Key, Slot};
use crate::{depend::Subject, expand::Expansion, worklist::Id};

impl Evaluation {
    /// What everything that was evaluated depends on. What hangs on no object is left out, and so is the provider of an
    /// object, which its change names.
    pub(crate) fn configured(&self) -> BTreeMap<Subject, BTreeSet<Subject>> {
        let mut all: BTreeMap<Subject, BTreeSet<Subject>> = BTreeMap::new();
        for id in self.list.ids() {
            let subject = self.list.key(id).subject();
            let needs: BTreeSet<Subject> = self.nodes[id.0 as usize]
                .needs
                .iter()
                .map(|need| self.list.key(*need))
                .filter(|need| !matches!(need, Key::Configured(_)))
                .map(Key::subject)
                .filter(|need| *need != subject)
                .collect();
            if !needs.is_empty() {
                all.entry(subject).or_default().extend(needs);
            }
        }
        all
    }

    /// What an object needs: the nearest ancestors that have instances.
    pub(crate) fn ancestors(&self, addr: &ResourceAddr) -> Vec<Ancestor> {
        let Some(id) = self.list.find(&Key::Object(addr.clone())) else { return Vec::new() };
        self.nodes[id.0 as usize].ancestors.iter().cloned().collect()
    }

    /// The nearest objects that a key hangs on, once everything that it used is finished.
    pub(super) fn ancestors_of(&self, id: Id, needs: &[Id]) -> Arc<BTreeSet<Ancestor>> {
        if let Key::Whole(block) = self.list.key(id) {
            let expansion = self.expansion(&Key::Instances(block.clone()));
            if expansion.is_some_and(|expansion| !is_empty(expansion)) {
                return Arc::new([Ancestor::Block(block.clone())].into());
            }
        }
        let seen = |need: &Id| match self.list.key(*need) {
            Key::Object(addr) => Arc::new([Ancestor::Instance(addr.clone())].into()),
            // That a provider is there for the destruction of its objects is ordered by the provider's own needs.
            Key::Configured(_) => Arc::default(),
            _ => self.nodes[need.0 as usize].ancestors.clone(),
        };
        match needs {
            [] => Arc::default(),
            // Most have one: it is shared.
            [only] => seen(only),
            many => Arc::new(many.iter().flat_map(|need| seen(need).iter().cloned().collect::<Vec<_>>()).collect()),
        }
    }

    /// All instances that a resource block has.
    pub(crate) fn instances(&self, block: &ResourceAddr) -> Vec<ResourceAddr> {
        self.expansion(&Key::Instances(block.clone()))
            .map(|expansion| expansion.keys().into_iter().map(|key| block.with_key(key)).collect())
            .unwrap_or_default()
    }

    /// Has a key failed?
    pub(crate) fn has_failed(&self, key: &Key) -> bool {
        matches!(self.slot(key), Some(Slot::Failed))
    }
}

fn is_empty(expansion: &Expansion) -> bool {
    match expansion {
        Expansion::Single | Expansion::Any(_) => false,
        Expansion::Count(count) => *count == 0,
        Expansion::ForEach(elements) => elements.is_empty(),
    }
}
