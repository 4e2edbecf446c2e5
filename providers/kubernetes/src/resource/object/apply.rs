//! How a planned object is applied: only what was planned on.

use std::collections::BTreeSet;

use engine_value::{Path, Step, Value, diff::diff};
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;

use super::{Desired, read::observed};
use crate::{
    cluster::{Cluster, discovery::Lookup},
    object::predecessor::takeover,
    resource::settle::{self, Expected, restless},
    schema::{Schema, predict::predict},
};

/// A planned change of an object.
pub(crate) struct Change<'a> {
    /// As it is to become: wholly known.
    pub(crate) desired: &'a Desired,
    /// What the plan was made on; `None`: nothing was there.
    pub(crate) had: Option<Had<'a>>,
    /// What the plan shows, where the API server was not asked when it was made.
    pub(crate) unverified: Option<Shown<'a>>,
}

/// What the state has of an object.
pub(crate) struct Had<'a> {
    /// As it was wanted when it was last applied.
    pub(crate) desired: &'a Desired,
    /// Which one it is, where that is known.
    pub(crate) uid: Option<&'a str>,
    /// Does the plan leave it as it is? Then it is not written where what is sent would be the same, too: others may have had
    /// their say in what became of it, and a second time something else might.
    pub(crate) is_kept: bool,
    /// Is a live object what the plan was made on, or already what it is to become? `Err` names what differs.
    pub(crate) unchanged: &'a (dyn Fn(&Json) -> Result<(), String> + Sync),
}

/// What a plan shows of an object that the API server was not asked about.
pub(crate) enum Shown<'a> {
    /// The object.
    Object(&'a Value),
    /// What is said of it: it is held to what the schema of its kind promises.
    Said,
}

/// Applies an object where what is there is what was planned on, and gives what it is now.
///
/// # Errors
/// [`providers_api::ErrorKind::Conflict`] where something else is there: nothing was changed.
pub(crate) async fn apply(cluster: &Cluster, change: &Change<'_>, call: Call<'_>) -> Result<Json, ProviderError> {
    let desired = change.desired;
    let (Some(body), Some(key)) = (&desired.json, desired.key()) else {
        let unknown = unknown(&desired.body).map(|path| format!(": {path}")).unwrap_or_default();
        return Err(ProviderError::permanent(format!("parts of it are still unknown{unknown}")));
    };
    match &change.unverified {
        Some(Shown::Object(planned)) => verify(cluster, desired, planned, call).await?,
        Some(Shown::Said) => verify_by_schema(cluster, desired, call).await?,
        None => {}
    }
    let manager = desired.manager();
    let wanted = settle::Desired { key, body, manager: &manager };
    let Some(had) = &change.had else { return settle::apply(cluster, &wanted, &Expected::Nothing, call).await };
    let expected = Expected::Object(had.uid, had.unchanged);
    if had.is_kept && had.desired.json == desired.json && had.desired.manager == desired.manager {
        return settle::left(cluster, &wanted, &expected, call).await;
    }
    take_over(cluster, had, &desired.manager, call).await?;
    settle::apply(cluster, &wanted, &expected, call).await
}

/// The first part that is not known.
fn unknown(value: &Value) -> Option<Path> {
    if !value.is_known() {
        return Some(Path::root());
    }
    let under = |step: Step, part: &Value| Some(Path([step].into_iter().chain(unknown(part)?.0).collect()));
    match (value.as_map(), value.as_sequence()) {
        (Some(parts), _) => parts.iter().find_map(|(name, part)| under(Step::Attr(name.clone()), part)),
        (_, Some(parts)) => parts.iter().enumerate().find_map(|(index, part)| under(Step::Index(index), part)),
        _ => None,
    }
}

/// Takes what the state has of an object from managers that it went under before, so that what is given up is gone. What is
/// not as the plan was made on is left alone: it is refused right after this.
///
/// # Errors
/// It cannot be read or changed, or changes faster than it can be.
async fn take_over(cluster: &Cluster, had: &Had<'_>, manager: &str, call: Call<'_>) -> Result<(), ProviderError> {
    let (Some(body), Some(key)) = (&had.desired.json, had.desired.key()) else { return Ok(()) };
    let Lookup::Served(kind) = cluster.kind_now(&key.api_version, &key.kind, call).await? else { return Ok(()) };
    for _ in 0..TRIES {
        let Some(live) = cluster.get(&kind, &key, call).await? else { return Ok(()) };
        let uid = live.pointer("/metadata/uid").and_then(Json::as_str);
        if had.uid.is_some_and(|before| Some(before) != uid) || (had.unchanged)(&live).is_err() {
            return Ok(());
        }
        let Some(patch) = takeover(&live, body, manager) else { return Ok(()) };
        match cluster.patch_version(&kind, &key, &patch, call).await? {
            Ok(_) => return Ok(()),
            // Somebody wrote between our look and our patch: look again.
            Err(status) if matches!(status.code, 409 | 422) => {}
            Err(status) => return Err(cluster.refused(&format!("cannot take {key} over"), status)),
        }
    }
    Err(restless(&key))
}

