//! Entries of maps of an object, owned by server-side apply under a name of the block's.
//!
//! Several blocks may own entries of one object under the same name. Server-side apply takes away from a manager whatever
//! it does not apply again, so each block applies what the others own, too.

use std::collections::BTreeMap;

use engine_diag::sentence;
use engine_value::{Path, Step, Type, Value};
use providers_api::{Call, ErrorKind, Issue, ProviderError};
use serde_json::{Map, Value as Json, json};

use super::kind::{ALL_PATHS, Entries};
use crate::{
    cluster::{
        Cluster, FieldManager,
        discovery::{Kind, Lookup},
    },
    object::{
        key::ObjectKey,
        refusal::{Refusal, refusal},
        told::told,
    },
    resource::{issue::failed, settle::restless},
};

/// Tries against an object that keeps changing: each needs two round trips.
const TRIES: u32 = 10;

/// The block with the live values of its entries.
pub(super) fn observed(all: &[Entries], stored: &Value, live: &Json) -> Value {
    let mut object = stored.clone();
    for entries in all {
        let path = Path::root().attr(entries.attribute);
        let Some(Some(wanted)) = path.get(stored).map(|value| value.as_map().cloned()) else { continue };
        let found = map_at(live, entries.path(live));
        let now =
            wanted.keys().filter_map(|name| Some((name.clone(), Value::from(found?.get(name.as_ref())?.as_str()?))));
        let now = Value::map(Type::String, now);
        object = path.set(&object, now).unwrap_or(object);
    }
    object
}

/// Asks the server by a dry run; gives why it could not be asked.
pub(super) async fn ask(
    cluster: &Cluster,
    all: &[Entries],
    key: &ObjectKey,
    before: Option<&Value>,
    after: &Value,
    call: Call<'_>,
) -> Result<Option<String>, Vec<Issue>> {
    let unreachable = |error| vec![failed(Path::root(), &format!("Cannot plan {key}"), &error)];
    let kind = match cluster.kind(&key.api_version, &key.kind, call).await.map_err(unreachable)? {
        Lookup::Served(kind) => kind,
        Lookup::Missing(missing) => return Ok(Some(missing.what())),
    };
    let Some(live) = cluster.get(&kind, key, call).await.map_err(unreachable)? else {
        return Ok(Some(format!("{key} does not exist yet")));
    };
    let manager = manager(after);
    let body = body(all, key, &kind, &live, before, Some(after));
    let sent = cluster.dry_run(&kind, key, &body, &manager, call).await.map_err(unreachable)?;
    let Err(status) = sent else { return Ok(None) };
    match refusal(&status) {
        Refusal::NotAllowed => Ok(Some(format!("this identity may not apply {key}, not even for show"))),
        // Somebody wrote it just now: apply asks again.
        Refusal::Changed(_) => Ok(None),
        Refusal::Owned(conflicts) => Err(conflicts
            .iter()
            .map(|(manager, field)| {
                let field = field.trim_start_matches('.');
                let detail = format!("{field} of {key} belongs to the field manager {manager}, with another value.");
                Issue::error(place(all, &live, after, field), "Field owned by another manager", detail)
                    .hint("Leave it out, or take it with `force = true`.")
            })
            .collect()),
        Refusal::Wrong(causes) => Err(causes
            .into_iter()
            .map(|(message, field)| {
                let at = place(all, &live, after, field.trim_start_matches('.'));
                Issue::error(at, format!("{key} is refused"), sentence(&message))
            })
            .collect()),
        _ => Err(vec![Issue::error(Path::root(), format!("{key} is refused"), sentence(&told(&status.message)))]),
    }
}

