//! `plan` writes nothing, by the audit log of a real API server: every request of it reads, asks for show, or asks what it
//! may do. (Of pools and quotas it is shown where there is a fleet: `tests/fleet`.)

use std::collections::BTreeSet;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tests::command::Desk;
use tests::control_plane::ControlPlane;

const HEAD: &str = r#"
terraform {
  required_providers {
    kubernetes = { source = "sliceform/kubernetes" }
  }
}
locals {
  map  = { apiVersion = "v1", kind = "ConfigMap" }
  here = "plan-only"
}
variable "force" {
  type    = bool
  default = true
}
"#;

const BEFORE: &str = r#"
resource "kubernetes_manifest" "kept" {
  manifest = merge(local.map, { metadata = { name = "kept", namespace = local.here }, data = { a = "1" } })
}
resource "kubernetes_manifest" "changed" {
  manifest = merge(local.map, { metadata = { name = "changed", namespace = local.here }, data = { a = "1" } })
}
resource "kubernetes_manifest" "taken" {
  manifest = merge(local.map, { metadata = { name = "taken", namespace = local.here }, data = { a = "1" } })
}
resource "kubernetes_manifest" "fixed" {
  manifest = merge(local.map, { metadata = { name = "fixed", namespace = local.here }, data = { a = "1" }, immutable = true })
}
resource "kubernetes_manifest" "removed" {
  manifest = merge(local.map, { metadata = { name = "removed", namespace = local.here }, data = { a = "1" } })
}
resource "kubernetes_manifest" "web" {
  manifest = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = local.here }
    spec = {
      replicas = 0
      selector = { matchLabels = { app = "web" } }
      template = {
        metadata = { labels = { app = "web" } }
        spec     = { containers = [{ name = "web", image = "example.com/web:1" }] }
      }
    }
  }
}
resource "kubernetes_config_map" "typed" {
  metadata {
    name      = "typed"
    namespace = local.here
  }
  data = { a = "1" }
}
resource "kubernetes_secret" "typed" {
  metadata {
    name      = "typed"
    namespace = local.here
  }
  type = "example.com/one"
  data = { a = "1" }
}
resource "kubernetes_labels" "part" {
  api_version = "v1"
  kind        = "Namespace"
  metadata {
    name = local.here
  }
  labels = { a = "1" }
}
"#;

