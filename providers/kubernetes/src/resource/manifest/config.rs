//! What a block says, and what is wrong with it that can be told without a cluster.

use std::time::Duration;

use engine_value::{Path, Step, Value};
use providers_api::Issue;

use crate::{
    cluster::{DEFAULT_MANAGER, Propagation},
    functions::{DecodeError, decode},
    object::{convert::from_json, readiness::Wanted},
    resource::{
        deletion, duration,
        object::{Conflicts, Desired},
        wait,
    },
};

/// As long as HashiCorp's provider waits.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// What a block says.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// The object; where a YAML text says it, that one.
    pub(super) desired: Desired,
    /// What is waited for after an apply.
    pub(super) wait: Wanted,
    /// How long, after a creation.
    pub(super) create_timeout: Duration,
    /// How long, after an update.
    pub(super) update_timeout: Duration,
    /// For delete.
    pub(super) delete_timeout: Duration,
    /// What becomes of what it owns when it is deleted.
    pub(super) propagation: Propagation,
}

impl Config {
    /// What an object of the schema's type says.
    pub(super) fn of(object: &Value) -> Self {
        let manifest = object.get("manifest").cloned().unwrap_or_else(|| Value::null(engine_value::Type::Dynamic));
        let manifest = decoded(manifest);
        let manager = block(object, "field_manager");
        let name = manager.and_then(|b| b.get("name")?.as_str()).unwrap_or(DEFAULT_MANAGER);
        let force = manager.and_then(|b| b.get("force_conflicts")?.as_bool()).unwrap_or(false);
        let conflicts = if force { Conflicts::Taken } else { Conflicts::Refused };
        let mut desired = Desired::new(manifest, name, conflicts);
        let fields = object.get("computed_fields").and_then(Value::as_sequence).unwrap_or_default();
        let timeouts = block(object, "timeouts");
        desired.left_out = fields.iter().filter_map(|field| field_names(field.as_str()?)).collect();
        Self {
            desired,
            wait: wait::wanted(block(object, "wait"), object.get("wait_for")),
            create_timeout: duration::timeout(timeouts, "create", TIMEOUT),
            update_timeout: duration::timeout(timeouts, "update", TIMEOUT),
            delete_timeout: duration::timeout(timeouts, "delete", TIMEOUT),
            propagation: deletion::propagation(block(object, "delete")),
        }
    }
}

/// The object that a block wants.
pub(crate) fn desired(object: &Value) -> Desired {
    Config::of(object).desired
}

/// The object that a manifest says: of a YAML text the one in it, as far as it can be read.
pub(super) fn decoded(manifest: Value) -> Value {
    match manifest.as_str().and_then(|text| decode(text).ok()) {
        Some(object) => from_json(&object).mark(manifest.marks),
        None => manifest,
    }
}

fn block<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name)?.as_sequence()?.first()
}

