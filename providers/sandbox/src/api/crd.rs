//! Custom resource definitions: their own defaults and rules, and the resources that they define.
//!
//! Not done: conversion webhooks. Who creates a definition that has one is warned.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::columns;
use super::conform::Flavour;
use super::kinds;
use super::names::NameRule;
use super::object::{default_field, ensure_map, items, map_mut, name, text};
use super::resource::Resource;
use super::scale::Paths;
use super::schema::Compiler;
use super::status::{Cause, qualified};
use super::structural;

/// Names that follow from others.
pub(super) fn default(object: &mut Value) {
    let spec = map_mut(object, "spec");
    default_field(spec, "conversion", json!({"strategy": "None"}));
    let names = ensure_map(spec.entry("names").or_insert_with(|| json!({})));
    if let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) {
        default_field(names, "singular", kind.to_lowercase());
        default_field(names, "listKind", format!("{kind}List"));
    }
}

/// A definition is served at once.
pub(super) fn begin(object: &mut Value) {
    let time = text(object, "/metadata/creationTimestamp").to_owned();
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": time});
    let stored: Vec<&str> = items(object, "/spec/versions")
        .filter(|version| version.get("storage") == Some(&Value::Bool(true)))
        .map(|version| text(version, "/name"))
        .collect();
    let status = json!({
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "acceptedNames": object.pointer("/spec/names"),
        "storedVersions": stored,
    });
    object["status"] = status;
}

/// What Kubernetes refuses in a definition.
pub(super) fn validate(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (group, plural) = (text(object, "/spec/group"), text(object, "/spec/names/plural"));
    let expected = format!("{plural}.{group}");
    if name(object) != expected {
        let why = format!("must be spec.names.plural+\".\"+spec.group: expected {expected:?}");
        causes.push(Cause::invalid("metadata.name", &name(object).into(), &why));
    }
    for field in ["group", "scope", "names"] {
        if object.pointer(&format!("/spec/{field}")).is_none() {
            causes.push(Cause::required(format!("spec.{field}")));
        }
    }
    for field in ["plural", "kind"] {
        if text(object, &format!("/spec/names/{field}")).is_empty() {
            causes.push(Cause::required(format!("spec.names.{field}")));
        }
    }
    let scope = text(object, "/spec/scope");
    if !["Cluster", "Namespaced"].contains(&scope) {
        let allowed = ["Cluster", "Namespaced"].map(Value::from);
        causes.push(Cause::unsupported("spec.scope", &scope.into(), &allowed));
    }
    let storage = items(object, "/spec/versions").filter(|version| version.get("storage") == Some(&Value::Bool(true)));
    if storage.count() != 1 {
        let versions = object.pointer("/spec/versions").cloned().unwrap_or_default();
        causes.push(Cause::invalid(
            "spec.versions",
            &versions,
            "must have exactly one version marked as storage version",
        ));
    }
    causes.extend(schemas(object));
    for (index, version) in items(object, "/spec/versions").enumerate() {
        subresources(version, &format!("spec.versions[{index}].subresources.scale"), &mut causes);
    }
    causes
}

/// What is wrong with the schemas. Kubernetes keeps one that is the same in all versions in one place, and names that.
fn schemas(object: &Value) -> Vec<Cause> {
    let schema = |version: &Value| version.pointer("/schema/openAPIV3Schema").cloned();
    let all: Vec<Option<Value>> = items(object, "/spec/versions").map(schema).collect();
    let is_common = all.windows(2).all(|pair| pair[0] == pair[1]);
    let mut causes = Vec::new();
    for (index, schema) in all.iter().enumerate() {
        let field = match is_common {
            true if index > 0 => break,
            true => "spec.validation.openAPIV3Schema".to_owned(),
            false => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        match schema {
            Some(schema) if schema.is_object() => causes.extend(structural::validate(schema, &field)),
            _ => {
                let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
                let message = "Required value: schemas are required".to_owned();
                causes.push(Cause { message, ..Cause::required(field) });
            }
        }
    }
    causes
}

/// The paths of a scale subresource.
fn subresources(version: &Value, field: &str, causes: &mut Vec<Cause>) {
    let Some(scale) = version.pointer("/subresources/scale") else { return };
    for (name, root) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let field = format!("{field}.{name}");
        match text(scale, &format!("/{name}")) {
            "" => causes.push(Cause::required(field)),
            path if !path.starts_with(root) => {
                let why = format!("should be a json path under {}", root.trim_end_matches('.'));
                causes.push(Cause::invalid(field, &path.into(), &why));
            }
            _ => {}
        }
    }
}

/// What of a definition the sandbox does not do, in words for a warning.
pub(super) fn unsupported(object: &Value) -> Vec<String> {
    if text(object, "/spec/conversion/strategy") == "Webhook" {
        vec!["the sandbox does not evaluate spec.conversion.webhook".to_owned()]
    } else {
        Vec::new()
    }
}

/// The resources that a definition serves, one for each version.
pub(super) fn resources(definition: &Value) -> Vec<Arc<Resource>> {
    let (group, plural) = (text(definition, "/spec/group"), text(definition, "/spec/names/plural"));
    let versions = || items(definition, "/spec/versions");
    let storage = versions().find(|version| version.get("storage") == Some(&Value::Bool(true)));
    let storage = storage.map_or("", |version| text(version, "/name"));
    let served = versions().filter(|version| version.get("served") == Some(&Value::Bool(true)));
    let texts = |pointer: &str| -> Vec<String> {
        items(definition, pointer).filter_map(Value::as_str).map(str::to_owned).collect()
    };
    served
        .map(|version| {
            let (schema, root) = compile(version);
            let selectable = items(version, "/selectableFields")
                .map(|field| text(field, "/jsonPath").trim_start_matches('.').to_owned())
                .collect();
            Arc::new(Resource {
                group: group.to_owned(),
                version: text(version, "/name").to_owned(),
                storage_version: storage.to_owned(),
                kind: text(definition, "/spec/names/kind").to_owned(),
                list_kind: text(definition, "/spec/names/listKind").to_owned(),
                plural: plural.to_owned(),
                singular: text(definition, "/spec/names/singular").to_owned(),
                short_names: texts("/spec/names/shortNames"),
                categories: texts("/spec/names/categories"),
                namespaced: text(definition, "/spec/scope") == "Namespaced",
                has_status: version.pointer("/subresources/status").is_some(),
                has_generation: true,
                name_rule: NameRule::Subdomain,
                selectable,
                schema: Arc::new(schema),
                root,
                flavour: Flavour::Custom,
                columns: columns::of_definition(version),
                digest: digest(version),
                scale: Paths::of_version(version),
                storage: qualified(group, plural).into(),
                builtin: None,
            })
        })
        .collect()
}

/// What tells a version's schema from others.
fn digest(version: &Value) -> String {
    use sha2::{Digest as _, Sha256};
    let schema = version.get("schema").map(Value::to_string).unwrap_or_default();
    Sha256::digest(schema).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn compile(version: &Value) -> (super::schema::Schema, super::schema::Id) {
    let mut compiler = Compiler::new(kinds::definitions());
    let empty = json!({"type": "object"});
    let root = compiler.compile(version.pointer("/schema/openAPIV3Schema").unwrap_or(&empty));
    let mut fields = BTreeMap::new();
    compiler.add_object_fields(&mut fields);
    if let Some(declared) = compiler.schema.fields_mut(root) {
        declared.extend(fields);
    }
    (compiler.schema, root)
}
