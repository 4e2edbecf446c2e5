//! What a control plane does about a write, within the same transaction: so an answer always shows a settled cluster, and
//! a crash cannot come between a write and its consequences.
//!
//! Not here: what takes time in a cluster (scheduling, starting and ending pods, workload controllers).

pub(super) mod disruption;
mod garbage;
mod namespaces;
pub(super) mod quota;
mod roles;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::object;
use super::registry::DEFINITIONS;
use super::request::Request;
use crate::store::{Change, ChangeKind, Transaction};

/// Follows all changes of the transaction, and those that come of following them.
pub(super) fn settle(request: &Request<'_>, store: &mut Transaction<'_>) {
    let mut seen = 0;
    loop {
        let mut quotas = BTreeSet::new();
        let mut budgets = BTreeSet::new();
        let mut has_new_roles = false;
        while let Some(change) = store.changes().get(seen).cloned() {
            seen += 1;
            follow(request, store, &change);
            has_new_roles |= change.key.resource.as_ref() == super::rbac::CLUSTER_ROLES;
            let namespace = change.key.namespace.clone();
            if !namespace.is_empty() {
                quotas.insert(namespace.clone());
                if disruption::concerns(&change.key) {
                    budgets.insert(namespace);
                }
            }
        }
        if has_new_roles {
            roles::refresh(store);
        }
        // Status is computed once for each namespace, however many of its objects changed.
        for namespace in &quotas {
            quota::refresh(store, namespace, &request.time());
        }
        for namespace in &budgets {
            disruption::refresh(store, namespace, &request.time());
        }
        if store.changes().len() == seen {
            return;
        }
    }
}

fn follow(request: &Request<'_>, store: &mut Transaction<'_>, change: &Arc<Change>) {
    namespaces::follow(request, store, change);
    if change.kind == ChangeKind::Modified {
        garbage::follow_change(request, store, change);
    }
    if change.kind == ChangeKind::Deleted {
        garbage::follow_deletion(request, store, &change.object);
        if change.key.resource.as_ref() == DEFINITIONS {
            delete_instances(store, &change.key.name);
        }
    }
}

/// Without its definition a custom object cannot be reached any more.
fn delete_instances(store: &mut Transaction<'_>, resource: &str) {
    let keys: Vec<_> = store.list(resource).map(|(key, _)| key.clone()).collect();
    for key in keys {
        store.delete(&key);
    }
}

/// Writes a status that a controller computed, if it differs.
fn write_status(store: &mut Transaction<'_>, key: &crate::store::Key, live: &Arc<Value>, status: Value, time: &str) {
    if live.get("status") == Some(&status) {
        return;
    }
    let mut next = (**live).clone();
    next["status"] = status;
    let resource = super::kinds::resources().iter().find(|resource| resource.storage == key.resource);
    if let Some(resource) = resource {
        let version = resource.api_version();
        let writer = super::managed::Writer {
            manager: "kube-controller-manager",
            api_version: &version,
            subresource: "status",
            now: time,
        };
        let without = |object: &Value| {
            let mut object = object.clone();
            object::metadata_mut(&mut object).remove("managedFields");
            object
        };
        let managers =
            super::managed::Managers::of(live).update(&without(live), &without(&next), resource.schema(), &writer);
        managers.write_to(&mut next);
    }
    store.put(key, next);
}
