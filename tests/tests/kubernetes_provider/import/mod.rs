//! Objects that others made are imported, and the configuration that is generated for them plans to no change.

mod custom;
mod examples;
mod generate;
mod kinds;

use http::Method;
use providers_sandbox::api::User;
use serde_json::Value as Json;

use crate::{
    run::{Run, actions},
    world::World,
};
use engine_model::plan::PlanMode;

/// How somebody else makes an object.
#[derive(Clone, Copy)]
enum How {
    /// As `kubectl create` does.
    Update,
    /// As `kubectl apply --server-side` does.
    Apply,
}

/// The path of an object's collection.
fn collection(api_version: &str, plural: &str, namespace: Option<&str>) -> String {
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let namespace = namespace.map_or(String::new(), |namespace| format!("/namespaces/{namespace}"));
    format!("/{root}/{api_version}{namespace}/{plural}")
}

/// Makes an object; gives it as it is then, or why it is refused.
fn make(world: &World, how: How, collection: &str, object: &Json) -> Result<Json, String> {
    let user = User::admin("kubectl");
    let api = world.running.api();
    let name = object["metadata"]["name"].as_str().unwrap();
    let made = match how {
        How::Update => {
            api.call(&user, &Method::POST, &format!("{collection}?fieldManager=kubectl-create"), Some(object))
        }
        How::Apply => {
            let path = format!("{collection}/{name}?fieldManager=kubectl");
            api.call_as(&user, &Method::PATCH, &path, "application/apply-patch+yaml", Some(object))
        }
    };
    made.map_err(|failure| failure.message)
}

fn id(object: &Json) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    format!(
        "apiVersion={},kind={},namespace={},name={}",
        text("/apiVersion"),
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name")
    )
}

/// Imports all of them; the configuration of all plans to no change. Gives it.
async fn import_all(world: &World, objects: &[Json]) -> String {
    let run = Run::new(world, "").await;
    let mut imported = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        let found = world.instance.import("kubernetes_manifest", &id(object), world.call()).await;
        imported.push((
            format!("kubernetes_manifest.o{at}"),
            found.unwrap_or_else(|why| panic!("{}: {why:#?}", id(object))),
        ));
    }
    let text = run.take(imported).await;
    let run = run.edited(world, &text);
    let plan = run.plan(PlanMode::Normal).await;
    if let Some(change) = plan.changes.iter().find(|change| change.action != engine_model::change::Action::NoOp) {
        let at: usize = change.addr.name[1..].parse().unwrap();
        let diff = engine_value::diff::diff(Some(&change.before), Some(&change.after)).changed_paths();
        panic!("{} {:?}\n{:?}\n{}", change.addr, change.action, diff, objects[at]);
    }
    assert_eq!(actions(&plan), [""; 0]);
    assert_eq!(plan.drift, []);
    assert!(plan.changes.iter().all(|change| change.unverified.is_none()), "every object was asked for");
    text
}
