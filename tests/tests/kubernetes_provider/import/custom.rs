//! An object of every published custom resource definition. The definitions lie in a folder beside the project.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use engine_value::Value;
use providers_api::Provider;
use serde_json::{Value as Json, json};

use super::{How, collection, generate, import_all, make};
use crate::world::{World, json as to_json};

/// The folder, beside the project or beside a folder around it.
fn folder() -> Option<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = project.ancestors().map(|around| around.join("shared/crds")).find(|folder| folder.is_dir());
    if found.is_none() {
        // Not what the test harness swallows: nobody must believe that this was tested.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no folder shared/crds beside the project, so that no published custom resource definition was tested"
        );
    }
    found
}

/// Every definition in the folder, each name once.
fn definitions(world: &World, folder: &Path) -> Vec<Json> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    let mut found: Vec<Json> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let objects = world.provider.call("manifest_decode_multi", &[Value::from(text.as_str())]);
        let objects = to_json(&objects.unwrap_or_else(|(_, why)| panic!("{}: {why}", file.display())));
        for object in objects.as_array().unwrap() {
            let is_new = found.iter().all(|other| other["metadata"]["name"] != object["metadata"]["name"]);
            if object["kind"] == "CustomResourceDefinition" && is_new {
                found.push(object.clone());
            }
        }
    }
    found
}

/// Takes out what the server refuses, until it takes the rest.
fn made(world: &World, how: How, collection: &str, object: &mut Json) -> Result<(), String> {
    let mut refused = Vec::new();
    for _ in 0..60 {
        let why = match make(world, how, collection, object) {
            Ok(_) => return Ok(()),
            Err(why) => why,
        };
        let Some(field) = field_in(&why).filter(|field| take_out(object, field)) else {
            refused.push(why);
            break;
        };
        refused.push(field);
    }
    Err(refused.join("\n  "))
}

/// `spec.a[0].b` of a refusal.
fn field_in(message: &str) -> Option<String> {
    let words = message.split([' ', ',', '"']).map(|word| word.trim_end_matches(':').trim_start_matches('.'));
    words.filter(|word| word.starts_with("spec.") || word.starts_with("data.")).map(str::to_owned).next()
}

/// Removes a field, or what is around it where it has a place in a list.
fn take_out(object: &mut Json, field: &str) -> bool {
    let mut names: Vec<&str> = field.split(['.', '[', ']']).filter(|name| !name.is_empty()).collect();
    while let Some(last) = names.pop() {
        let around = names.iter().try_fold(&mut *object, |at, name| match at {
            Json::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            other => other.get_mut(*name),
        });
        if let Some(Json::Object(members)) = around
            && members.remove(last).is_some()
        {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn every_published_custom_resource_is_imported_whoever_made_it() {
    let Some(folder) = folder() else { return };
    let world = World::new().await;
    let definitions = definitions(&world, &folder);
    assert!(definitions.len() > 40, "{}", definitions.len());
    let (mut objects, mut wrong) = (Vec::new(), Vec::new());
    for definition in &definitions {
        let crds = collection("apiextensions.k8s.io/v1", "customresourcedefinitions", None);
        let name = definition["metadata"]["name"].as_str().unwrap();
        make(&world, How::Update, &crds, definition).unwrap_or_else(|why| panic!("{name}: {why}"));
        objects.push(definition.clone());
        let spec = &definition["spec"];
        let version = spec["versions"].as_array().unwrap().iter().find(|version| version["served"] == true).unwrap();
        let schema = &version["schema"]["openAPIV3Schema"];
        let api_version = format!("{}/{}", spec["group"].as_str().unwrap(), version["name"].as_str().unwrap());
        let namespace = (spec["scope"] == "Namespaced").then_some("default");
        let collection = collection(&api_version, spec["names"]["plural"].as_str().unwrap(), namespace);
        for (how, by) in [(How::Update, "update"), (How::Apply, "apply")] {
            for (rich, size) in [(false, "small"), (true, "rich")] {
                let mut object = generate::object(schema, rich);
                object["apiVersion"] = api_version.as_str().into();
                object["kind"] = spec["names"]["kind"].clone();
                object["metadata"] = json!({"name": format!("{by}-{size}")});
                if let Some(namespace) = namespace {
                    object["metadata"]["namespace"] = namespace.into();
                }
                let first = made(&world, how, &collection, &mut object);
                // There may be one of it, under one name: then there is one.
                let only = first.as_ref().err().and_then(|why| Some(why.split_once("metadata.name must be '")?.1));
                let only = only.and_then(|rest| Some(rest.split_once('\'')?.0.to_owned()));
                if let Some(name) = &only {
                    object["metadata"]["name"] = name.as_str().into();
                    if objects.iter().any(|other: &Json| other["kind"] == object["kind"]) {
                        continue;
                    }
                }
                let result = if only.is_some() { made(&world, how, &collection, &mut object) } else { first };
                match result {
                    Ok(()) => objects.push(object),
                    Err(why) => wrong.push(format!("{name} {by} {size}: {why}")),
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0], "no object could be generated:\n{}", wrong.join("\n"));
    import_all(&world, &objects).await;
}
