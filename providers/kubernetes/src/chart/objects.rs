//! What Helm wrote, taken apart: objects, definitions, hooks, each under a key that stays the same.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::yaml::documents;

/// A chart's objects, by what is done with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Objects {
    /// By `Kind/namespace/name`.
    pub(super) manifests: BTreeMap<String, Json>,
    /// Definitions of kinds, from the chart's folder for them and from its templates.
    pub(super) definitions: BTreeMap<String, Json>,
    /// In the order in which Helm runs them.
    pub(super) hooks: Vec<Hook>,
}

/// An object that Helm would make at a time of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hook {
    pub(super) key: String,
    pub(super) events: Vec<String>,
    pub(super) weight: i64,
    pub(super) delete_policies: Vec<String>,
    pub(super) manifest: Json,
}

/// All objects in what Helm wrote, in its order.
///
/// # Errors
/// What cannot be read, with the template that it comes from, as a sentence.
pub(super) fn read(text: &str) -> Result<Vec<Json>, String> {
    let mut found = Vec::new();
    for document in parts(text) {
        found.extend(objects(&document)?);
    }
    Ok(found)
}

/// Tells objects apart. `namespaced`: does the kind of an object lie in namespaces?
///
/// # Errors
/// Two objects are the same one, as a sentence.
pub(super) fn tell_apart(
    found: Vec<Json>,
    namespace: &str,
    namespaced: impl Fn(&str, &str) -> bool,
) -> Result<Objects, String> {
    let mut objects = Objects::default();
    let mut plain = Vec::new();
    for mut object in found {
        let is_placed = !told(&object, "/metadata/namespace").is_empty();
        if !is_placed && namespaced(told(&object, "/apiVersion"), told(&object, "/kind")) {
            object["metadata"]["namespace"] = namespace.into();
        }
        match events(&object) {
            _ if told(&object, "/kind") == "CustomResourceDefinition" => {
                objects.definitions.insert(key(&object, false), object);
            }
            events if events.is_empty() => plain.push(object),
            events => objects.hooks.push(hook(object, events)),
        }
    }
    // Helm's own order within an event: by weight, then by name.
    objects.hooks.sort_by(|one, other| (one.weight, &one.key).cmp(&(other.weight, &other.key)));
    let mut by_key: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for object in plain {
        by_key.entry(key(&object, false)).or_default().push(object);
    }
    for (short, same) in by_key {
        let several = same.len() > 1;
        for object in same {
            // Kinds of one name in several groups are told apart by these.
            let key = if several { key(&object, true) } else { short.clone() };
            if objects.manifests.insert(key.clone(), object).is_some() {
                return Err(format!("The chart makes {key} twice."));
            }
        }
    }
    Ok(objects)
}

/// One document of a stream, and the template that it comes from.
struct Document<'a> {
    source: &'a str,
    text: String,
}

/// The documents: a line that is `---`, or begins so with a comment or a space, ends one.
fn parts(text: &str) -> Vec<Document<'_>> {
    let mut documents: Vec<Document<'_>> = vec![Document { source: "", text: String::new() }];
    for line in text.split_inclusive('\n') {
        let ends = line.trim_end() == "---" || line.starts_with("--- ");
        if ends {
            documents.push(Document { source: "", text: String::new() });
            continue;
        }
        let last = documents.last_mut().expect("there is always a last one");
        if let Some(source) = line.strip_prefix("# Source: ")
            && last.source.is_empty()
        {
            last.source = source.trim();
        }
        last.text.push_str(line);
    }
    documents
}

/// The objects of a document: none, one, or the items of a List.
fn objects(document: &Document<'_>) -> Result<Vec<Json>, String> {
    let of = if document.source.is_empty() { String::new() } else { format!(" of {}", document.source) };
    let read = documents(&document.text).map_err(|error| format!("A document{of} cannot be read: {error}."))?;
    let object = read.into_iter().next().map(|one| one.body).unwrap_or_default();
    match object {
        Json::Null => Ok(Vec::new()),
        Json::Object(_) => {
            let is_list = told(&object, "/kind").ends_with("List") && object.get("items").is_some_and(Json::is_array);
            let items = match object {
                Json::Object(mut fields) if is_list => match fields.remove("items") {
                    Some(Json::Array(items)) => items,
                    _ => Vec::new(),
                },
                object => vec![object],
            };
            for item in &items {
                for field in ["/apiVersion", "/kind", "/metadata/name"] {
                    if told(item, field).is_empty() {
                        let field = field.trim_start_matches('/').replace('/', ".");
                        return Err(format!("An object{of} has no {field}."));
                    }
                }
            }
            Ok(items)
        }
        _ => Err(format!("A document{of} is no object.")),
    }
}

