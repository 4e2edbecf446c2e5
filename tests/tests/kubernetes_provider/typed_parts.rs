//! Types that look after a part of an object that others have made.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::{Value as Json, json};

use tests::control_plane::ControlPlane;

use crate::{
    cluster::{Cluster, Real},
    run::{Run, actions},
    world::World,
};

const MAP: &str = "/api/v1/namespaces/default/configmaps/m";
const NODE: &str = "/api/v1/nodes/typed-node";

/// What others have made.
async fn make(world: &impl Cluster) {
    let map = json!({"metadata": {"name": "m", "labels": {"other": "x"}}, "data": {"other": "x"}});
    world.write(Method::POST, "/api/v1/namespaces/default/configmaps", map).await;
    let taints = json!([{"key": "other", "value": "x", "effect": "NoSchedule"}]);
    let node = json!({"metadata": {"name": "typed-node"}, "spec": {"taints": taints}});
    world.write(Method::POST, "/api/v1/nodes", node).await;
}

fn labels(name: &str, labels: &str, rest: &str) -> String {
    format!(
        "resource \"kubernetes_labels\" \"{name}\" {{\napi_version = \"v1\"\nkind = \"ConfigMap\"\nmetadata {{\n name = \"m\"\n}}\n\
         labels = {{ {labels} }}\n{rest}\n}}\n"
    )
}

async fn live(world: &impl Cluster, path: &str, pointer: &str) -> Json {
    world.live(path).await.unwrap().pointer(pointer).cloned().unwrap_or_default()
}

/// Taints of a node but for those that Kubernetes puts on by itself.
async fn taints(world: &impl Cluster) -> Json {
    let taints = live(world, NODE, "/spec/taints").await;
    let own = |taint: &&Json| !taint["key"].as_str().unwrap().starts_with("node.kubernetes.io/");
    taints.as_array().into_iter().flatten().filter(own).cloned().collect()
}

async fn labels_are_shared_and_given_back(world: &impl Cluster) {
    let both = labels("a", "a = \"1\"", "") + &labels("b", "b = \"1\"", "");
    let run = Run::new(world, &both).await;
    assert_eq!(run.settle().await, ["kubernetes_labels.a create", "kubernetes_labels.b create"]);
    assert_eq!(live(world, MAP, "/metadata/labels").await, json!({"other": "x", "a": "1", "b": "1"}));

    let run = run.edited(world, &(labels("a", "c = \"1\"", "") + &labels("b", "b = \"1\"", "")));
    assert_eq!(run.settle().await, ["kubernetes_labels.a update"]);
    assert_eq!(live(world, MAP, "/metadata/labels").await, json!({"other": "x", "b": "1", "c": "1"}));

    world.write(Method::PATCH, MAP, json!({"metadata": {"labels": {"c": "2"}}})).await;
    let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
    let error = diagnostics.iter().next().unwrap();
    assert_eq!(error.summary, "Field owned by another manager");
    assert!(error.detail.contains("metadata.labels.c") && error.detail.contains("somebody"), "{error:?}");
    let run = run.edited(world, &(labels("a", "c = \"1\"", "force = true") + &labels("b", "b = \"1\"", "")));
    assert_eq!(run.settle().await, ["kubernetes_labels.a update"]);

    let run = run.edited(world, &labels("b", "b = \"1\"", ""));
    assert_eq!(run.settle().await, ["kubernetes_labels.a delete"]);
    assert_eq!(live(world, MAP, "/metadata/labels").await, json!({"other": "x", "b": "1"}));
    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(live(world, MAP, "/metadata/labels").await, json!({"other": "x"}));
    assert!(world.live(MAP).await.is_some(), "the object is its makers'");
}

async fn an_object_is_never_made_for_its_labels(world: &impl Cluster) {
    let run = Run::new(world, &labels("a", "a = \"1\"", "")).await;
    let plan = run.plan(PlanMode::Normal).await;
    assert_eq!(plan.changes[0].unverified.as_deref(), Some("ConfigMap m does not exist yet"));
    let error = run.try_apply(plan).await;
    assert!(error.contains("There is no ConfigMap m"), "{error}");
    assert_eq!(world.live(MAP).await, None);
}