/// Tries against an object that keeps changing.
const TRIES: u32 = 10;

/// The same as [`verify`], where the plan shows no object but what is said of it: it is held to what the schema of its
/// kind promises.
///
/// # Errors
/// [`ErrorKind::Conflict`]: the API server makes something else of it.
async fn verify_by_schema(cluster: &Cluster, desired: &Desired, call: Call<'_>) -> Result<(), ProviderError> {
    let schema = desired.kind().and_then(|(api_version, kind)| Schema::of_builtin(api_version, kind));
    match schema {
        Some(schema) => verify(cluster, desired, &predict(&schema, &desired.body), call).await,
        None => Ok(()),
    }
}

/// Asks by a dry run what could not be asked when the plan was made. What the server refuses it refuses again when the
/// object is applied, and nothing is changed by that; what it makes of the object must be what the plan shows.
async fn verify(cluster: &Cluster, desired: &Desired, planned: &Value, call: Call<'_>) -> Result<(), ProviderError> {
    let (Some(body), Some(key)) = (&desired.json, desired.key()) else { return Ok(()) };
    let Lookup::Served(kind) = cluster.kind_now(&key.api_version, &key.kind, call).await? else { return Ok(()) };
    let Ok(object) = cluster.dry_run(&kind, &key, body, &desired.manager(), call).await? else { return Ok(()) };
    let Some(found) = observed(desired, &object) else { return Ok(()) };
    let mut others = Vec::new();
    contradictions(&without_uid(planned), &without_uid(&found), &mut Path::root(), &mut others);
    if others.is_empty() {
        return Ok(());
    }
    let fields: Vec<String> = others.iter().map(Path::to_string).collect();
    let what = format!(
        "cannot apply {key}: when the plan was made the API server could not be asked about it, and now it makes \
         something else of {}; nothing was changed",
        fields.join(", ")
    );
    Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again: now the API server can be asked."))
}

/// Places where what is planned and known is not what is found.
fn contradictions(planned: &Value, found: &Value, path: &mut Path, others: &mut Vec<Path>) {
    if !planned.is_known() {
        return;
    }
    match (planned.as_map(), found.as_map(), planned.as_sequence(), found.as_sequence()) {
        (Some(planned), Some(found), ..) => {
            let names: BTreeSet<_> = planned.keys().chain(found.keys()).collect();
            for name in names {
                path.0.push(Step::Attr(name.clone()));
                match (planned.get(name), found.get(name)) {
                    (Some(planned), Some(found)) => contradictions(planned, found, path, others),
                    _ => others.push(path.clone()),
                }
                path.0.pop();
            }
        }
        (.., Some(planned), Some(found)) if planned.len() == found.len() => {
            for (index, (planned, found)) in planned.iter().zip(found).enumerate() {
                path.0.push(Step::Index(index));
                contradictions(planned, found, path, others);
                path.0.pop();
            }
        }
        _ if planned.data == found.data => {}
        _ => others.push(path.clone()),
    }
}

/// What was wanted, and what of it there is to be seen.
pub(crate) type Seen<'a> = (&'a Desired, &'a Value);

/// Is the live object what the plan was made on, or already what it is to become? Else what differs.
pub(crate) fn as_planned_on(before: Seen<'_>, planned: Seen<'_>, live: &Json) -> Result<(), String> {
    let differs = |(desired, wanted): Seen<'_>| match observed(desired, live) {
        Some(now) if !wanted.is_null() => {
            let (wanted, now) = (without_uid(wanted), without_uid(&now));
            diff(Some(&wanted), Some(&now)).changed_paths()
        }
        _ => Vec::new(),
    };
    let changed = differs(before);
    let knows_after = without_uid(planned.1).is_wholly_known();
    if changed.is_empty() || (knows_after && differs(planned).is_empty()) {
        return Ok(());
    }
    Err(changed.iter().map(Path::to_string).collect::<Vec<_>>().join(", "))
}

/// Which object it is, is asked apart.
fn without_uid(object: &Value) -> Value {
    let object = object.clone().unmark_deep().0;
    let Some(Value { data: engine_value::Data::Object(metadata), .. }) = object.get("metadata") else { return object };
    let rest = metadata.iter().filter(|(name, _)| &***name != "uid");
    let rest = Value::object(rest.map(|(name, value)| (name.to_string(), value.clone())));
    Path::root().attr("metadata").set(&object, rest).unwrap_or(object)
}
