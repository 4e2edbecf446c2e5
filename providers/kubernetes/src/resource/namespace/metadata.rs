//! What the `metadata` block says, how it is sent, and how it is read back.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::{Path, Step, Type, Value};
use providers_api::{Issue, ReadObject};
use serde_json::Value as Json;

use crate::{
    cluster::DEFAULT_MANAGER,
    object::key::ObjectKey,
    resource::{
        duration,
        object::{Conflicts, Desired, read::MADE_ANEW},
    },
};

/// Maps of text that `metadata` holds.
pub(super) const MAPS: [&str; 2] = ["labels", "annotations"];

/// Where the metadata are.
pub(super) fn path() -> Path {
    Path::root().attr("metadata").index(0)
}

/// An attribute of the metadata.
pub(super) fn get(object: &Value, name: &str) -> Option<Value> {
    path().attr(name).get(object)
}

/// The object with an attribute of its metadata replaced.
pub(super) fn set(object: &Value, name: &str, value: Value) -> Value {
    path().attr(name).set(object, value).expect("the schema has exactly one metadata block with this attribute")
}

/// What names a namespace.
pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey { api_version: "v1".to_owned(), kind: "Namespace".to_owned(), namespace: None, name: name.to_owned() }
}

/// What names an object of the state.
pub(crate) fn key_of(stored: &Value) -> Option<ObjectKey> {
    Some(key(get(stored, "name")?.as_str()?))
}

/// What a block wants.
pub(super) fn desired(object: &Value) -> Desired {
    let is_said = |value: &Value| !value.is_known() || value.as_map().is_some_and(|entries| !entries.is_empty());
    let maps = MAPS.into_iter().filter_map(|field| Some((field, get(object, field).filter(is_said)?)));
    let name = get(object, "name").unwrap_or_else(|| Value::unknown(Type::String));
    let metadata = Value::object([("name", name)].into_iter().chain(maps));
    let body = [("apiVersion", "v1".into()), ("kind", "Namespace".into()), ("metadata", metadata)];
    // This type has no way to ask for force: it takes what it is configured to be, and says from whom.
    Desired::new(Value::object(body), DEFAULT_MANAGER, Conflicts::TakenAndTold)
}

/// The place of a field of the body in the block.
pub(super) fn place(inside: &Path) -> Path {
    match inside.0.as_slice() {
        [_, Step::Attr(field), Step::Attr(key), ..] => path().attr(field.clone()).key(key.clone()),
        [_, Step::Attr(field)] => path().attr(field.clone()),
        _ => path(),
    }
}

/// A namespace of the state as it is now.
pub(crate) fn refreshed(stored: Value, live: &Json) -> ReadObject {
    let mut object = stored;
    for field in MAPS {
        if let Some(before) = get(&object, field)
            && let Some(entries) = before.as_map()
        {
            let now = entries.iter().filter_map(|(name, before)| {
                let value = live.get("metadata")?.get(field)?.get(name.as_ref())?.as_str()?;
                Some((name.clone(), Value::from(value).mark(before.marks)))
            });
            let now: BTreeMap<Arc<str>, Value> = now.collect();
            object = set(&object, field, Value::map(Type::String, now).mark(before.marks));
        }
    }
    let mut notes = Vec::new();
    let uid = live.pointer("/metadata/uid").and_then(Json::as_str);
    if let (Some(before), Some(now)) = (get(&object, "uid"), uid)
        && before.as_str().is_some_and(|before| before != now)
    {
        notes.push(MADE_ANEW.to_owned());
        object = set(&object, "uid", now.into());
    }
    ReadObject { object, private: Vec::new(), notes }
}

/// The object with what the server gave at an apply.
pub(super) fn settled(object: &Value, live: &Json) -> Value {
    let text = |name: &str| live.pointer(&format!("/metadata/{name}")).and_then(Json::as_str).unwrap_or_default();
    let generation = live.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
    let name = text("name");
    let mut object = set(object, "name", name.into());
    object = set(&object, "uid", text("uid").into());
    object = set(&object, "resource_version", text("resourceVersion").into());
    object = set(&object, "generation", Value::int(generation));
    Path::root().attr("id").set(&object, name.into()).unwrap_or(object)
}