/// What differs from [`BEFORE`], in place of the text before it.
const CHANGES: [(&str, &str); 8] = [
    (
        r#"name = "changed", namespace = local.here }, data = { a = "1" }"#,
        r#"name = "changed", namespace = local.here }, data = { a = "2" }"#,
    ),
    (
        r#"name = "taken", namespace = local.here }, data = { a = "1" } })"#,
        r#"name = "taken", namespace = local.here }, data = { a = "3" } })
  field_manager { force_conflicts = var.force }"#,
    ),
    (
        r#"name = "fixed", namespace = local.here }, data = { a = "1" }"#,
        r#"name = "fixed", namespace = local.here }, data = { a = "2" }"#,
    ),
    (r#"manifest" "removed""#, r#"manifest" "renamed""#),
    ("replicas = 0", "replicas = 1"),
    (
        "data = { a = \"1\" }\n}\nresource \"kubernetes_secret\"",
        "data = { a = \"2\" }\n}\nresource \"kubernetes_secret\"",
    ),
    ("example.com/one", "example.com/two"),
    ("labels = { a = \"1\" }", "labels = { a = \"2\" }"),
];

/// What there was nothing of before.
const MORE: &str = r#"
resource "kubernetes_namespace" "new" {
  metadata {
    name = "plan-only-new"
  }
}
resource "kubernetes_manifest" "in_new" {
  manifest = merge(local.map, { metadata = { name = "a", namespace = "plan-only-new" }, data = { a = "1" } })
}
resource "kubernetes_manifest" "definition" {
  manifest = {
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata   = { name = "widgets.plan-only.example.com" }
    spec = {
      group = "plan-only.example.com"
      scope = "Namespaced"
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
  manifest = {
    apiVersion = "plan-only.example.com/v1"
    kind       = "Widget"
    metadata   = { name = "w", namespace = local.here }
    spec       = { size = 1 }
  }
}
resource "kubernetes_role" "typed" {
  metadata {
    name      = "typed"
    namespace = local.here
  }
  rule {
    api_groups = [""]
    resources  = ["pods"]
    verbs      = ["get"]
  }
}
data "kubernetes_resources" "maps" {
  api_version = "v1"
  kind        = "ConfigMap"
  namespace   = local.here
}
output "maps" {
  value = length(data.kubernetes_resources.maps.objects)
}
"#;

fn after() -> String {
    let changed = CHANGES.iter().fold(BEFORE.to_owned(), |text, (before, after)| {
        assert_eq!(text.matches(before).count(), 1, "{before}");
        text.replace(before, after)
    });
    format!("{HEAD}{changed}{MORE}")
}

async fn patch(client: &Client, path: &str, body: Value) {
    let request =
        Request::patch(format!("{path}?fieldManager=somebody")).header("content-type", "application/merge-patch+json");
    client.request::<Value>(request.body(body.to_string().into_bytes()).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_plan_of_whatever_kind_writes_nothing() {
    let Some(plane) = ControlPlane::shared().await else { return };
    plane.namespace("plan-only").await;
    let maker = plane.user("plan-only-maker", &["system:masters"]).await;
    let planner = plane.user("plan-only-planner", &["system:masters"]).await;
    let desk = Desk::new();
    desk.write("main.tf", &format!("{HEAD}{BEFORE}"));
    desk.run(&maker, &["apply", "-auto-approve"]).await.check(0);
    let path = "/api/v1/namespaces/plan-only/configmaps/taken";
    patch(&plane.client().await, path, json!({"data": {"a": "2"}})).await;
    desk.write("main.tf", &after());

    let taken = desk.run(&planner, &["plan", "-var=force=false"]).await.check(1);
    assert!(taken.contains("somebody"), "{taken}");
    let changes = desk.run(&planner, &["plan", "-detailed-exitcode", "-out=p"]).await.check(2);
    for what in [
        "kubernetes_manifest.changed will be updated",
        "kubernetes_manifest.taken will be updated",
        "kubernetes_manifest.fixed must be replaced",
        "kubernetes_manifest.removed will be destroyed",
        "kubernetes_manifest.renamed",
        "kubernetes_manifest.web will be updated",
        "kubernetes_manifest.in_new will be created",
        "kubernetes_manifest.widget will be created",
        "kubernetes_config_map.typed will be updated",
        "kubernetes_secret.typed must be replaced",
        "kubernetes_labels.part will be updated",
        "kubernetes_role.typed will be created",
    ] {
        assert!(changes.contains(what), "{what} is not planned:\n{changes}");
    }
    desk.run(&planner, &["plan", "-refresh-only"]).await.check(0);
    desk.run(&planner, &["plan", "-destroy"]).await.check(0);
    desk.run(&planner, &["plan", "-refresh=false"]).await.check(0);

    let requests = plane.requests_of("plan-only-planner");
    let writes: Vec<_> = requests.iter().filter(|request| request.is_write()).collect();
    assert!(writes.is_empty(), "{writes:#?}");
    // The kinds of requests that a plan is made of were there.
    let asked: BTreeSet<(&str, &str)> = requests.iter().map(|one| (one.verb.as_str(), one.resource.as_str())).collect();
    for expected in [
        ("patch", "configmaps"),
        ("patch", "deployments"),
        ("patch", "secrets"),
        ("patch", "customresourcedefinitions"),
        ("patch", "namespaces"),
        ("patch", "roles"),
        ("list", "configmaps"),
        ("create", "selfsubjectaccessreviews"),
    ] {
        assert!(asked.contains(&expected), "{expected:?} is not among {asked:?}");
    }
}
