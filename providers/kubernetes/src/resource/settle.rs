//! How a planned object is applied or deleted: only what was planned on, and until it is so.

use std::time::Duration;

use kube::core::DynamicObject;
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;

use crate::{
    cluster::{Cluster, FieldManager, discovery::Lookup},
    object::{
        key::ObjectKey,
        readiness::{Readiness, Wanted, readiness},
        refusal::{Refusal, refusal},
        shape::is_applied_by,
    },
};

/// Tries against a status that keeps changing: each needs two round trips, and nothing else writes so often.
const TRIES: u32 = 10;

/// An object to be applied.
pub(super) struct Desired<'a> {
    /// What names it.
    pub(super) key: ObjectKey,
    /// What is sent.
    pub(super) body: &'a Json,
    /// Who applies.
    pub(super) manager: &'a FieldManager,
}

/// What must be there for an apply to begin.
pub(super) enum Expected<'a> {
    /// Nothing, or what an interrupted run of ours left.
    Nothing,
    /// The object with this UID, as the function finds it: `Err` names what has changed since the plan.
    Object(Option<&'a str>, &'a (dyn Fn(&Json) -> Result<(), String> + Sync)),
}

/// Applies an object where what is there is what was planned on, and gives what it is now.
///
/// # Errors
/// [`ErrorKind::Conflict`] where something else is there: nothing was changed.
pub(super) async fn apply(
    cluster: &Cluster,
    desired: &Desired<'_>,
    expected: &Expected<'_>,
    call: Call<'_>,
) -> Result<Json, ProviderError> {
    let key = &desired.key;
    let kind = match cluster.kind_now(&key.api_version, &key.kind, call).await? {
        Lookup::Served(kind) => kind,
        Lookup::Missing(missing) => {
            let error = ProviderError::permanent(format!("cannot apply {key}: {}", missing.what()));
            return Err(if missing.hint.is_empty() { error } else { error.hint(missing.hint) });
        }
    };
    for _ in 0..TRIES {
        let live = cluster.get(&kind, key, call).await?;
        check(desired, expected, live.as_ref())?;
        let mut body = desired.body.clone();
        if let Some(live) = &live {
            for field in ["uid", "resourceVersion"] {
                body["metadata"][field] = live["metadata"][field].clone();
            }
        }
        match cluster.apply(&kind, key, &body, desired.manager, call).await? {
            Ok(object) => return Ok(object),
            Err(status) => match refusal(&status) {
                // Somebody wrote between our look and our apply, perhaps only the status: look again.
                Refusal::Changed(_) => {}
                refused => return Err(error(desired, refused, &status.message)),
            },
        }
    }
    Err(conflict(key, "it changes faster than it can be applied"))
}

fn check(desired: &Desired<'_>, expected: &Expected<'_>, live: Option<&Json>) -> Result<(), ProviderError> {
    let key = &desired.key;
    match (expected, live) {
        (Expected::Nothing, None) => Ok(()),
        (Expected::Nothing, Some(live)) if is_applied_by(live, &desired.manager.name) => Ok(()),
        (Expected::Nothing, Some(_)) => Err(conflict(key, "it exists already, and this plan did not make it")),
        (Expected::Object(..), None) => Err(conflict(key, "it was deleted")),
        (Expected::Object(uid, unchanged), Some(live)) => {
            if uid.is_some_and(|uid| live.pointer("/metadata/uid").and_then(Json::as_str) != Some(uid)) {
                return Err(conflict(key, "it was deleted and made anew by somebody else"));
            }
            unchanged(live).map_err(|what| conflict(key, &format!("somebody changed {what}")))
        }
    }
}

fn conflict(key: &ObjectKey, why: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Conflict, format!("cannot apply {key}: since the plan was made, {why}"))
        .hint("Plan again.")
}