/// What is wrong with a block. Unknown values are not checked.
pub(crate) fn validate(config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    let is_set = |name: &str| get(config, name).is_some_and(|value| !value.is_null());
    match (is_set("name"), is_set("generate_name")) {
        (true, true) => issues.push(
            Issue::error(path().attr("generate_name"), "Conflicting arguments", "`name` is set too.")
                .hint("Set one of them."),
        ),
        (false, false) if path().get(config).is_some() => {
            issues.push(Issue::error(path(), "Missing name", "One of `name` and `generate_name` must be set."))
        }
        _ => {}
    }
    for field in ["name", "generate_name"] {
        if let Some(name) = get(config, field)
            && let Some(text) = name.as_str().filter(|text| !is_label(text.trim_end_matches('-')))
        {
            let detail = format!("{text:?} cannot be the name of a namespace.");
            issues.push(
                Issue::error(path().attr(field), "Invalid name", detail)
                    .hint("At most 63 of a-z, 0-9 and \"-\", beginning and ending with a letter or digit."),
            );
        }
    }
    if let Some(timeouts) = config.get("timeouts") {
        issues.extend(duration::check(timeouts, &Path::root().attr("timeouts")));
    }
    issues
}

/// A label of RFC 1123, as Kubernetes demands of the names of namespaces.
fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() <= 63 && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use engine_value::Marks;
    use serde_json::json;

    use super::*;

    pub(in crate::resource::namespace) fn namespace(name: Value, labels: &[(&str, &str)]) -> Value {
        let labels = labels.iter().map(|(name, value)| (*name, Value::from(*value)));
        let metadata = Value::object([
            ("name", name),
            ("generate_name", Value::null(Type::String)),
            ("labels", Value::map(Type::String, labels)),
            ("annotations", Value::null(Type::map(Type::String))),
            ("generation", Value::int(0)),
            ("resource_version", "5".into()),
            ("uid", "u1".into()),
        ]);
        let ty = metadata.type_of();
        Value::object([
            ("id", "a".into()),
            ("metadata", Value::list(ty, vec![metadata])),
            ("timeouts", Value::null(Type::object([("delete", Type::String)]))),
            ("wait_for_default_service_account", Value::null(Type::Bool)),
        ])
    }

    #[test]
    fn labels_of_others_and_versions_are_no_drift() {
        let stored = namespace("a".into(), &[("team", "x"), ("gone", "y")]);
        let mut live = json!({"metadata": {"name": "a", "uid": "u1", "resourceVersion": "99",
            "labels": {"team": "x", "gone": "y", "kubernetes.io/metadata.name": "a"}, "annotations": {"other": "z"}}});
        assert_eq!(refreshed(stored.clone(), &live).object, stored);
        live["metadata"]["labels"] = json!({"team": "z"});
        assert_eq!(refreshed(stored, &live).object, namespace("a".into(), &[("team", "z")]));
    }

    #[test]
    fn marks_stay_where_they_were() {
        let stored = namespace("a".into(), &[("team", "x")]);
        let stored =
            set(&stored, "labels", Value::map(Type::String, [("team", Value::from("x").mark(Marks::SENSITIVE))]));
        let live = json!({"metadata": {"labels": {"team": "y"}}});
        let labels = get(&refreshed(stored, &live).object, "labels").unwrap();
        assert!(labels.get("team").unwrap().marks.sensitive);
    }

    #[test]
    fn what_is_sent_is_what_is_configured() {
        let object = namespace("a".into(), &[("team", "x")]);
        let expected =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"team": "x"}}});
        assert_eq!(desired(&object).json, Some(expected));
        let unknown = set(&object, "labels", Value::map(Type::String, [("team", Value::unknown(Type::String))]));
        assert_eq!(desired(&unknown).json, None);
    }

    #[test]
    fn names_are_checked() {
        for (name, generate, expected) in [
            (Some("team-a"), None, 0),
            (Some("Team"), None, 1),
            (Some("a."), None, 1),
            (None, Some("team-"), 0),
            (None, None, 1),
            (Some("a"), Some("b-"), 1),
        ] {
            let text = |value: Option<&str>| value.map_or(Value::null(Type::String), Value::from);
            let config = set(&namespace(text(name), &[]), "generate_name", text(generate));
            assert_eq!(validate(&config).len(), expected, "{name:?} {generate:?}");
        }
    }
}
