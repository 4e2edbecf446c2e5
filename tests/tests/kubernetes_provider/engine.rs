//! From a configuration through plan and apply: what the engine and the provider do together.

use engine_model::plan::PlanMode;
use http::Method;
use state::Store;

use crate::{
    run::{Run, actions},
    world::World,
};

const CONFIGURATION: &str = r#"
    variable "password" {
      sensitive = true
    }

    resource "kubernetes_namespace" "team" {
      metadata {
        name   = "team-a"
        labels = { team = "a" }
      }
    }

    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "settings", namespace = kubernetes_namespace.team.metadata[0].name }
        data       = { uid = kubernetes_namespace.team.metadata[0].uid, hint = var.password }
      }
    }

    resource "kubernetes_manifest" "secret" {
      manifest = {
        apiVersion = "v1"
        kind       = "Secret"
        metadata   = { name = "login", namespace = kubernetes_namespace.team.id }
        stringData = { token = "plain-token" }
      }
    }

    resource "kubernetes_manifest" "definition" {
      manifest = {
        apiVersion = "apiextensions.k8s.io/v1"
        kind       = "CustomResourceDefinition"
        metadata   = { name = "widgets.example.com" }
        spec = {
          group = "example.com"
          scope = "Cluster"
          names = { plural = "widgets", singular = "widget", kind = "Widget", listKind = "WidgetList" }
          versions = [{
            name    = "v1"
            served  = true
            storage = true
            schema = { openAPIV3Schema = {
              type       = "object"
              properties = { spec = { type = "object", properties = { size = { type = "integer" } } } }
            } }
          }]
        }
      }
    }

    resource "kubernetes_manifest" "widget" {
      depends_on = [kubernetes_manifest.definition]
      manifest = {
        apiVersion = "example.com/v1"
        kind       = "Widget"
        metadata   = { name = "w" }
        spec       = { size = 3 }
      }
    }
"#;

#[tokio::test]
async fn a_configuration_is_applied_changes_nothing_twice_and_is_given_back() {
    let world = World::new().await;
    let run = Run::new(&world, CONFIGURATION).await;
    let first = run.plan(PlanMode::Normal).await;
    assert_eq!(
        actions(&first),
        [
            "kubernetes_manifest.definition create",
            "kubernetes_manifest.map create",
            "kubernetes_manifest.secret create",
            "kubernetes_manifest.widget create",
            "kubernetes_namespace.team create",
        ]
    );
    let secret = first.changes.iter().find(|change| &*change.addr.name == "secret").unwrap();
    let data = |attribute: &str, part: &str| secret.after.get(attribute).unwrap().get(part).unwrap().clone();
    assert!(data("manifest", "stringData").marks.sensitive && data("object", "data").marks.sensitive);

    run.apply(first).await;
    let map = world.live("/api/v1/namespaces/team-a/configmaps/settings").unwrap();
    assert_eq!(map["data"]["uid"], world.live("/api/v1/namespaces/team-a").unwrap()["metadata"]["uid"]);
    let second = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&second), [""; 0]);
    // The plan of `object` was not known, so that the mark is the one that the state has kept.
    let map = second.changes.iter().find(|change| &*change.addr.name == "map").unwrap();
    for attribute in ["manifest", "object"] {
        let data = map.before.get(attribute).unwrap().get("data").unwrap();
        assert!(data.get("hint").unwrap().marks.sensitive, "{attribute} tells a secret");
        assert!(!data.get("uid").unwrap().contains_sensitive(), "{attribute} hides what is no secret");
    }
    let refreshed = run.plan(PlanMode::RefreshOnly).await;
    assert_eq!(refreshed.drift, [], "a drift run right after it is clean");

    world.other(Method::DELETE, "/apis/example.com/v1/widgets/w", None);
    let repair = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&repair), ["kubernetes_manifest.widget create"]);
    run.apply(repair).await;
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);

    run.apply(run.plan(PlanMode::Destroy).await).await;
    for path in
        ["/api/v1/namespaces/team-a", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"]
    {
        assert_eq!(world.live(path), None, "{path}");
    }
    let left = run.store.load().await.unwrap().fold().unwrap().unwrap();
    assert_eq!(left.resources().len(), 0);
}