/// Applies, or gives back where there is no `after`.
///
/// # Errors
/// The object is not there, or refuses it: nothing was changed.
pub(super) async fn apply(
    cluster: &Cluster,
    all: &[Entries],
    key: &ObjectKey,
    before: Option<&Value>,
    after: Option<&Value>,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let Some(wanted) = after.or(before) else { return Ok(()) };
    let gone = || match after {
        Some(_) => Err(missing(key)),
        None => Ok(()),
    };
    let Some(kind) = cluster.kind_of(key, call).await? else { return gone() };
    let manager = manager(wanted);
    for _ in 0..TRIES {
        let Some(live) = cluster.get(&kind, key, call).await? else { return gone() };
        let body = body(all, key, &kind, &live, before, after);
        let Err(status) = cluster.apply(&kind, key, &body, &manager, call).await? else {
            return release_former(cluster, all, key, &kind, before, after, call).await;
        };
        match refusal(&status) {
            Refusal::Changed(_) => continue,
            Refusal::Owned(conflicts) => {
                let fields: Vec<String> = conflicts
                    .iter()
                    .map(|(manager, field)| format!("{} by {manager}", field.trim_start_matches('.')))
                    .collect();
                let what = format!("cannot apply {key}: fields are owned by other managers: {}", fields.join(", "));
                return Err(
                    ProviderError::new(ErrorKind::Conflict, what).hint("Plan again; `force = true` takes such fields.")
                );
            }
            _ => return Err(cluster.refused(&format!("cannot apply {key}"), status)),
        }
    }
    Err(restless(key))
}

/// Where the name under which they are owned has changed, the former one gives them up.
async fn release_former(
    cluster: &Cluster,
    all: &[Entries],
    key: &ObjectKey,
    kind: &Kind,
    before: Option<&Value>,
    after: Option<&Value>,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    if manager(before).name == manager(after).name {
        return Ok(());
    }
    for _ in 0..TRIES {
        let Some(live) = cluster.get(kind, key, call).await? else { return Ok(()) };
        let body = body(all, key, kind, &live, Some(before), None);
        let Err(status) = cluster.apply(kind, key, &body, &manager(before), call).await? else { return Ok(()) };
        if !matches!(refusal(&status), Refusal::Changed(_)) {
            return Err(cluster.refused(&format!("cannot give up fields of {key}"), status));
        }
    }
    Err(restless(key))
}

/// The object must be there.
pub(super) fn missing(key: &ObjectKey) -> ProviderError {
    ProviderError::permanent(format!("there is no {key}"))
        .hint("Create it first: refer to the resource that creates it, so that this one depends on it.")
}

fn manager(block: &Value) -> FieldManager {
    let name = block.get("field_manager").and_then(Value::as_str).unwrap_or("Terraform").to_owned();
    FieldManager { name, force: block.get("force").and_then(Value::as_bool).unwrap_or(false) }
}

/// What is applied: what this manager owns already but for what `before` says, and what `after` says. It names the very
/// object that was looked at, so that none is ever created.
fn body(
    all: &[Entries],
    key: &ObjectKey,
    kind: &Kind,
    live: &Json,
    before: Option<&Value>,
    after: Option<&Value>,
) -> Json {
    let manager = manager(after.or(before).unwrap_or(&Value::empty_object()));
    let mut body = json!({"apiVersion": key.api_version, "kind": key.kind, "metadata": {"name": key.name}});
    for field in ["uid", "resourceVersion"] {
        body["metadata"][field] = live["metadata"][field].clone();
    }
    if kind.namespaced {
        body["metadata"]["namespace"] = live["metadata"]["namespace"].clone();
    }
    for path in ALL_PATHS {
        let mut wanted: BTreeMap<String, Json> = owned(live, path, &manager.name);
        for entries in all.iter().filter(|entries| entries.path(live) == *path) {
            let part = |block: Option<&Value>| -> BTreeMap<String, Json> {
                let map = block.and_then(|block| block.get(entries.attribute)).and_then(Value::as_map);
                let texts = map.into_iter().flatten().filter(|(_, text)| !text.is_null());
                texts.map(|(name, text)| (name.to_string(), text.as_str().unwrap_or_default().into())).collect()
            };
            wanted.retain(|name, _| !part(before).contains_key(name));
            wanted.extend(part(after));
        }
        if !wanted.is_empty() {
            put(&mut body, path, Json::Object(wanted.into_iter().collect()));
        }
    }
    body
}

