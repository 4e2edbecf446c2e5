//! Namespaces: each has a default service account, and goes only when it is empty.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::delete::{self, Manner, Propagation};
use super::super::object::{self, map_mut};
use super::super::request::Request;
use crate::store::{Change, ChangeKind, Key, Transaction};

/// Follows the change of a namespace, or of something in one that is to go.
pub(super) fn follow(request: &Request<'_>, store: &mut Transaction<'_>, change: &Arc<Change>) {
    if change.key.resource.as_ref() == "namespaces" {
        match change.kind {
            ChangeKind::Added => add_account(request, store, &change.key.name),
            ChangeKind::Modified => {
                let was_terminating = change.previous.as_deref().is_some_and(object::is_terminating);
                if object::is_terminating(&change.object) && !was_terminating {
                    delete_contents(request, store, &change.key.name);
                    end_if_empty(request, store, &change.key.name);
                }
            }
            ChangeKind::Deleted => {}
        }
    } else if change.kind == ChangeKind::Deleted && !change.key.namespace.is_empty() {
        end_if_empty(request, store, &change.key.namespace);
    }
}

fn add_account(request: &Request<'_>, store: &mut Transaction<'_>, namespace: &str) {
    let key = Key::new("serviceaccounts", namespace, "default");
    if store.get(&key).is_some() {
        return;
    }
    let uid = request.api.ids.uid(store.revision(), &key.to_string());
    let metadata = json!({"name": "default", "namespace": namespace, "uid": uid, "creationTimestamp": request.time()});
    store.put(&key, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}));
}

fn delete_contents(request: &Request<'_>, store: &mut Transaction<'_>, namespace: &str) {
    let manner = Manner {
        grace_seconds: None,
        propagation: Propagation::Background,
        graceful_pods: request.api.graceful_pods,
        now: request.now,
    };
    for resource in request.api.registry.stored(store).into_iter().filter(|resource| resource.namespaced) {
        let objects: Vec<Arc<Value>> =
            store.list_namespace(&resource.storage, namespace).map(|(_, object)| object.clone()).collect();
        for object in objects {
            delete::start(store, &resource, &object, manner);
        }
    }
}

fn end_if_empty(request: &Request<'_>, store: &mut Transaction<'_>, name: &str) {
    let key = Key::new("namespaces", "", name);
    let Some(namespace) = store.get(&key).cloned() else { return };
    if !object::is_terminating(&namespace) {
        return;
    }
    let resources = request.api.registry.stored(store);
    let is_empty = resources
        .iter()
        .filter(|resource| resource.namespaced)
        .all(|resource| store.list_namespace(&resource.storage, name).next().is_none());
    if !is_empty {
        return;
    }
    if object::items(&namespace, "/spec/finalizers").any(|finalizer| finalizer == "kubernetes") {
        let mut next = (*namespace).clone();
        let finalizers = map_mut(&mut next, "spec").get_mut("finalizers").and_then(Value::as_array_mut);
        finalizers.into_iter().for_each(|list| list.retain(|finalizer| finalizer != "kubernetes"));
        store.put(&key, next);
    }
    if let Some(resource) = request.api.registry.by_storage(store, "namespaces") {
        delete::end_if_done(store, &resource, &key);
    }
}
