//! Garbage collection: what an object owned goes with it.

use serde_json::Value;

use super::super::delete::{self, FOREGROUND, Manner, Propagation};
use super::super::object::{self, items, metadata_mut, text};
use super::super::request::Request;
use crate::store::{Change, Key, Transaction};

/// An object is gone: so are its dependants that have no other owner; and its own owner may have waited for it.
pub(super) fn follow_deletion(request: &Request<'_>, store: &mut Transaction<'_>, gone: &Value) {
    collect(request, store, object::uid(gone));
    let owners: Vec<Key> = items(gone, "/metadata/ownerReferences")
        .filter_map(|reference| find_owner(request, store, gone, reference))
        .collect();
    for owner in owners {
        end_foreground(request, store, &owner);
    }
}

fn collect(request: &Request<'_>, store: &mut Transaction<'_>, uid: &str) {
    let manner = Manner {
        grace_seconds: None,
        propagation: Propagation::Background,
        graceful_pods: request.api.graceful_pods,
        now: request.now,
    };
    for key in store.dependants(uid) {
        let Some(dependant) = store.get(&key).cloned() else { continue };
        let has_other = items(&dependant, "/metadata/ownerReferences").any(|reference| text(reference, "/uid") != uid);
        if has_other {
            store.put(&key, delete::without_owner(&dependant, uid));
        } else if let Some(resource) = request.api.registry.by_storage(store, &key.resource) {
            delete::start(store, &resource, &dependant, manner);
        }
    }
}

/// The key of the owner that a reference names: in the same namespace, or cluster-scoped.
fn find_owner(request: &Request<'_>, store: &Transaction<'_>, dependant: &Value, reference: &Value) -> Option<Key> {
    let (version, kind) = (text(reference, "/apiVersion"), text(reference, "/kind"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let resources = request.api.registry.stored(store);
    let resource = resources.iter().find(|resource| resource.group == group && resource.kind == kind)?;
    let key = resource.key(object::namespace(dependant), text(reference, "/name"));
    let owner = store.get(&key)?;
    (object::uid(owner) == text(reference, "/uid")).then_some(key)
}

/// Ends the foreground deletion of an owner that has no dependants any more.
fn end_foreground(request: &Request<'_>, store: &mut Transaction<'_>, key: &Key) {
    let Some(owner) = store.get(key).cloned() else { return };
    let waits = object::is_terminating(&owner) && object::finalizers(&owner).any(|name| name == FOREGROUND);
    if !waits || !store.dependants(object::uid(&owner)).is_empty() {
        return;
    }
    let mut next = (*owner).clone();
    let metadata = metadata_mut(&mut next);
    if let Some(finalizers) = metadata.get_mut("finalizers").and_then(Value::as_array_mut) {
        finalizers.retain(|name| name != FOREGROUND);
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        }
    }
    store.put(key, next);
    if let Some(resource) = request.api.registry.by_storage(store, &key.resource) {
        delete::end_if_done(store, &resource, key);
    }
}

/// A foreground deletion that begins takes the dependants first.
pub(super) fn follow_change(request: &Request<'_>, store: &mut Transaction<'_>, change: &Change) {
    let waits =
        |object: &Value| object::is_terminating(object) && object::finalizers(object).any(|name| name == FOREGROUND);
    let waited = change.previous.as_deref().is_some_and(waits);
    if waits(&change.object) && !waited {
        collect(request, store, object::uid(&change.object));
        // Dependants that stay with another owner are not deleted, so nothing else would end the wait.
        end_foreground(request, store, &change.key);
    }
}
