//! A state that HashiCorp's provider wrote goes on with ours.
//!
//! `data/hashicorp` has a configuration, the state that Terraform 1.11 with that provider (commit 3a33fb6cc) left of it,
//! and the objects as they were then in a cluster of Kubernetes 1.36. They are of our own making.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::Value as Json;
use state::{Snapshot, v4};

use tests::control_plane::ControlPlane;

use crate::{
    cluster::{Cluster, Real},
    run::{Run, actions},
    world::World,
};

const CONFIGURATION: &str = include_str!("data/hashicorp/main.tf");
const STATE: &str = include_str!("data/hashicorp/state.json");
const OBJECTS: &str = include_str!("data/hashicorp/objects.json");

/// The same under another name than `team-a`, where several tests share a cluster.
fn within(text: &str, namespace: &str) -> String {
    text.replace("team-a", namespace)
}

/// The objects, each with the path of its kind.
fn objects(namespace: &str) -> Vec<(String, Json)> {
    let objects: Vec<Json> = serde_json::from_str(&within(OBJECTS, namespace)).unwrap();
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
async fn found(cluster: &impl Cluster, namespace: &str) -> Snapshot {
    let mut state = within(STATE, namespace);
    for (path, mut object) in objects(namespace) {
        let old = object["metadata"].as_object_mut().unwrap().remove("uid").unwrap();
        let made = cluster.write(Method::POST, &format!("{path}?fieldManager=HashiCorp"), object).await;
        let new = made["metadata"]["uid"].as_str().unwrap();
        state = state.replace(old.as_str().unwrap(), new);
    }
    v4::read(state.as_bytes()).unwrap()
}

/// It plans to no change; what is changed after that is the same object.
async fn goes_on(cluster: &impl Cluster, namespace: &str) {
    let mut text = within(CONFIGURATION, namespace);
    let run = Run::with_state(cluster, &text, Some(found(cluster, namespace).await)).await;
    let plan = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&plan), [""; 0]);
    assert_eq!(plan.drift, []);
    assert_eq!(plan.changes.len(), 18, "everything of the state was looked at");
    let secret = plan.changes.iter().find(|change| &*change.addr.ty == "kubernetes_secret").unwrap();
    assert!(secret.before.get("data").unwrap().marks.sensitive);

    let paths = objects(namespace);
    let paths = paths.iter().map(|(path, object)| format!("{path}/{}", object["metadata"]["name"].as_str().unwrap()));
    let paths: Vec<String> = paths.collect();
    let before = uids(cluster, &paths).await;
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
    let run = run.edited(cluster, &text);
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
    assert_eq!(uids(cluster, &paths).await, before, "nothing was made anew");
    let limits = cluster.live(&format!("/api/v1/namespaces/{namespace}/limitranges/pods")).await.unwrap();
    assert_eq!(limits["spec"]["limits"][0]["default"]["cpu"], "600m");
    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(run.snapshot().await.resources().len(), 0);
    for path in &paths {
        assert_eq!(cluster.live(path).await, None, "{path} is gone");
    }
}

async fn uids(cluster: &impl Cluster, paths: &[String]) -> Vec<Json> {
    let mut uids = Vec::new();
    for path in paths {
        uids.push(cluster.live(path).await.unwrap()["metadata"]["uid"].clone());
    }
    uids
}

#[tokio::test]
async fn a_state_of_hashicorps_provider_goes_on() {
    goes_on(&World::new().await, "team-a").await;
}

#[tokio::test]
async fn a_state_of_hashicorps_provider_goes_on_at_a_real_control_plane() {
    let Some(plane) = ControlPlane::shared().await else { return };
    goes_on(&Real::new(plane).await, "team-hashicorp").await;
}
