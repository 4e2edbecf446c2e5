//! The index from an owner's UID to the objects that name it in `metadata.ownerReferences`: without it each deletion
//! would have to look at every object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::key::Key;

/// Dependants by their owner's UID.
#[derive(Debug, Default)]
pub(super) struct Owners(BTreeMap<String, BTreeSet<Key>>);

impl Owners {
    /// Follows a change of one object.
    pub(super) fn replace(&mut self, key: &Key, old: Option<&Value>, new: Option<&Value>) {
        for uid in old.into_iter().flat_map(owners) {
            if let Some(dependants) = self.0.get_mut(uid) {
                dependants.remove(key);
                if dependants.is_empty() {
                    self.0.remove(uid);
                }
            }
        }
        for uid in new.into_iter().flat_map(owners) {
            self.0.entry(uid.to_owned()).or_default().insert(key.clone());
        }
    }

    /// The objects that name `uid` as an owner.
    pub(super) fn dependants(&self, uid: &str) -> Vec<Key> {
        self.0.get(uid).into_iter().flatten().cloned().collect()
    }
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|reference| reference.get("uid")?.as_str())
}
