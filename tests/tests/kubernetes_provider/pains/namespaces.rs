//! 43: a namespace and what lies in it in one plan.

use engine_model::plan::PlanMode;
use serde_json::json;

use crate::site::{Site, change, errors, everywhere, planned, settle};

fn configuration(port: &str) -> String {
    r#"
    resource "kubernetes_manifest" "namespace" {
      manifest = { apiVersion = "v1", kind = "Namespace", metadata = { name = "NAMESPACE-later" } }
    }
    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "settings", namespace = "NAMESPACE-later" }
        data       = { mode = "fast" }
      }
    }
    resource "kubernetes_manifest" "web" {
      manifest = {
        apiVersion = "apps/v1"
        kind       = "Deployment"
        metadata   = { name = "web", namespace = "NAMESPACE-later" }
        spec = {
          selector = { matchLabels = { app = "web" } }
          template = {
            metadata = { labels = { app = "web" } }
            spec     = { containers = [{ name = "web", image = "web:1", ports = [PORT] }] }
          }
        }
      }
    }
    "#
    .replace("PORT", port)
}

#[tokio::test]
async fn p43_a_namespace_and_what_lies_in_it_come_in_one_plan() {
    everywhere(async |site: &Site| {
        // Nothing says that the one depends on the other.
        let run = site.run(&configuration("{ containerPort = 80, name = \"http\" }")).await;
        let plan = run.plan(PlanMode::Normal).await;
        let why = site.named("namespace NAMESPACE-later is created in this plan");
        for name in ["map", "web"] {
            assert_eq!(change(&plan, name).unverified.as_deref(), Some(why.as_str()), "{name}");
        }
        assert_eq!(planned(&plan, "map", "/data"), json!({"mode": "fast"}));
        let port = planned(&plan, "web", "/spec/template/spec/containers/0/ports/0");
        assert_eq!(port, json!({"containerPort": 80, "name": "http"}));
        settle(&run).await;
        run.apply(run.plan(PlanMode::Destroy).await).await;
    })
    .await;
}

#[tokio::test]
async fn p43_what_is_wrong_in_a_namespace_to_come_is_told() {
    everywhere(async |site: &Site| {
        let run = site.run(&configuration("{ containerPort = 80, hostPrt = 8080 }")).await;
        let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
        let found = errors(&diagnostics);
        // Where the server looks at fields before it looks for the namespace, these are its words.
        assert!(found.len() == 1 && found[0].contains("hostPrt: "), "{found:?}");
        assert!(diagnostics.0.iter().all(|one| one.span.is_some()));
    })
    .await;
}