/// A field that is text, or nothing.
pub(super) fn told<'a>(object: &'a Json, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// `Kind/namespace/name`, or `Kind/name`.
fn key(object: &Json, with_group: bool) -> String {
    let group = told(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let kind = match (with_group, group) {
        (true, group) if !group.is_empty() => format!("{}.{group}", told(object, "/kind")),
        _ => told(object, "/kind").to_owned(),
    };
    match told(object, "/metadata/namespace") {
        "" => format!("{kind}/{}", told(object, "/metadata/name")),
        namespace => format!("{kind}/{namespace}/{}", told(object, "/metadata/name")),
    }
}

fn annotation<'a>(object: &'a Json, name: &str) -> &'a str {
    object.pointer("/metadata/annotations").and_then(|all| all.get(name)?.as_str()).unwrap_or_default()
}

fn words(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn events(object: &Json) -> Vec<String> {
    words(annotation(object, "helm.sh/hook"))
}

fn hook(object: Json, events: Vec<String>) -> Hook {
    let policies = words(annotation(&object, "helm.sh/hook-delete-policy"));
    Hook {
        key: key(&object, false),
        events,
        weight: annotation(&object, "helm.sh/hook-weight").trim().parse().unwrap_or(0),
        // Where a hook says none, Helm takes this one.
        delete_policies: if policies.is_empty() { vec!["before-hook-creation".to_owned()] } else { policies },
        manifest: object,
    }
}

impl Hook {
    /// Is it there for `helm test` alone?
    pub(super) fn is_test(&self) -> bool {
        self.events.iter().all(|event| event.starts_with("test"))
    }

    /// As it is exported.
    pub(super) fn to_json(&self) -> Json {
        json!({"key": self.key, "events": self.events, "weight": self.weight, "delete_policies": self.delete_policies,
            "manifest": self.manifest})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---
# Source: c/crds/widgets.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
---
# Source: c/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  script: |
    echo
    --- no end
  mode: \"x\"
---
# Source: c/templates/empty.yaml
---
# Source: c/templates/list.yaml
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: other}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}
---
# Source: c/templates/hook.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: late
  annotations: {\"helm.sh/hook\": \"post-install, post-upgrade\", \"helm.sh/hook-weight\": \"5\"}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: first
  annotations: {\"helm.sh/hook\": pre-install, \"helm.sh/hook-weight\": \"-1\", \"helm.sh/hook-delete-policy\": hook-succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: t, annotations: {\"helm.sh/hook\": test}}
";

    #[test]
    fn objects_definitions_and_hooks_are_told_apart() {
        let namespaced = |_: &str, kind: &str| !kind.starts_with('C') || kind == "ConfigMap";
        let found = tell_apart(read(TEXT).unwrap(), "n", namespaced).unwrap();
        let keys: Vec<&str> = found.manifests.keys().map(String::as_str).collect();
        assert_eq!(keys, ["ClusterRole/r", "ConfigMap/n/a", "Secret/other/s"]);
        assert_eq!(found.manifests["ConfigMap/n/a"]["data"]["script"], "echo\n--- no end\n");
        assert_eq!(found.definitions.keys().collect::<Vec<_>>(), ["CustomResourceDefinition/widgets.example.com"]);
        let hooks: Vec<(&str, i64, bool)> =
            found.hooks.iter().map(|hook| (hook.key.as_str(), hook.weight, hook.is_test())).collect();
        assert_eq!(hooks, [("Job/n/first", -1, false), ("Pod/n/t", 0, true), ("Job/n/late", 5, false)]);
        assert_eq!(found.hooks[2].events, ["post-install", "post-upgrade"]);
        assert_eq!(found.hooks[0].delete_policies, ["hook-succeeded"]);
        assert_eq!(found.hooks[2].delete_policies, ["before-hook-creation"]);
    }

    #[test]
    fn what_cannot_be_read_names_its_template() {
        for (text, expected) in [
            ("# Source: c/t.yaml\n- a\n", "A document of c/t.yaml is no object."),
            ("# Source: c/t.yaml\nkind: A\napiVersion: v1\n", "An object of c/t.yaml has no metadata.name."),
            (
                "apiVersion: v1\nkind: A\nmetadata: {name: x}\n---\napiVersion: v1\nkind: A\nmetadata: {name: x}\n",
                "The chart makes A/n/x twice.",
            ),
        ] {
            let found = read(text).and_then(|found| tell_apart(found, "n", |_, _| true));
            assert_eq!(found.unwrap_err(), expected);
        }
        let broken = read("# Source: c/t.yaml\na: [hunter2\n").unwrap_err();
        assert!(
            broken.starts_with("A document of c/t.yaml cannot be read: ") && !broken.contains("hunter2"),
            "{broken}"
        );
        let two = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\napiVersion: serving.knative.dev/v1\nkind: \
                   Service\nmetadata: {name: x}\n";
        let found = tell_apart(read(two).unwrap(), "n", |_, _| true).unwrap();
        assert_eq!(found.manifests.keys().collect::<Vec<_>>(), ["Service.serving.knative.dev/n/x", "Service/n/x"]);
    }
}