fn put(body: &mut Json, path: &[&str], value: Json) {
    let mut at = body;
    for name in path {
        if !at[*name].is_object() {
            at[*name] = Json::Object(Map::new());
        }
        at = &mut at[*name];
    }
    *at = value;
}

/// The entries of a map that a manager has applied, with their live values.
fn owned(live: &Json, path: &[&str], manager: &str) -> BTreeMap<String, Json> {
    let managers = live.pointer("/metadata/managedFields").and_then(Json::as_array).into_iter().flatten();
    let text = |entry: &Json, name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let applied = managers.filter(|entry| {
        text(entry, "manager") == manager
            && text(entry, "operation") == "Apply"
            && text(entry, "subresource").is_empty()
    });
    let Some(values) = map_at(live, path) else { return BTreeMap::new() };
    let fields = applied.filter_map(|entry| {
        path.iter().try_fold(entry.get("fieldsV1")?, |at, name| at.get(format!("f:{name}")))?.as_object()
    });
    let names = fields.flatten().filter_map(|(name, _)| name.strip_prefix("f:"));
    names.filter_map(|name| Some((name.to_owned(), values.get(name)?.clone()))).collect()
}

fn map_at<'a>(object: &'a Json, path: &[&str]) -> Option<&'a Map<String, Json>> {
    path.iter().try_fold(object, |at, name| at.get(*name))?.as_object()
}

/// The place in the block of a field that the API names.
fn place(all: &[Entries], live: &Json, block: &Value, field: &str) -> Path {
    for entries in all {
        let attribute = Path::root().attr(entries.attribute);
        let inside = field.strip_prefix(&entries.path(live).join("."));
        let Some(inside) = inside else { continue };
        let name = inside.trim_start_matches('.').trim_start_matches('[').trim_end_matches(']').trim_matches('"');
        let step = Step::Key(name.into());
        let has = block.get(entries.attribute).is_some_and(|map| map.step(&step).is_some());
        return if has { attribute.step(step) } else { attribute };
    }
    Path::root()
}

impl Entries {
    fn path(&self, live: &Json) -> &'static [&'static str] {
        if live.get("kind").and_then(Json::as_str) == Some("CronJob") { self.in_cron_job } else { self.path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Json {
        json!({"kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7",
        "labels": {"ours": "1", "sibling": "2", "other": "3"}, "annotations": {"note": "x"},
        "managedFields": [
            {"manager": "Terraform", "operation": "Apply", "fieldsV1": {"f:metadata": {
                "f:labels": {"f:ours": {}, "f:sibling": {}}, "f:annotations": {"f:note": {}}}}},
            {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {"f:other": {}}}}},
        ]}})
    }

    const LABELS: &[Entries] =
        &[Entries { attribute: "labels", path: &["metadata", "labels"], in_cron_job: &["metadata", "labels"] }];

    fn block(labels: &[(&str, &str)]) -> Value {
        let labels = labels.iter().map(|(name, value)| (*name, Value::from(*value)));
        Value::object([("labels", Value::map(Type::String, labels))])
    }

    #[test]
    fn entries_of_siblings_under_the_same_name_stay() {
        let owned: Vec<String> = owned(&live(), &["metadata", "labels"], "Terraform").into_keys().collect();
        assert_eq!(owned, ["ours", "sibling"]);
        let mut wanted: BTreeMap<String, Json> = super::owned(&live(), &["metadata", "labels"], "Terraform");
        wanted.remove("ours");
        assert_eq!(wanted.into_keys().collect::<Vec<_>>(), ["sibling"]);
    }

    #[test]
    fn only_entries_of_the_block_are_read() {
        let stored = block(&[("ours", "0"), ("gone", "1")]);
        assert_eq!(observed(LABELS, &stored, &live()), block(&[("ours", "1")]));
    }

    #[test]
    fn what_is_refused_has_its_place() {
        let block = block(&[("example.com/a", "1")]);
        for (field, expected) in [
            ("metadata.labels.example.com/a", "labels[\"example.com/a\"]"),
            ("metadata.labels", "labels"),
            ("spec", ""),
        ] {
            assert_eq!(place(LABELS, &live(), &block, field).to_string(), expected, "{field}");
        }
    }
}
