//! How a planned object is applied: only on what was planned on, and until it is so.

use std::time::Duration;

use kube::core::DynamicObject;
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;

use crate::{
    cluster::{
        Cluster, FieldManager,
        discovery::Lookup,
        pods::{FailedPod, Workload},
        watch::Awaited,
    },
    object::{
        key::ObjectKey,
        readiness::{Readiness, Wanted, generation, readiness},
        refusal::{Refusal, refusal},
        rollout::definition,
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
    Err(restless(key))
}

/// An object that stays as it is, where it is what was planned on.
///
/// # Errors
/// [`ErrorKind::Conflict`] where something else is there.
pub(super) async fn left(
    cluster: &Cluster,
    desired: &Desired<'_>,
    expected: &Expected<'_>,
    call: Call<'_>,
) -> Result<Json, ProviderError> {
    let key = &desired.key;
    let live = match cluster.kind_now(&key.api_version, &key.kind, call).await? {
        Lookup::Served(kind) => cluster.get(&kind, key, call).await?,
        Lookup::Missing(_) => None,
    };
    check(desired, expected, live.as_ref())?;
    live.ok_or_else(|| conflict(key, "it was deleted"))
}

/// Every try met a newer version of the object.
pub(super) fn restless(key: &ObjectKey) -> ProviderError {
    conflict(key, "it changes faster than it can be applied")
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
        Refusal::Immutable(told) => {
            let fields: Vec<String> = told.into_iter().map(|(_, field)| field).collect();
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

/// Waits until an applied object is as it is wanted to be; a definition always until it is served, so that objects of its
/// kind can follow. What came in the way is told with the object's last events and the last lines of its pods.
pub(super) async fn ready(
    cluster: &Cluster,
    key: &ObjectKey,
    wanted: &Wanted,
    timeout: Duration,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let is_definition = key.kind == "CustomResourceDefinition";
    if wanted.is_nothing() && !is_definition {
        return Ok(());
    }
    let Some(kind) = cluster.kind_of(key, call).await? else { return Ok(()) };
    // What was applied is there in this version, or a later one: a look that shows an older one is late.
    let Some(applied) = cluster.get(&kind, key, call).await? else {
        return Err(ProviderError::permanent(format!("{key} was deleted")));
    };
    let uid = applied.pointer("/metadata/uid").cloned();
    let what = format!("{key} to be {}", if is_definition { "established" } else { "ready" });
    let look = |object: Option<&DynamicObject>| {
        let Some(object) = object else { return Readiness::Never("it was deleted".to_owned()) };
        // Lists leave the kind out.
        let object = kind.named(serde_json::to_value(object).unwrap_or_default());
        if object.pointer("/metadata/uid") != uid.as_ref() {
            return Readiness::Never("it was deleted, and made anew by somebody else".to_owned());
        }
        if generation(&object) < generation(&applied) {
            return Readiness::NotYet(String::new());
        }
        match definition(&object) {
            not_yet @ (Readiness::NotYet(_) | Readiness::Never(_)) if is_definition => not_yet,
            _ => readiness(&object, wanted),
        }
    };
    let awaited = Awaited { key, what: &what, timeout };
    let workload = if wanted.rollout { Workload::of(key, &applied) } else { None };
    let (error, failed) = tokio::select! {
        waited = cluster.wait_for(&kind, awaited, call, look) => match waited {
            Ok(()) => return Ok(()),
            Err(error) => (error, None),
        },
        failed = until_a_pod_fails(cluster, workload.as_ref(), timeout, call) => {
            let (pod, trouble) = (&failed.pod["metadata"]["name"], &failed.trouble);
            let pod = pod.as_str().unwrap_or_default();
            let why = format!("container {} of pod {pod} is in {}", trouble.container, trouble.reason);
            (ProviderError::permanent(format!("{what} failed: {why}")), Some(failed))
        }
    };
    Err(match error.kind {
        ErrorKind::Timeout | ErrorKind::Permanent => {
            let evidence = cluster.evidence(&kind, key, failed.as_ref(), call).await;
            let hint = match error.kind {
                ErrorKind::Timeout => {
                    "It was applied. Find out what it waits for, or give more time with a `timeouts` block."
                }
                _ => "It was applied, and stays as it is. Repair what failed, and apply again.",
            };
            ProviderError { what: error.what + &evidence, ..error }.hint(hint)
        }
        _ => error,
    })
}

async fn until_a_pod_fails(
    cluster: &Cluster,
    workload: Option<&Workload>,
    timeout: Duration,
    call: Call<'_>,
) -> FailedPod {
    match workload {
        Some(workload) => cluster.until_a_pod_fails(workload, timeout, call).await,
        None => std::future::pending().await,
    }
}