/// `metadata.annotations["a/b"]` as names. `None`: it names an element of a list, which has no fixed place.
fn field_names(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix("[\"") {
            let (name, after) = inside.split_once("\"]")?;
            names.push(name.to_owned());
            rest = after;
        } else {
            let field = rest.strip_prefix('.').unwrap_or(rest);
            let end = field.find(['.', '[']).unwrap_or(field.len());
            if end == 0 {
                return None;
            }
            names.push(field[..end].to_owned());
            rest = &field[end..];
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Fields of `metadata` that the server gives.
pub(super) const SERVER_FIELDS: &[&str] = &[
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// What is wrong with a block. Unknown values are not checked.
pub(crate) fn validate(config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    if let Some(manifest) = config.get("manifest") {
        validate_manifest(manifest, &mut issues);
    }
    let manifest = config.get("manifest").cloned().map(decoded);
    let named = |name: &str| manifest.as_ref()?.get(name)?.as_str();
    let waits = [
        (block(config, "wait"), Path::root().attr("wait").index(0)),
        (config.get("wait_for"), Path::root().attr("wait_for")),
    ];
    for (wait, at) in waits {
        issues.extend(wait.into_iter().flat_map(|wait| wait::check(wait, named("apiVersion"), named("kind"), &at)));
    }
    if let Some(timeouts) = block(config, "timeouts") {
        issues.extend(duration::check(timeouts, &Path::root().attr("timeouts").index(0)));
    }
    if let Some(delete) = block(config, "delete") {
        issues.extend(deletion::check(delete, &Path::root().attr("delete").index(0)));
    }
    let fields = config.get("computed_fields").and_then(Value::as_sequence).unwrap_or_default();
    for (at, field) in fields.iter().enumerate() {
        if let Some(text) = field.as_str().filter(|text| field_names(text).is_none()) {
            let detail = format!("{text:?} names no field by names alone.");
            issues.push(Issue::error(Path::root().attr("computed_fields").index(at), "Invalid field", detail).hint(
                "Write it as metadata.annotations or metadata.labels[\"a/b\"]; elements of lists have no fixed place.",
            ));
        }
    }
    issues
}

fn validate_manifest(manifest: &Value, issues: &mut Vec<Issue>) {
    let root = Path::root().attr("manifest");
    if !manifest.is_known() {
        return;
    }
    if let Some(text) = manifest.as_str() {
        match decode(text) {
            Ok(object) => {
                let mut inside = Vec::new();
                validate_manifest(&from_json(&object), &mut inside);
                // A text has no parts that could be pointed at.
                issues.extend(inside.into_iter().map(|issue| Issue { path: root.clone(), ..issue }));
            }
            Err(error) => issues.push(undecodable(root, &error)),
        }
        return;
    }
    if manifest.as_map().is_none() {
        let detail = format!("An object or a YAML text is required, not {}.", manifest.type_of().friendly());
        issues.push(Issue::error(root, "Invalid manifest", detail).hint(
            "Write it as { apiVersion = …, kind = …, metadata = { name = … } }, or give the text of one YAML document.",
        ));
        return;
    }
    let mut required = |path: Path| {
        let inside = Path(path.0[1..].to_vec());
        // An unknown part around it may hold it.
        let around = inside.parent().and_then(|parent| parent.get(manifest));
        if around.is_some_and(|around| !around.is_known()) {
            return;
        }
        match inside.get(manifest) {
            Some(value) if !value.is_known() => {}
            Some(value) if value.as_str().is_some_and(|text| !text.is_empty()) => {}
            _ => {
                let name = path.0.last().map_or(String::new(), |step| match step {
                    Step::Attr(name) => name.to_string(),
                    _ => String::new(),
                });
                let detail = format!("{name} must be there, and be text.");
                let at = if inside.get(manifest).is_some() { path } else { root.clone() };
                issues.push(Issue::error(at, "Incomplete manifest", detail));
            }
        }
    };
    required(root.clone().attr("apiVersion"));
    required(root.clone().attr("kind"));
    required(root.clone().attr("metadata").attr("name"));
    if at(manifest, &["metadata", "generateName"]).is_some() {
        issues.push(
            Issue::error(
                root.clone().attr("metadata").attr("generateName"),
                "Unsupported field",
                "Server-side apply needs a name.",
            )
            .hint("Set metadata.name; a random part can come from another resource."),
        );
    }
    for field in SERVER_FIELDS {
        if at(manifest, &["metadata", field]).is_some() {
            let detail = format!("metadata.{field} is given by the server.");
            issues.push(
                Issue::error(root.clone().attr("metadata").attr(*field), "Field of the server", detail)
                    .hint("Remove it."),
            );
        }
    }
    let kind = manifest.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind == "List" {
        issues.push(
            Issue::error(root.clone().attr("kind"), "Unsupported kind", "A List is many objects.")
                .hint("Make one resource of each item, with for_each."),
        );
    }
    if let Some(name) = at(manifest, &["metadata", "name"]).and_then(Value::as_str)
        && name.contains(|c: char| c.is_whitespace() || c.is_control() || "/%?#".contains(c))
    {
        let detail = format!("{name:?} cannot be the name of an object.");
        issues.push(Issue::error(root.attr("metadata").attr("name"), "Invalid name", detail));
    }
}

fn undecodable(root: Path, error: &DecodeError) -> Issue {
    let detail = format!("The YAML text of `manifest` cannot be used: {error}.");
    let issue = Issue::error(root, "Invalid manifest", detail);
    match error {
        DecodeError::Several(..) => issue.hint(
            "Make one resource of each document: for_each = { for object in \
             provider::kubernetes::manifest_decode_multi(file(\"objects.yaml\")) : \
             \"${object.kind}/${object.metadata.name}\" => object } and manifest = each.value.",
        ),
        DecodeError::Wrong(_) => issue,
    }
}

/// A part that is there and not null.
fn at<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().try_fold(value, |value, name| value.get(name)).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use engine_value::Type;
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn what_is_wrong_is_told_without_a_cluster() {
        let good = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let with = |pointer: &str, value: Json| {
            let mut manifest = good.clone();
            let (around, name) = pointer.rsplit_once('/').unwrap();
            manifest.pointer_mut(around).unwrap()[name] = value;
            manifest
        };
        for (manifest, expected) in [
            (good.clone(), None),
            (with("/metadata/creationTimestamp", Json::Null), None),
            (json!(1), Some("manifest: An object or a YAML text is required, not number.")),
            (
                json!("text"),
                Some(
                    "manifest: The YAML text of `manifest` cannot be used: document 1, line 1: a manifest is a mapping.",
                ),
            ),
            (json!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"), None),
            (
                json!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 1\n"),
                Some("manifest: name must be there, and be text."),
            ),
            (
                json!("apiVersion: v1\nkind: List\nitems: []\nmetadata: {name: a}\n"),
                Some("manifest: A List is many objects."),
            ),
            (
                json!({"kind": "ConfigMap", "metadata": {"name": "a"}}),
                Some("manifest: apiVersion must be there, and be text."),
            ),
            (with("/metadata/name", json!("")), Some("manifest.metadata.name: name must be there, and be text.")),
            (
                with("/metadata/name", json!("a/b")),
                Some("manifest.metadata.name: \"a/b\" cannot be the name of an object."),
            ),
            (with("/metadata/uid", json!("x")), Some("manifest.metadata.uid: metadata.uid is given by the server.")),
            (with("/kind", json!("List")), Some("manifest.kind: A List is many objects.")),
        ] {
            let issues = validate(&Value::object([("manifest", from_json(&manifest))]));
            let found = issues.first().map(|issue| format!("{}: {}", issue.path, issue.detail));
            assert_eq!(found.as_deref(), expected, "{manifest}");
        }
    }

    #[test]
    fn unknown_parts_are_not_checked() {
        let metadata = Value::object([("name", Value::unknown(Type::String))]);
        for manifest in [
            Value::unknown(Type::Dynamic),
            Value::object([("apiVersion", "v1".into()), ("kind", "A".into()), ("metadata", metadata)]),
            Value::object([
                ("apiVersion", "v1".into()),
                ("kind", "A".into()),
                ("metadata", Value::unknown(Type::Dynamic)),
            ]),
        ] {
            assert_eq!(validate(&Value::object([("manifest", manifest)])), []);
        }
    }

    #[test]
    fn computed_fields_are_names() {
        for (text, expected) in [
            ("metadata.annotations", Some(vec!["metadata", "annotations"])),
            ("metadata.labels[\"a.b/c\"]", Some(vec!["metadata", "labels", "a.b/c"])),
            ("spec.containers[0].image", None),
            ("", None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(field_names(text), expected, "{text}");
        }
    }
}
