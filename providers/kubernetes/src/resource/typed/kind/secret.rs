//! `kubernetes_secret`.

use std::time::Duration;

use engine_value::{Path, Type, Value};
use providers_api::Issue;
use serde_json::Value as Json;

use super::{Kind, Wait, config_map};
use crate::resource::typed::{
    check::base64_texts,
    field::{Field, Holds},
    metadata,
    read::decoded,
};

/// The type of Secrets that Kubernetes fills with a token.
pub(in crate::resource::typed) const TOKEN: &str = "kubernetes.io/service-account-token";

const FIELDS: &[Field] = &[
    Field::new("binary_data", "data", Holds::Texts, "Content that is not text, in base64, by name.").sensitive(),
    Field::new(
        "binary_data_wo",
        "data",
        Holds::Texts,
        "Like `binary_data`, and never stored: sent with every apply of this object.",
    )
    .write_only(),
    Field::new("binary_data_wo_revision", "", Holds::Int, "Raise it where `binary_data_wo` has changed."),
    Field::new("data", "data", Holds::Encoded, "Texts by name. Those of others are left alone.")
        .optional_computed()
        .sensitive(),
    Field::new(
        "data_wo",
        "data",
        Holds::Encoded,
        "Like `data`, and never stored: sent with every apply of this object.",
    )
    .write_only(),
    Field::new("data_wo_revision", "", Holds::Int, "Raise it where `data_wo` has changed."),
    config_map::IMMUTABLE,
    metadata::OF_NAMESPACE,
    Field::new("type", "type", Holds::Text, "What it holds, for those who read it. Cannot be changed.")
        .or_text("Opaque")
        .replaces(),
    Field::new(
        "wait_for_service_account_token",
        "",
        Holds::Bool,
        "Wait until Kubernetes has made the token, where it is for one.",
    )
    .or_bool(true),
];

/// `kubernetes_secret`.
pub(in crate::resource::typed) const KIND: Kind = Kind {
    timeouts: &[("create", Duration::from_secs(60))],
    check,
    replaced: config_map::content_of_immutable,
    wait: Wait::Token,
    ..Kind::new(
        &["kubernetes_secret", "kubernetes_secret_v1"],
        "v1",
        "Secret",
        FIELDS,
        "A map of secrets for pods to read.",
    )
};

fn check(config: &Value) -> Vec<Issue> {
    let mut issues = base64_texts(config, "binary_data");
    issues.extend(base64_texts(config, "binary_data_wo"));
    let is_set = |name: &str| config.get(name).is_some_and(|value| !value.is_null());
    for [stored, unstored, revision] in
        [["data", "data_wo", "data_wo_revision"], ["binary_data", "binary_data_wo", "binary_data_wo_revision"]]
    {
        let at = |name: &str| Path::root().attr(name);
        if is_set(stored) && is_set(unstored) {
            let detail = format!("`{stored}` is set too.");
            issues.push(Issue::error(at(unstored), "Conflicting arguments", detail).hint("Set one of them."));
        }
        if is_set(revision) && !is_set(unstored) {
            let detail = format!("`{revision}` is set and `{unstored}` is not.");
            issues.push(Issue::error(at(revision), "Missing argument", detail).hint("Set both."));
        }
        if is_set(unstored) && !is_set(revision) {
            let detail = format!("`{unstored}` is set and `{revision}` is not, so that no change of it would be seen.");
            issues.push(Issue::error(at(unstored), "Missing argument", detail).hint(format!("Set `{revision} = 1`.")));
        }
        if config.get(revision).and_then(Value::as_i64).is_some_and(|revision| revision < 1) {
            issues.push(Issue::error(at(revision), "Invalid revision", "It must be 1 or more."));
        }
    }
    issues
}

/// A planned Secret without what its write-only arguments stand for: that is the content of the live one, too. Any other
/// object is as it is.
pub(in crate::resource::typed) fn without_unstored(kind: &Kind, config: &Value, object: Value) -> Value {
    let is_set = |name: &str| config.get(name).is_some_and(|value| !value.is_null());
    if kind.kind != KIND.kind || is_set("data") || !(is_set("data_wo") || is_set("binary_data_wo")) {
        return object;
    }
    Path::root().attr("data").set(&object, Value::null(Type::map(Type::String))).unwrap_or(object)
}

/// Is it filled by Kubernetes with a token?
pub(in crate::resource::typed) fn is_token(object: &Value) -> bool {
    object.get("type").and_then(Value::as_str) == Some(TOKEN)
}

/// The same with the whole content of a live Secret that Kubernetes fills: modules read its token. Any other is as it is.
pub(in crate::resource::typed) fn with_token(stored: &Value, object: Value, live: &Json) -> Value {
    if !is_token(stored) {
        return object;
    }
    let apart = stored.get("binary_data").and_then(Value::as_map);
    let entries = live.get("data").and_then(Json::as_object).into_iter().flatten();
    let entries = entries
        .filter(|(name, _)| apart.is_none_or(|apart| !apart.contains_key(name.as_str())))
        .filter_map(|(name, value)| Some((name.as_str(), Value::from(decoded(value.as_str()?)?))));
    Path::root().attr("data").set(&object, Value::map(Type::String, entries)).unwrap_or(object)
}

/// A Secret that is taken into the state, with its content where a configuration would have it: text in `data`, anything
/// else in `binary_data`. Any other object is as it is.
pub(in crate::resource::typed) fn split(kind: &Kind, object: Value, live: &Json) -> Value {
    if kind.kind != KIND.kind {
        return object;
    }
    let (texts, binary) = content(live);
    let object = Path::root().attr("data").set(&object, Value::map(Type::String, texts)).unwrap_or(object);
    let binary =
        if binary.is_empty() { Value::null(Type::map(Type::String)) } else { Value::map(Type::String, binary) };
    Path::root().attr("binary_data").set(&object, binary).unwrap_or(object)
}

/// Names with values.
type Entries = Vec<(String, Value)>;

/// The content of a live Secret: texts, and what is none, in base64.
pub(in crate::resource::typed) fn content(live: &Json) -> (Entries, Entries) {
    let entries = live.get("data").and_then(Json::as_object).into_iter().flatten();
    let (mut texts, mut binary) = (Vec::new(), Vec::new());
    for (name, value) in entries {
        let Some(value) = value.as_str() else { continue };
        match decoded(value) {
            Some(text) => texts.push((name.clone(), text.into())),
            None => binary.push((name.clone(), value.into())),
        }
    }
    (texts, binary)
}
