//! Resource types with HashiCorp's schemas, each through its whole life: created, changed in place, drifted, replaced,
//! imported, destroyed.

use engine_model::{
    address::{ModulePath, ProviderConfigAddr},
    plan::PlanMode,
};
use engine_value::Path;
use http::Method;
use serde_json::json;
use state::{Lineage, Object, Slot, Snapshot};

use tests::control_plane::ControlPlane;

use crate::{
    cluster::{Cluster, Real},
    lives::{self, Life},
    run::{Run, actions},
    world::{World, addr},
};

fn configuration(ty: &str, body: &str) -> String {
    format!("resource \"{ty}\" \"x\" {{\n{body}\n}}\n")
}

/// A state that has one object.
fn state_of(cluster: &impl Cluster, ty: &str, object: engine_value::Value) -> Snapshot {
    use providers_api::Provider;
    let provider = cluster.provider();
    let schema = provider.schemas().get(engine_model::address::Mode::Managed, ty).unwrap().clone();
    let mut snapshot = Snapshot::new(Lineage("test".into()));
    let object = Object::of(object, &schema.block.value_type(), schema.version).unwrap();
    let config = ProviderConfigAddr { module: ModulePath::root(), provider: provider.addr().clone(), alias: None };
    snapshot.put(&addr(ty), Slot::Current, config, object);
    snapshot
}

/// Everything that a type goes through, in a namespace of its own.
async fn live_through(cluster: &impl Cluster, life: Life, namespace: &str) {
    let life = life.within(namespace);
    let Life { ty, path, .. } = &life;
    cluster.write(Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": namespace}})).await;
    let did = |what: &str| vec![format!("{ty}.x {what}")];

    let run = Run::new(cluster, &configuration(ty, &life.create)).await;
    assert_eq!(run.settle().await, did("create"), "{ty}");
    let made = cluster.live(path).await.unwrap();
    let stored = run.snapshot().await.current(&addr(ty)).unwrap().attributes.to_string();
    assert!(stored.contains(made["metadata"]["uid"].as_str().unwrap()), "{stored}");
    assert!(stored.contains(&format!("\"id\":\"{}\"", life.id)), "{stored}");

    let run = run.edited(cluster, &configuration(ty, &life.update));
    assert_eq!(run.settle().await, did("update"), "{ty}");
    let (pointer, expected) = (life.updated.0, &life.updated.1);
    assert_eq!(cluster.live(path).await.unwrap().pointer(pointer), Some(expected), "{ty}");
    assert_eq!(
        cluster.live(path).await.unwrap()["metadata"]["uid"],
        made["metadata"]["uid"],
        "{ty} is the same object"
    );

    cluster.write(Method::PATCH, path, json!({"metadata": {"labels": {"others": "x"}}})).await;
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0], "{ty}: labels of others are theirs");
    cluster.write(Method::PATCH, path, life.drift.clone()).await;
    assert_eq!(run.plan(PlanMode::RefreshOnly).await.drift.len(), 1, "{ty} has drifted");
    assert_eq!(run.settle().await, did("update"), "{ty} is brought back");
    assert_eq!(cluster.live(path).await.unwrap().pointer(pointer), Some(expected), "{ty}");

    let imported = cluster.import(ty, &life.id).await;
    let imported =
        Run::with_state(cluster, &configuration(ty, &life.update), Some(state_of(cluster, ty, imported.object))).await;
    let plan = imported.plan(PlanMode::Normal).await;
    // Labels of others are the state's where they were imported; nothing else differs.
    let changes = plan.changes.iter().filter(|change| change.action != engine_model::change::Action::NoOp);
    for change in changes {
        let labels = Path::root().attr("metadata").index(0);
        let differs = engine_value::diff::diff(Some(&change.before), Some(&change.after)).changed_paths();
        assert!(differs.iter().all(|path| path.starts_with(&labels)), "{ty}: {differs:?}");
    }

    let run = run.edited(cluster, &configuration(ty, &life.replace.0));
    let plan = run.plan(PlanMode::Normal).await;
    let why: Vec<String> = plan.changes[0].replace_paths.iter().map(Path::to_string).collect();
    assert_eq!(why, [life.replace.1.as_str()], "{ty}");
    assert_eq!(run.settle().await, did("delete+create"), "{ty}");
    let anew = cluster.live(&life.replaced).await.unwrap();
    assert_ne!(anew["metadata"]["uid"], made["metadata"]["uid"], "{ty} is another object");

    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(cluster.live(&life.replaced).await, None, "{ty} is gone");
    assert_eq!(run.snapshot().await.resources().len(), 0);
}

/// On the sandbox.
async fn lives(life: Life) {
    live_through(&World::new().await, life, "team-a").await;
}

#[tokio::test]
async fn a_config_map_lives() {
    lives(lives::config_map()).await;
}

#[tokio::test]
async fn a_secret_lives() {
    lives(lives::secret()).await;
}

#[tokio::test]
async fn a_resource_quota_lives() {
    lives(lives::resource_quota()).await;
}

#[tokio::test]
async fn a_limit_range_lives() {
    lives(lives::limit_range()).await;
}

#[tokio::test]
async fn a_priority_class_lives() {
    lives(lives::priority_class()).await;
}

#[tokio::test]
async fn a_service_account_lives() {
    lives(lives::service_account()).await;
}

#[tokio::test]
async fn a_role_lives() {
    lives(lives::role()).await;
}

#[tokio::test]
async fn a_cluster_role_lives() {
    lives(lives::cluster_role()).await;
}

#[tokio::test]
async fn a_role_binding_lives() {
    lives(lives::role_binding()).await;
}

#[tokio::test]
async fn a_cluster_role_binding_lives() {
    lives(lives::cluster_role_binding()).await;
}

