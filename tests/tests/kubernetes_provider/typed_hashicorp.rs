//! A state that HashiCorp's provider wrote goes on with ours.
//!
//! `data/hashicorp` has a configuration, the state that Terraform 1.11 with that provider (commit 3a33fb6cc) left of it,
//! and the objects as they were then in a cluster of Kubernetes 1.36. They are of our own making.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::Value as Json;
use state::{Snapshot, v4};

use crate::{
    run::{Run, actions},
    world::World,
};

const CONFIGURATION: &str = include_str!("data/hashicorp/main.tf");
const STATE: &str = include_str!("data/hashicorp/state.json");
const OBJECTS: &str = include_str!("data/hashicorp/objects.json");

/// The objects, each with the path of its kind.
fn objects() -> Vec<(String, Json)> {
    let objects: Vec<Json> = serde_json::from_str(OBJECTS).unwrap();
    let path = |object: &Json| {
        let group = match object["apiVersion"].as_str().unwrap() {
            "v1" => "/api/v1".to_owned(),
            group => format!("/apis/{group}"),
        };
        let plural = match object["kind"].as_str().unwrap() {
            "PriorityClass" => "priorityclasses".to_owned(),
            kind => format!("{}s", kind.to_lowercase()),
        };
        match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{group}/namespaces/{namespace}/{plural}"),
            None => format!("{group}/{plural}"),
        }
    };
    objects.into_iter().map(|object| (path(&object), object)).collect()
}

/// The objects in a cluster, and the state that knows them there.
fn found(world: &World) -> Snapshot {
    let mut state = STATE.to_owned();
    for (path, mut object) in objects() {
        let old = object["metadata"].as_object_mut().unwrap().remove("uid").unwrap();
        let made = world.other(Method::POST, &format!("{path}?fieldManager=HashiCorp"), Some(object));
        let new = made["metadata"]["uid"].as_str().unwrap();
        state = state.replace(old.as_str().unwrap(), new);
    }
    v4::read(state.as_bytes()).unwrap()
}

#[tokio::test]
async fn a_state_of_hashicorps_provider_plans_to_no_change() {
    let world = World::new().await;
    let run = Run::with_state(&world, CONFIGURATION, Some(found(&world))).await;
    let plan = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&plan), [""; 0]);
    assert_eq!(plan.drift, []);
    assert_eq!(plan.changes.len(), 18, "everything of the state was looked at");
    let secret = plan.changes.iter().find(|change| &*change.addr.ty == "kubernetes_secret").unwrap();
    assert!(secret.before.get("data").unwrap().marks.sensitive);
}

#[tokio::test]
async fn what_is_changed_after_that_is_the_same_object() {
    let world = World::new().await;
    let run = Run::with_state(&world, CONFIGURATION, Some(found(&world))).await;
    let uid = |path: &str| world.live(path).unwrap()["metadata"]["uid"].clone();
    let paths: Vec<String> = objects()
        .iter()
        .map(|(path, object)| format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()))
        .collect();
    let before: Vec<Json> = paths.iter().map(|path| uid(path)).collect();
    let mut text = CONFIGURATION.to_owned();
    for (old, new) in [
        ("mode = \"fast\"", "mode = \"slow\""),
        ("{ token = \"plain-token\" }", "{ token = \"new-token\" }"),
        ("data_wo_revision = 1", "data_wo_revision = 2"),
        ("pods                      = 10", "pods                      = 11"),
        ("default = { cpu = \"500m\"", "default = { cpu = \"600m\""),
        ("before all others", "first"),
        ("verbs          = [\"list\", \"get\", \"watch\"]", "verbs          = [\"list\", \"get\"]"),
        ("name = \"jane\"", "name = \"joe\""),
        ("name = \"platform\"", "name = \"operators\""),
        ("resources  = [\"nodes\"]", "resources  = [\"nodes\", \"pods\"]"),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let run = run.edited(&world, &text);
    let updated = [
        "kubernetes_cluster_role.nodes",
        "kubernetes_cluster_role_binding.nodes",
        "kubernetes_config_map.settings",
        "kubernetes_limit_range.pods",
        "kubernetes_priority_class.high",
        "kubernetes_resource_quota.compute",
        "kubernetes_role.reader",
        "kubernetes_role_binding.reader",
        "kubernetes_secret.login",
        "kubernetes_secret_v1.unstored",
    ];
    assert_eq!(run.settle().await, updated.map(|addr| format!("{addr} update")));
    assert_eq!(paths.iter().map(|path| uid(path)).collect::<Vec<_>>(), before, "nothing was made anew");
    let limits = world.live("/api/v1/namespaces/team-a/limitranges/pods").unwrap();
    assert_eq!(limits["spec"]["limits"][0]["default"]["cpu"], "600m");
}
