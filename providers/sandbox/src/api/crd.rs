//! Custom resource definitions: their own defaults and rules, and the resources that they define.
//!
//! Not evaluated: `pattern`, `format`, `x-kubernetes-validations` (CEL), conversion webhooks. Who creates a definition
//! that has them is warned.

use std::sync::Arc;

use serde_json::{Value, json};

use super::columns;
use super::conform::Flavour;
use super::kinds::{self, OBJECT_META};
use super::names::NameRule;
use super::object::{default_field, ensure_map, items, map_mut, name, text};
use super::resource::Resource;
use super::schema::{Compiler, Scalar};
use super::status::{Cause, qualified};

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
    for (index, version) in items(object, "/spec/versions").enumerate() {
        let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
        if !version.pointer("/schema/openAPIV3Schema").is_some_and(Value::is_object) {
            causes.push(Cause { message: "Required value: schemas are required".to_owned(), ..Cause::required(field) });
        } else if text(version, "/schema/openAPIV3Schema/type") != "object" {
            let found = text(version, "/schema/openAPIV3Schema/type");
            causes.push(Cause::invalid(format!("{field}.type"), &found.into(), "must be object at the root"));
        }
    }
    causes
}

/// What of a definition the sandbox does not do, in words for a warning.
pub(super) fn unsupported(object: &Value) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    for version in items(object, "/spec/versions") {
        if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
            find_unsupported(schema, &mut found);
        }
    }
    if text(object, "/spec/conversion/strategy") == "Webhook" {
        found.insert("spec.conversion.webhook");
    }
    found.into_iter().map(|what| format!("the sandbox does not evaluate {what}")).collect()
}

fn find_unsupported(schema: &Value, found: &mut std::collections::BTreeSet<&'static str>) {
    for key in ["pattern", "x-kubernetes-validations", "oneOf", "anyOf", "not"] {
        let is_int_or_string = key == "anyOf" && schema.get("x-kubernetes-int-or-string").is_some();
        if schema.get(key).is_some() && !is_int_or_string {
            found.insert(key);
        }
    }
    let below = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|fields| fields.values());
    let other = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    below.chain(other).for_each(|schema| find_unsupported(schema, found));
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
                storage: qualified(group, plural).into(),
                builtin: None,
            })
        })
        .collect()
}

fn compile(version: &Value) -> (super::schema::Schema, super::schema::Id) {
    let mut compiler = Compiler::new(kinds::definitions());
    let empty = json!({"type": "object"});
    let root = compiler.compile(version.pointer("/schema/openAPIV3Schema").unwrap_or(&empty));
    let metadata = compiler.definition(OBJECT_META);
    let text = compiler.schema.scalar(Scalar::String);
    if let Some(fields) = compiler.schema.fields_mut(root) {
        fields.insert("metadata".to_owned(), metadata);
        fields.insert("apiVersion".to_owned(), text);
        fields.insert("kind".to_owned(), text);
    }
    (compiler.schema, root)
}
