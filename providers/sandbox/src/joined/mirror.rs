//! A copy of another server's objects, in the store that the parts of a cluster read.
//!
//! An object comes to it by two ways, as the answer to a write and by a watch, and never goes back to an older version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::store::{Key, Mode, Store};
use crate::world::Trouble;

/// Kinds whose objects are kept, with the resource that the store keeps them under.
const KINDS: [(&str, &str); 4] =
    [("Pod", "pods"), ("Node", "nodes"), ("Event", "events"), ("Execution", "executions.sandbox.sliceform.io")];

/// See the module.
pub(super) struct Mirror {
    store: Arc<Store>,
    trouble: Trouble,
    /// The newest version that was seen of each object, of those that are gone, too. Locked while the store is written.
    versions: Mutex<BTreeMap<Key, u64>>,
}

impl Mirror {
    pub(super) fn new(store: Arc<Store>, trouble: Trouble) -> Self {
        Self { store, trouble, versions: Mutex::default() }
    }

    /// Keeps an object, unless it is of a kind that concerns nobody here, or a newer version was seen.
    pub(super) fn put(&self, object: Value) {
        self.write(object, true);
    }

    /// Forgets an object, of which this is the last version.
    pub(super) fn remove(&self, last: Value) {
        self.write(last, false);
    }

    /// Forgets what a list that is complete does not have.
    pub(super) fn keep_only(&self, resource: &str, listed: &BTreeSet<Key>) {
        let gone: Vec<Key> = {
            let read = self.store.read();
            read.list(resource).map(|(key, _)| key.clone()).filter(|key| !listed.contains(key)).collect()
        };
        for key in gone {
            self.commit(&key, None);
        }
    }

    fn write(&self, object: Value, is_there: bool) {
        let Some(key) = key(&object) else { return };
        let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        let version: u64 = version.and_then(|version| version.parse().ok()).unwrap_or_default();
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = versions.entry(key.clone()).or_default();
        // A deletion may have the version of the last change.
        let is_new = version > *known || (!is_there && version == *known);
        if is_new {
            *known = version;
            self.commit(&key, is_there.then_some(object));
        }
    }

    fn commit(&self, key: &Key, object: Option<Value>) {
        let mut transaction = self.store.begin(Mode::Write);
        match object {
            Some(object) => drop(transaction.put(key, object)),
            None => drop(transaction.delete(key)),
        }
        if let Err(error) = transaction.commit() {
            self.trouble.report(format!("{key} could not be kept: {error}"));
        }
    }
}

/// What the store calls the resource of a kind.
pub(super) fn resource(kind: &str) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, resource)| *resource)
}

/// Where the store keeps an object.
pub(super) fn key(object: &Value) -> Option<Key> {
    let resource = resource(object["kind"].as_str()?)?;
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    Some(Key::new(resource, text("namespace"), text("name")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_never_goes_back() {
        let store = Arc::new(Store::in_memory());
        let mirror = Mirror::new(store.clone(), Trouble::default());
        let pod = |version: u64, phase: &str| {
            let metadata = json!({"namespace": "a", "name": "p", "resourceVersion": version.to_string()});
            json!({"kind": "Pod", "metadata": metadata, "status": {"phase": phase}})
        };
        let phase = || {
            let found = store.read().get(&Key::new("pods", "a", "p")).cloned();
            found.map(|pod| pod["status"]["phase"].as_str().unwrap_or_default().to_owned())
        };
        mirror.put(pod(5, "Pending"));
        mirror.put(pod(7, "Running"));
        mirror.put(pod(6, "Pending"));
        assert_eq!(phase().as_deref(), Some("Running"), "an old answer");
        mirror.remove(pod(7, "Running"));
        assert_eq!(phase(), None);
        mirror.put(pod(7, "Running"));
        assert_eq!(phase(), None, "an answer that came after the deletion");
        mirror.put(pod(9, "Pending"));
        assert_eq!(phase().as_deref(), Some("Pending"), "a new object of that name");
        mirror.keep_only("pods", &BTreeSet::new());
        assert_eq!(phase(), None);
        mirror.put(json!({"kind": "Secret", "metadata": {"name": "s", "resourceVersion": "9"}}));
        assert_eq!(store.read().list("secrets").count(), 0);
    }
}
