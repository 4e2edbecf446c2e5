//! Where schemas come from.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Map, Value as Json, json};

use super::{
    node::{Document, Schema},
    rules::RULES,
};

/// The schema of `metadata`.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Set in a rule that had an expression for its message.
pub(super) const FINDS_WORDS: &str = "x-sliceform-finds-words";

/// How the names of the schemas of Kubernetes' own kinds begin; all others are of definitions.
const OWN: [&str; 3] = ["io.k8s.api.", "io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator."];

/// Built-in kinds: see `data/README.md`.
static BUILTIN: LazyLock<Builtin> = LazyLock::new(|| Builtin::read(include_str!("../../data/builtin.jsonl")));

/// The built-in kinds.
pub(super) struct Builtin {
    document: Arc<Document>,
    /// By `apps/v1/Deployment`: the name of the schema, and whether its objects lie in namespaces.
    kinds: BTreeMap<String, (Arc<str>, bool)>,
}

/// The built-in kinds.
pub(super) fn builtin() -> &'static Builtin {
    &BUILTIN
}

impl Builtin {
    fn read(lines: &str) -> Self {
        let (mut kinds, mut schemas) = (BTreeMap::new(), Map::new());
        for line in lines.lines() {
            let mut line: Json = serde_json::from_str(line).expect("the data that is compiled in is JSON");
            let text = |name: &str| line.get(name).and_then(Json::as_str).map(str::to_owned);
            match (text("kind"), text("name")) {
                (Some(kind), _) => {
                    let name = text("schema").unwrap_or_default();
                    let namespaced = line.get("namespaced").and_then(Json::as_bool).unwrap_or(false);
                    kinds.insert(kind, (name.into(), namespaced));
                }
                (None, Some(name)) => {
                    schemas.insert(name, line["schema"].take());
                }
                (None, None) => {}
            }
        }
        Self {
            document: Arc::new(Document { schemas, is_definition: false, has_rules: false, tells_lists: true }),
            kinds,
        }
    }

    pub(super) fn document(&'static self) -> &'static Document {
        &self.document
    }
}

impl Schema {
    /// The schema of a built-in kind. `None`: it is not one of a stable version.
    pub(crate) fn of_builtin(api_version: &str, kind: &str) -> Option<Self> {
        let (name, namespaced) = builtin().kinds.get(&format!("{api_version}/{kind}"))?;
        Some(Self { document: builtin().document.clone(), name: name.clone(), namespaced: Some(*namespaced) })
    }

    /// The kinds of a group version that are built in, for hints.
    pub(crate) fn builtin_kinds(api_version: &str) -> Vec<&'static str> {
        let all = builtin().kinds.keys().filter_map(|name| name.rsplit_once('/'));
        all.filter(|(version, _)| *version == api_version).map(|(_, kind)| kind).collect()
    }

    /// The schema that a custom resource definition has for one of its versions. `None`: it does not serve that version.
    pub(crate) fn of_definition(definition: &Json, version: &str) -> Option<Self> {
        let spec = definition.get("spec")?;
        let versions = spec.get("versions")?.as_array()?;
        let is_served = |one: &&Json| one.get("served").and_then(Json::as_bool) != Some(false);
        let named = |one: &&Json| one.get("name").and_then(Json::as_str) == Some(version);
        let found = versions.iter().filter(is_served).find(named)?;
        let any = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let mut schema =
            found.pointer("/schema/openAPIV3Schema").filter(|s| s.is_object()).cloned().unwrap_or_else(any);
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        declare_itself(&mut schema);
        let has_status = found.pointer("/subresources/status").is_some();
        if has_status {
            schema["properties"]["status"] = any();
        }
        let namespaced = spec.get("scope").and_then(Json::as_str).map(|scope| scope == "Namespaced");
        let mut schemas = Map::from_iter([(String::new(), schema)]);
        let has_rules = take_expressions(&mut schemas);
        let document = Document { schemas, is_definition: true, has_rules, tells_lists: true };
        Some(Self { document: Arc::new(document), name: "".into(), namespaced })
    }