#[tokio::test]
async fn all_live_on_a_real_control_plane() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let real = Real::new(plane).await;
    for (number, life) in lives::all().into_iter().enumerate() {
        live_through(&real, life, &format!("typed-{number}")).await;
    }
}

const METADATA: &str = "metadata {\n name = \"a\"\n namespace = \"team-a\"\n labels = { team = \"a\" }\n}\n";

#[tokio::test]
async fn what_others_have_made_is_not_taken() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "1"}});
    world.other(Method::POST, "/api/v1/namespaces/team-a/configmaps", Some(map));
    let run = Run::new(&world, &configuration("kubernetes_config_map", METADATA)).await;
    let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
    let errors: Vec<&str> = diagnostics.iter().map(|error| error.summary.as_str()).collect();
    assert_eq!(errors, ["Object exists already"]);
}

#[tokio::test]
async fn an_immutable_map_is_made_anew_for_other_content() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let map = |rest: &str| configuration("kubernetes_config_map_v1", &format!("{METADATA}immutable = true\n{rest}"));
    let run = Run::new(&world, &map("data = { x = \"1\" }")).await;
    run.settle().await;
    let run = run.edited(&world, &map("data = { x = \"2\" }"));
    assert_eq!(run.settle().await, ["kubernetes_config_map_v1.x delete+create"]);
}

#[tokio::test]
async fn what_was_done_already_is_done_and_what_somebody_changed_is_not() {
    let world = World::new().await;
    world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "team-a"}})));
    let map = |value: &str| configuration("kubernetes_config_map", &format!("{METADATA}data = {{ x = \"{value}\" }}"));
    let run = Run::new(&world, &map("1")).await;
    run.settle().await;
    let state = run.snapshot().await;
    let (one, other) = (
        Run::with_state(&world, &map("2"), Some(state.clone())).await,
        Run::with_state(&world, &map("2"), Some(state.clone())).await,
    );
    let late = Run::with_state(&world, &map("3"), Some(state)).await;
    let (first, second) = (one.plan(PlanMode::Normal).await, other.plan(PlanMode::Normal).await);
    let third = late.plan(PlanMode::Normal).await;
    one.apply(first).await;
    other.apply(second).await;
    let error = late.try_apply(third).await;
    assert!(error.contains("somebody changed data"), "{error}");
}

#[tokio::test]
async fn rules_of_an_aggregated_role_are_kubernetes() {
    let world = World::new().await;
    let selector = "aggregation_rule {\n cluster_role_selectors {\n match_labels = { team = \"a\" }\n }\n}";
    let text = configuration("kubernetes_cluster_role", &format!("metadata {{\n name = \"a\"\n}}\n{selector}"));
    let run = Run::new(&world, &text).await;
    run.settle().await;
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    world.other(Method::PATCH, "/apis/rbac.authorization.k8s.io/v1/clusterroles/a", Some(rules));
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);
    assert_eq!(run.plan(PlanMode::RefreshOnly).await.drift, []);
}

#[tokio::test]
async fn data_sources_tell_what_there_is() {
    let world = World::new().await;
    world.other(
        Method::POST,
        "/api/v1/namespaces",
        Some(json!({"metadata": {"name": "team-a", "labels": {"t": "a"}}})),
    );
    let secret = json!({"metadata": {"name": "s"}, "data": {"token": "dGV4dA==", "raw": "/w=="}});
    world.other(Method::POST, "/api/v1/namespaces/team-a/secrets", Some(secret));
    let node = json!({"metadata": {"name": "n1", "labels": {"pool": "gpu"}}, "spec": {"podCIDR": "10.0.0.0/24"}});
    world.other(Method::POST, "/api/v1/nodes", Some(node));
    let text = r#"
        data "kubernetes_namespace" "n" {
          metadata {
            name = "team-a"
          }
        }
        data "kubernetes_secret" "s" {
          metadata {
            name      = "s"
            namespace = data.kubernetes_namespace.n.metadata[0].name
          }
        }
        data "kubernetes_config_map" "none" {
          metadata {
            name = "none"
          }
        }
        data "kubernetes_all_namespaces" "all" {}
        data "kubernetes_nodes" "gpu" {
          metadata {
            labels = { pool = "gpu" }
          }
        }
        data "kubernetes_service_account" "a" {
          metadata {
            name      = "default"
            namespace = "team-a"
          }
        }
        resource "kubernetes_config_map" "x" {
          metadata {
            name      = "told"
            namespace = "team-a"
          }
          data = {
            label  = data.kubernetes_namespace.n.metadata[0].labels["t"]
            raw    = nonsensitive(data.kubernetes_secret.s.binary_data["raw"])
            none   = data.kubernetes_config_map.none.data == null
            team   = contains(data.kubernetes_all_namespaces.all.namespaces, "team-a")
            cidr   = data.kubernetes_nodes.gpu.nodes[0].spec[0].pod_cidr
            mount  = data.kubernetes_service_account.a.automount_service_account_token
          }
        }
    "#;
    let run = Run::new(&world, text).await;
    let plan = run.plan(PlanMode::Normal).await;
    let secret = plan.changes.iter().find(|change| &*change.addr.ty == "kubernetes_secret").unwrap();
    assert!(secret.after.get("data").unwrap().contains_sensitive());
    assert!(secret.after.get("binary_data").unwrap().contains_sensitive());
    run.settle().await;
    let told = world.live("/api/v1/namespaces/team-a/configmaps/told").unwrap();
    let expected =
        json!({"label": "a", "raw": "/w==", "none": "true", "team": "true", "cidr": "10.0.0.0/24", "mount": "false"});
    assert_eq!(told["data"], expected);
}
