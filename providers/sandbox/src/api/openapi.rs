//! OpenAPI v3: the schemas of what is served, one document for each group and version. Paths are there as far as clients
//! look at them: kubectl wants to see that writes take `fieldValidation`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha512};

use super::kinds;
use super::object;
use super::resource::{Resource, group_version};
use super::status::Failure;

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// `/openapi/v3`; what does not answer (`stale`) is not in it.
pub(super) fn index(resources: &[Arc<Resource>], stale: &BTreeSet<(String, String)>) -> Value {
    let mut paths: BTreeMap<String, Value> = BTreeMap::new();
    for resource in resources {
        let (group, version) = (&resource.group, &resource.version);
        let path = path(group, version);
        if paths.contains_key(&path) || stale.contains(&(group.clone(), version.clone())) {
            continue;
        }
        let hash = hash(resources, group, version);
        let reference = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")});
        paths.insert(path, reference);
    }
    json!({"paths": paths})
}

/// What tells a document from others: clients keep it by this for ever. It is made from what the document is made from.
pub(super) fn hash(resources: &[Arc<Resource>], group: &str, version: &str) -> String {
    let mut digest = Sha512::new();
    digest.update(format!("{}/{group}/{version}", env!("CARGO_PKG_VERSION")));
    for resource in resources.iter().filter(|resource| resource.group == group && resource.version == version) {
        digest.update(format!("/{}/{}/{}", resource.plural, resource.kind, resource.digest));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02X}")).collect()
}

/// `/openapi/v3/api/v1`, `/openapi/v3/apis/GROUP/VERSION`. `definitions` are the stored custom resource definitions.
pub(super) fn document(
    resources: &[Arc<Resource>],
    definitions: &[Arc<Value>],
    group: &str,
    version: &str,
) -> Result<Value, Failure> {
    let mut schemas = Map::new();
    let mut paths = Map::new();
    for resource in resources.iter().filter(|resource| resource.group == group && resource.version == version) {
        let name = match resource.builtin {
            Some(builtin) => {
                add_with_references(&mut schemas, builtin.definition);
                builtin.definition.to_owned()
            }
            None => {
                let name = format!("{}.{version}.{}", reversed(group), resource.kind);
                let definition = definitions.iter().find(|definition| object::name(definition) == &*resource.storage);
                let schema = definition.and_then(|definition| version_schema(definition, version));
                add_with_references(&mut schemas, kinds::OBJECT_META);
                let mut schema = schema.unwrap_or_else(|| json!({"type": "object"}));
                schema["properties"]["metadata"] =
                    json!({"$ref": format!("#/components/schemas/{}", kinds::OBJECT_META)});
                schemas.insert(name.clone(), schema);
                name
            }
        };
        let kind = json!({"group": group, "version": version, "kind": resource.kind});
        if let Some(schema) = schemas.get_mut(&name) {
            schema["x-kubernetes-group-version-kind"] = json!([kind]);
        }
        paths.extend(resource_paths(resource, &name, &kind));
    }
    if schemas.is_empty() {
        return Err(Failure::no_such_path(&format!("the sandbox serves nothing in {}", group_version(group, version))));
    }
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Sliceform sandbox", "version": "v1.37.0"},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

/// `sliceform.io` → `io.sliceform`
fn reversed(group: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').collect();
    parts.reverse();
    parts.join(".")
}

fn version_schema(definition: &Value, version: &str) -> Option<Value> {
    let mut versions = object::items(definition, "/spec/versions");
    versions.find(|one| object::text(one, "/name") == version)?.pointer("/schema/openAPIV3Schema").cloned()
}

/// Adds a definition and everything that it refers to.
fn add_with_references(schemas: &mut Map<String, Value>, name: &str) {
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        let Some(schema) = kinds::definitions().get(&name).filter(|_| !schemas.contains_key(&name)) else { continue };
        collect_references(schema, &mut open);
        schemas.insert(name, schema.clone());
    }
}

fn collect_references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(name) = map.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
                found.push(name.to_owned());
            }
            map.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

fn resource_paths(resource: &Resource, schema: &str, kind: &Value) -> Map<String, Value> {
    let place = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
    let collection = format!("/{}/{place}{}", path(&resource.group, &resource.version), resource.plural);
    let parameter =
        |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
    let body = json!({"$ref": format!("#/components/schemas/{schema}")});
    let operation = |action: &str, writes: bool| {
        let mut operation = json!({
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": body}}}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind,
        });
        if writes {
            operation["parameters"] = ["dryRun", "fieldManager", "fieldValidation"].map(parameter).to_vec().into();
        }
        operation
    };
    let mut paths = Map::new();
    paths.insert(collection.clone(), json!({"get": operation("list", false), "post": operation("post", true)}));
    paths.insert(
        format!("{collection}/{{name}}"),
        json!({
            "get": operation("get", false), "put": operation("put", true), "patch": operation("patch", true),
            "delete": operation("delete", false),
        }),
    );
    paths
}