async fn annotations_of_an_object_and_of_its_pods(world: &impl Cluster) {
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": pod});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    world.write(Method::POST, path, json!({"metadata": {"name": "d"}, "spec": spec})).await;
    let text = |annotations: &str| {
        format!(
            "resource \"kubernetes_annotations\" \"x\" {{\napi_version = \"apps/v1\"\nkind = \"Deployment\"\n\
             metadata {{\n name = \"d\"\n namespace = \"default\"\n}}\n{annotations}\n}}\n"
        )
    };
    let run = Run::new(world, &text("annotations = { a = \"1\" }\ntemplate_annotations = { b = \"2\" }")).await;
    run.settle().await;
    let path = format!("{path}/d");
    assert_eq!(live(world, &path, "/metadata/annotations/a").await, "1");
    assert_eq!(live(world, &path, "/spec/template/metadata/annotations").await, json!({"b": "2"}));
    let run = run.edited(world, &text("annotations = { a = \"1\" }"));
    assert_eq!(run.settle().await, ["kubernetes_annotations.x update"]);
    assert_eq!(live(world, &path, "/spec/template/metadata/annotations/b").await, Json::Null);
    let (_, diagnostics) = run.edited(world, &text("")).try_plan(PlanMode::Normal).await;
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Missing argument");
}

async fn data_of_a_config_map(world: &impl Cluster) {
    let text = |data: &str| {
        format!(
            "resource \"kubernetes_config_map_v1_data\" \"x\" {{\nmetadata {{\n name = \"m\"\n}}\ndata = {{ {data} }}\n}}\n"
        )
    };
    let run = Run::new(world, &text("a = \"1\"")).await;
    assert_eq!(run.settle().await, ["kubernetes_config_map_v1_data.x create"]);
    assert_eq!(live(world, MAP, "/data").await, json!({"other": "x", "a": "1"}));
    let (_, diagnostics) = run.edited(world, &text("other = \"y\"")).try_plan(PlanMode::Normal).await;
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Field owned by another manager");
    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(live(world, MAP, "/data").await, json!({"other": "x"}));
}

async fn taints_of_others_stay_on_the_node(world: &impl Cluster) {
    let text = |taint: &str| {
        format!("resource \"kubernetes_node_taint\" \"x\" {{\nmetadata {{\n name = \"typed-node\"\n}}\n{taint}\n}}\n")
    };
    let taint = |key: &str, value: &str| {
        format!("taint {{\n key = \"{key}\"\n value = \"{value}\"\n effect = \"NoSchedule\"\n}}\n")
    };
    let run = Run::new(world, &text(&taint("ours", "1"))).await;
    assert_eq!(run.settle().await, ["kubernetes_node_taint.x create"]);
    let other = json!({"key": "other", "value": "x", "effect": "NoSchedule"});
    let ours = |value: &str| json!({"key": "ours", "value": value, "effect": "NoSchedule"});
    assert_eq!(taints(world).await, json!([other, ours("1")]));

    let run = run.edited(world, &text(&taint("ours", "2")));
    assert_eq!(run.settle().await, ["kubernetes_node_taint.x update"]);
    assert_eq!(taints(world).await, json!([other, ours("2")]));
    world.write(Method::PATCH, NODE, json!({"spec": {"taints": [other]}})).await;
    assert_eq!(run.settle().await, ["kubernetes_node_taint.x update"], "a taint that was taken off comes back");

    let (_, diagnostics) = run.edited(world, &text(&taint("other", "y"))).try_plan(PlanMode::Normal).await;
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Taint of somebody else");
    let twice = taint("ours", "1") + &taint("ours", "2");
    let (_, diagnostics) = run.edited(world, &text(&twice)).try_plan(PlanMode::Normal).await;
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Duplicate taint");

    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(taints(world).await, json!([other]));
    assert_eq!(actions(&run.plan(PlanMode::Destroy).await), [""; 0]);
}

#[tokio::test]
async fn on_the_sandbox_labels_are_shared_and_given_back() {
    let world = World::new().await;
    make(&world).await;
    labels_are_shared_and_given_back(&world).await;
}

#[tokio::test]
async fn on_the_sandbox_an_object_is_never_made_for_its_labels() {
    let world = World::new().await;
    an_object_is_never_made_for_its_labels(&world).await;
}

#[tokio::test]
async fn on_the_sandbox_annotations_of_an_object_and_of_its_pods() {
    let world = World::new().await;
    annotations_of_an_object_and_of_its_pods(&world).await;
}

#[tokio::test]
async fn on_the_sandbox_data_of_a_config_map() {
    let world = World::new().await;
    make(&world).await;
    data_of_a_config_map(&world).await;
}

#[tokio::test]
async fn on_the_sandbox_taints_of_others_stay_on_the_node() {
    let world = World::new().await;
    make(&world).await;
    taints_of_others_stay_on_the_node(&world).await;
}

#[tokio::test]
async fn all_of_it_holds_at_a_real_control_plane() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let real = Real::new(plane).await;
    an_object_is_never_made_for_its_labels(&real).await;
    make(&real).await;
    labels_are_shared_and_given_back(&real).await;
    data_of_a_config_map(&real).await;
    taints_of_others_stay_on_the_node(&real).await;
    annotations_of_an_object_and_of_its_pods(&real).await;
}
