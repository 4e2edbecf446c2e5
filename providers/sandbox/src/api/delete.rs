//! Deleting objects: preconditions, finalizers, grace, and what becomes of dependants.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::body::Body;
use super::object::{self, ensure_map, items, metadata_mut, text};
use super::read;
use super::request::Request;
use super::resource::Resource;
use super::status::{self, Failure};
use super::write;
use crate::store::{Key, Transaction};

/// What becomes of the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay, without their owner.
    Orphan,
}

/// How to delete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) grace_seconds: Option<i64>,
    pub(super) propagation: Propagation,
    /// Pods on nodes stay until their kubelet has ended them.
    pub(super) graceful_pods: bool,
    pub(super) now: Timestamp,
}

/// How far a deletion came.
pub(super) enum Outcome {
    Gone,
    /// Finalizers, content or running containers are waited for.
    Terminating(Arc<Value>),
}

/// The finalizer of foreground deletion.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// `DELETE` on an object.
pub(super) fn delete(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let options = read_options(request, body)?;
    let manner = manner(request, &options)?;
    let mut store = request.begin();
    let live = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    let preconditions = json!({"metadata": options.get("preconditions")});
    write::check_version(resource, &live, &preconditions)?;
    protect(resource, &live)?;
    write::review(request, resource, Some(&live), None)?;
    let outcome = start(&mut store, resource, &live, manner);
    let key = request.key(resource);
    super::controllers::settle(request, &mut store);
    // The controllers may already have done what the deletion waited for.
    let outcome = match outcome {
        Outcome::Terminating(_) if store.get(&key).is_none() => Outcome::Gone,
        outcome => outcome,
    };
    write::finish(request, store)?;
    Ok(match outcome {
        Outcome::Terminating(object) => (*resource.present(&object)).clone(),
        Outcome::Gone => status::deleted(&resource.group, &resource.plural, request.name(), object::uid(&live)),
    })
}

/// `DELETE` on a collection.
pub(super) fn delete_collection(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let options = read_options(request, body)?;
    let manner = manner(request, &options)?;
    let mut store = request.begin();
    let selected = read::select(request, resource, &store)?;
    for live in &selected {
        protect(resource, live)?;
        write::review(request, resource, Some(live), None)?;
        start(&mut store, resource, live, manner);
    }
    let metadata = json!({"resourceVersion": store.began_at().to_string()});
    write::finish(request, store)?;
    Ok(request.form.list(resource, selected, metadata, request.now))
}

/// Options come in the body or in the query; a dry run in either is one.
pub(super) fn read_options(request: &mut Request<'_>, body: &Body) -> Result<Value, Failure> {
    let options = body.delete_options()?;
    request.options.dry_run |= items(&options, "/dryRun").any(|value| value == "All");
    Ok(options)
}

/// The manner of deletion that the options ask for.
pub(super) fn manner(request: &Request<'_>, options: &Value) -> Result<Manner, Failure> {
    let policy = match text(options, "/propagationPolicy") {
        "" => request.options.propagation.as_deref().unwrap_or_default(),
        policy => policy,
    };
    let propagation = match policy {
        "" if options.get("orphanDependents") == Some(&Value::Bool(true)) => Propagation::Orphan,
        "" | "Background" => Propagation::Background,
        "Foreground" => Propagation::Foreground,
        "Orphan" => Propagation::Orphan,
        other => {
            let message = format!(
                "invalid propagationPolicy {other:?}: supported values: \"Foreground\", \"Background\", \"Orphan\""
            );
            return Err(Failure::bad_request(message));
        }
    };
    let grace = options.get("gracePeriodSeconds").and_then(Value::as_i64).or(request.options.grace_seconds);
    let graceful_pods = request.api.graceful_pods;
    Ok(Manner { grace_seconds: grace, propagation, graceful_pods, now: request.now })
}

/// Namespaces that every cluster has are not deleted.
fn protect(resource: &Resource, live: &Value) -> Result<(), Failure> {
    let name = object::name(live);
    if resource.storage.as_ref() == "namespaces" && ["default", "kube-system", "kube-public"].contains(&name) {
        return Err(Failure::forbidden("", "namespaces", name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Deletes the object, or begins to.
pub(super) fn start(store: &mut Transaction<'_>, resource: &Resource, live: &Arc<Value>, manner: Manner) -> Outcome {
    let key = resource.key(object::namespace(live), object::name(live));
    let mut next = (**live).clone();
    match manner.propagation {
        Propagation::Orphan => orphan_dependants(store, object::uid(live)),
        Propagation::Foreground if !store.dependants(object::uid(live)).is_empty() => {
            let metadata = metadata_mut(&mut next);
            let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
            if let Some(list) = finalizers.as_array_mut().filter(|list| !list.iter().any(|name| name == FOREGROUND)) {
                list.push(FOREGROUND.into());
            }
        }
        Propagation::Foreground | Propagation::Background => {}
    }
    let grace = if resource.storage.as_ref() == "pods" { pod_grace(live, manner) } else { 0 };
    let pending = live.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
    if !object::is_terminating(live) || pending.is_some_and(|pending| grace < pending) {
        let at = manner.now + SignedDuration::from_secs(grace);
        let metadata = metadata_mut(&mut next);
        metadata.insert("deletionTimestamp".to_owned(), at.to_string().into());
        metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        if let Some(generation) = metadata.get("generation").and_then(Value::as_i64) {
            metadata.insert("generation".to_owned(), (generation + 1).into());
        }
    }
    if resource.storage.as_ref() == "namespaces" {
        ensure_map(&mut next).insert("status".to_owned(), json!({"phase": "Terminating"}));
    }
    if is_done(resource, &next) {
        store.delete(&key);
        return Outcome::Gone;
    }
    if next == **live {
        return Outcome::Terminating(live.clone());
    }
    Outcome::Terminating(store.put(&key, next))
}

fn pod_grace(pod: &Value, manner: Manner) -> i64 {
    let is_over = ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"));
    if !manner.graceful_pods || is_over || text(pod, "/spec/nodeName").is_empty() {
        return 0;
    }
    let own = || pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    manner.grace_seconds.or_else(own).unwrap_or(30).max(0)
}

/// Whether a deletion that has begun waits for nothing any more.
pub(super) fn is_done(resource: &Resource, object: &Value) -> bool {
    let waits_for_content =
        resource.storage.as_ref() == "namespaces" && items(object, "/spec/finalizers").next().is_some();
    let grace = object.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    object::finalizers(object).next().is_none() && !waits_for_content && grace == 0
}

fn orphan_dependants(store: &mut Transaction<'_>, uid: &str) {
    for key in store.dependants(uid) {
        let Some(dependant) = store.get(&key).cloned() else { continue };
        store.put(&key, without_owner(&dependant, uid));
    }
}

/// The object without its reference to an owner.
pub(super) fn without_owner(object: &Value, uid: &str) -> Value {
    let mut object = object.clone();
    let metadata = metadata_mut(&mut object);
    if let Some(references) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
        references.retain(|reference| text(reference, "/uid") != uid);
        if references.is_empty() {
            metadata.remove("ownerReferences");
        }
    }
    object
}

/// Ends the deletion of an object if nothing holds it any more.
pub(super) fn end_if_done(store: &mut Transaction<'_>, resource: &Resource, key: &Key) {
    let done = store.get(key).is_some_and(|object| object::is_terminating(object) && is_done(resource, object));
    if done {
        store.delete(key);
    }
}