    /// The schema that an API server's OpenAPI document of a group version has for a kind. `None`: it has none.
    pub(crate) fn of_openapi(document: &Json, api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        let is_meant = |schema: &Json| {
            let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Json::as_array).into_iter().flatten();
            let is = |one: &Json, name: &str, wanted: &str| one.get(name).and_then(Json::as_str) == Some(wanted);
            let mut kinds = kinds;
            kinds.any(|one| is(one, "group", group) && is(one, "version", version) && is(one, "kind", kind))
        };
        let (name, schema) = schemas.iter().find(|(_, schema)| is_meant(schema))?;
        // What is not named there stays behind: a document holds every kind of its group.
        let mut kept = Map::new();
        keep(name, schema, schemas, &mut kept);
        let is_definition = !OWN.iter().any(|own| name.starts_with(own));
        // What every object has, not every server declares of those of a definition.
        if let Some(schema) = kept.get_mut(name).filter(|schema| is_definition && schema["properties"].is_object()) {
            declare_itself(schema);
        }
        if let Some(Json::Object(properties)) = kept.get_mut(name).and_then(|schema| schema.get_mut("properties"))
            && properties.contains_key("status")
        {
            properties.insert("status".to_owned(), json!({"x-kubernetes-preserve-unknown-fields": true}));
        }
        let has_rules = is_definition && take_expressions(&mut kept);
        let tells_lists = kept.values().any(|schema| schema.to_string().contains("x-kubernetes-list-type"));
        let document = Document { schemas: kept, is_definition, has_rules, tells_lists };
        Some(Self { document: Arc::new(document), name: name.as_str().into(), namespaced: None })
    }
}

/// Declares what every object has.
fn declare_itself(schema: &mut Json) {
    for name in ["apiVersion", "kind"] {
        schema["properties"][name] = json!({"type": "string"});
    }
    schema["properties"]["metadata"] = json!({"$ref": OBJECT_META});
}

/// Takes the expressions out that make messages of rules: they may tell values. Are there rules?
fn take_expressions(schemas: &mut Map<String, Json>) -> bool {
    let mut found = false;
    let mut parts: Vec<&mut Json> = schemas.values_mut().collect();
    while let Some(part) = parts.pop() {
        match part {
            Json::Object(fields) => {
                if let Some(Json::Array(rules)) = fields.get_mut(RULES) {
                    found = true;
                    for rule in rules.iter_mut().filter_map(Json::as_object_mut) {
                        if rule.remove("messageExpression").is_some() {
                            rule.insert(FINDS_WORDS.to_owned(), Json::Bool(true));
                        }
                    }
                }
                parts.extend(fields.values_mut());
            }
            Json::Array(items) => parts.extend(items),
            _ => {}
        }
    }
    found
}

/// Keeps a schema and everything that it refers to.
fn keep(name: &str, schema: &Json, all: &Map<String, Json>, kept: &mut Map<String, Json>) {
    let mut open = vec![(name, schema)];
    while let Some((name, schema)) = open.pop() {
        if kept.contains_key(name) {
            continue;
        }
        kept.insert(name.to_owned(), schema.clone());
        let mut parts = vec![schema];
        while let Some(part) = parts.pop() {
            match part {
                Json::Object(fields) => {
                    if let Some(target) = fields.get("$ref").and_then(Json::as_str) {
                        let target = target.rsplit('/').next().unwrap_or(target);
                        if let Some((name, schema)) = all.get_key_value(target) {
                            open.push((name, schema));
                        }
                    }
                    parts.extend(fields.values());
                }
                Json::Array(items) => parts.extend(items),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_kind_has_a_schema_and_everything_that_it_refers_to() {
        assert_eq!(builtin().kinds.len(), 60);
        for (kind, (name, _)) in &builtin().kinds {
            let mut kept = Map::new();
            let all = &builtin().document.schemas;
            keep(name, &all[&**name], all, &mut kept);
            for schema in kept.values() {
                for target in schema.to_string().split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next())
                {
                    assert!(all.contains_key(target), "{kind}: {target}");
                }
            }
        }
        let deployment = Schema::of_builtin("apps/v1", "Deployment").unwrap();
        assert_eq!(deployment.namespaced, Some(true));
        assert!(Schema::of_builtin("apps/v1beta1", "Deployment").is_none());
        assert!(Schema::builtin_kinds("apps/v1").contains(&"StatefulSet"));
    }

    #[test]
    fn a_definition_has_schemas_by_version() {
        let definition = json!({"spec": {"scope": "Namespaced", "versions": [
            {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {}}}},
            {"name": "v0", "served": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
        ]}});
        assert_eq!(Schema::of_definition(&definition, "v1").unwrap().namespaced, Some(true));
        assert!(Schema::of_definition(&definition, "v0").is_none());
        assert!(Schema::of_definition(&definition, "v2").is_none());
    }
}
