//! Definitions of systems that Sliceform plans against: all are accepted, and their objects are judged without a rule that
//! the sandbox cannot evaluate. They lie in a folder beside the project, and are no part of it.

use std::path::{Path, PathBuf};

use kube::api::{DynamicObject, PostParams};
use serde_json::{Map, Value, json};

use crate::cluster::{Cluster, object, resource};

/// `shared/crds`, in a folder above this crate's.
fn folder() -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/crds"))
        .find(|path| path.is_dir())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
}

fn definitions(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    files(folder, &mut found);
    let documents = found.into_iter().flat_map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let documents: Vec<Value> =
            serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        documents.into_iter().map(move |document| (path.clone(), document))
    });
    documents.filter(|(_, document)| document["kind"] == "CustomResourceDefinition").collect()
}

/// The least that a schema demands: what is required, with the first value that fits.
fn least(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(choice) = schema.pointer("/enum/0") {
        return choice.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let fields = required.map(|name| (name.to_owned(), least(&schema["properties"][name])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or_default();
            (0..count).map(|_| least(&schema["items"])).collect()
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("boolean") => true.into(),
        Some("string") if schema["format"] == "date-time" => "2026-01-02T03:04:05Z".into(),
        _ => "a".into(),
    }
}

#[tokio::test]
async fn public_definitions_are_accepted_and_their_objects_judged() {
    let Some(folder) = folder() else {
        eprintln!("SKIPPED: there is no folder shared/crds above this crate; no public definition was tried");
        return;
    };
    let cluster = Cluster::start().await;
    let api = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let mut taken = 0;
    for (path, definition) in definitions(&folder) {
        let name = definition["metadata"]["name"].as_str().unwrap();
        let made = crate::cluster::apply(&api, "public", definition.clone()).await;
        made.unwrap_or_else(|error| panic!("{}: {name}: {error}", path.display()));
        let spec = &definition["spec"];
        for version in spec["versions"].as_array().unwrap().iter().filter(|version| version["served"] == true) {
            let (group, kind) = (spec["group"].as_str().unwrap(), spec["names"]["kind"].as_str().unwrap());
            let mut resource = resource(group, version["name"].as_str().unwrap(), kind);
            resource.plural = spec["names"]["plural"].as_str().unwrap().to_owned();
            let objects: kube::Api<DynamicObject> = match spec["scope"].as_str() {
                Some("Namespaced") => kube::Api::namespaced_with(cluster.client.clone(), &cluster.namespace, &resource),
                _ => kube::Api::all_with(cluster.client.clone(), &resource),
            };
            let mut minimal = least(&version["schema"]["openAPIV3Schema"]);
            minimal["apiVersion"] = resource.api_version.clone().into();
            minimal["kind"] = kind.into();
            minimal["metadata"] = json!({"name": "minimal"});
            let params = PostParams { dry_run: true, ..Default::default() };
            match objects.create(&params, &object(minimal.clone())).await {
                Ok(_) => taken += 1,
                Err(kube::Error::Api(status)) if status.code == 422 => {
                    for gap in ["sandbox cannot", "rule compile", "evaluating rule", "not a yes or no"] {
                        assert!(!status.message.contains(gap), "{name}: {minimal}: {}", status.message);
                    }
                }
                Err(error) => panic!("{name}: {minimal}: {error}"),
            }
            let has_spec = version.pointer("/schema/openAPIV3Schema/properties/spec/type") == Some(&json!("object"));
            if has_spec {
                minimal["spec"] = json!(["a list"]);
                match objects.create(&params, &object(minimal)).await {
                    Err(kube::Error::Api(status)) if status.code == 422 => {
                        assert!(
                            status.message.contains("spec in body must be of type object: \"array\""),
                            "{}",
                            status.message
                        );
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            objects.list(&Default::default()).await.unwrap();
        }
    }
    eprintln!("{taken} minimal objects were taken");
    assert!(taken > 10, "{taken} minimal objects were taken");
    cluster.stop().await;
}