fn error(desired: &Desired<'_>, refused: Refusal, message: &str) -> ProviderError {
    let key = &desired.key;
    let failed = |kind, why: &str| ProviderError::new(kind, format!("cannot apply {key}: {why}"));
    match refused {
        Refusal::NoNamespace(namespace) => failed(ErrorKind::Permanent, &format!("there is no namespace {namespace}"))
            .hint("Create it first: refer to the resource that creates it, so that this one depends on it."),
        Refusal::NoKind => failed(ErrorKind::Permanent, "its kind is not served any more"),
        Refusal::NotAllowed => failed(ErrorKind::Forbidden, message),
        Refusal::Owned(conflicts) => {
            let fields: Vec<String> = conflicts
                .iter()
                .map(|(manager, field)| format!("{} by {manager}", field.trim_start_matches('.')))
                .collect();
            failed(ErrorKind::Conflict, &format!("fields are owned by other managers: {}", fields.join(", ")))
                .hint("Plan again; `field_manager { force_conflicts = true }` takes such fields.")
        }
        Refusal::Immutable(fields) => {
            failed(ErrorKind::Conflict, &format!("{} cannot be changed", fields.join(", "))).hint("Plan again.")
        }
        Refusal::Changed(why) => failed(ErrorKind::Conflict, &why),
        Refusal::Wrong(causes) => {
            let causes: Vec<String> = causes
                .into_iter()
                .map(|(message, field)| if field.is_empty() { message } else { format!("{field}: {message}") })
                .collect();
            failed(ErrorKind::Permanent, &causes.join("; "))
        }
    }
}

/// Deletes an object and waits until it is gone. It may be gone already, or another one of that name be there: then
/// nothing is deleted.
pub(super) async fn delete(
    cluster: &Cluster,
    key: &ObjectKey,
    uid: Option<&str>,
    timeout: Duration,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let Some(kind) = cluster.kind_of(key, call).await? else { return Ok(()) };
    if !cluster.delete(&kind, key, uid, call).await? {
        return Ok(());
    }
    let what = format!("{key} to be gone");
    let waited = cluster
        .wait_for(&kind, key, &what, timeout, call, |object| match object {
            None => Readiness::Ready,
            Some(object) if uid.is_some() && object.metadata.uid.as_deref() != uid => Readiness::Ready,
            Some(object) => Readiness::NotYet(remains(object)),
        })
        .await;
    waited.map_err(|error| match error.kind {
        ErrorKind::Timeout => error.hint(
            "Find out why what the finalizer stands for does not go (its controller may be gone), or give more time with \
             `timeouts { delete }`.",
        ),
        _ => error,
    })
}

/// What keeps an object that is being deleted.
fn remains(object: &DynamicObject) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let own = object.metadata.finalizers.iter().flatten().map(String::as_str);
    let spec = object.data.pointer("/spec/finalizers").and_then(Json::as_array).into_iter().flatten();
    let finalizers: Vec<&str> = own.chain(spec.filter_map(Json::as_str)).collect();
    if !finalizers.is_empty() {
        reasons.push(format!("held by finalizer {}", finalizers.join(", ")));
    }
    let conditions = object.data.pointer("/status/conditions").and_then(Json::as_array).into_iter().flatten();
    reasons.extend(
        conditions
            .filter(|condition| condition.get("status").and_then(Json::as_str) == Some("True"))
            .filter_map(|condition| condition.get("message").and_then(Json::as_str).map(str::to_owned)),
    );
    reasons.join("; ")
}

/// Waits until an applied object is as it is wanted to be; a definition always until it is served, so that objects of its
/// kind can follow.
pub(super) async fn ready(
    cluster: &Cluster,
    key: &ObjectKey,
    wanted: &Wanted,
    timeout: Duration,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let is_definition = key.kind == "CustomResourceDefinition";
    if *wanted == Wanted::default() && !is_definition {
        return Ok(());
    }
    let Some(kind) = cluster.kind_of(key, call).await? else { return Ok(()) };
    let what = format!("{key} to be {}", if is_definition { "established" } else { "ready" });
    let look = |object: Option<&DynamicObject>| {
        let Some(object) = object else { return Readiness::Never("it was deleted".to_owned()) };
        let object = serde_json::to_value(object).unwrap_or_default();
        match established(&object) {
            not_yet @ (Readiness::NotYet(_) | Readiness::Never(_)) if is_definition => not_yet,
            _ => readiness(&object, wanted),
        }
    };
    let waited = cluster.wait_for(&kind, key, &what, timeout, call, look).await;
    waited.map_err(|error| match error.kind {
        ErrorKind::Timeout => {
            error.hint("It was applied. Find out what it waits for, or give more time with a `timeouts` block.")
        }
        _ => error,
    })
}

fn established(object: &Json) -> Readiness {
    let conditions = object.pointer("/status/conditions").and_then(Json::as_array).into_iter().flatten();
    for condition in conditions {
        let text = |name: &str| condition.get(name).and_then(Json::as_str).unwrap_or_default();
        match (text("type"), text("status")) {
            ("Established", "True") => return Readiness::Ready,
            ("NamesAccepted", "False") => return Readiness::Never(text("message").to_owned()),
            _ => {}
        }
    }
    Readiness::NotYet(String::new())
}
