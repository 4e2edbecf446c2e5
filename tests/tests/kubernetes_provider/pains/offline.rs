//! 32: a cluster that does not exist yet.

use std::sync::Arc;

use engine_model::plan::PlanMode;
use providers_api::Provider;
use providers_kubernetes::{Environment, KubernetesProvider};
use providers_terraform::Terraform;
use serde_json::json;

use crate::run::Run;
use crate::site::{Site, change, errors, everywhere, planned, unchanged};

const CONFIGURATION: &str = r#"
    resource "terraform_data" "cluster" {
      input = "KUBECONFIG"
    }
    provider "kubernetes" {
      config_path = terraform_data.cluster.output
    }
    resource "kubernetes_manifest" "namespace" {
      manifest = { apiVersion = "v1", kind = "Namespace", metadata = { name = "NAMESPACE-new" } }
    }
    resource "kubernetes_manifest" "web" {
      manifest = {
        apiVersion = "apps/v1"
        kind       = "Deployment"
        metadata   = { name = "web", namespace = "NAMESPACE-new" }
        spec = {
          replicas = 1
          selector = { matchLabels = { app = "web" } }
          template = {
            metadata = { labels = { app = "web" } }
            spec     = { containers = [{ name = "web", image = "web:1", resources = { requests = { cpu = "1000m" } } }] }
          }
        }
      }
    }
"#;

/// Providers that nothing but their configuration leads to a cluster.
async fn run(site: &Site, text: &str) -> Run {
    let kubernetes: Arc<dyn Provider> = Arc::new(KubernetesProvider::new(Environment::default(), None));
    let terraform: Arc<dyn Provider> = Arc::new(Terraform::new("/".into()));
    let text = site.named(text).replace("KUBECONFIG", &site.admin().display().to_string());
    Run::with([kubernetes, terraform], &text).await
}

#[tokio::test]
async fn p32_what_goes_into_a_cluster_to_come_is_planned_and_applied() {
    everywhere(async |site: &Site| {
        let run = run(site, CONFIGURATION).await;
        let plan = run.plan(PlanMode::Normal).await;
        let web = change(&plan, "web").unverified.clone().unwrap();
        assert!(web.contains("config_path is known only after apply"), "{web}");
        assert_eq!(planned(&plan, "web", "/spec/replicas"), json!(1));
        let requests = "/spec/template/spec/containers/0/resources/requests/cpu";
        assert_eq!(planned(&plan, "web", requests), json!("1"), "as the server will spell it");
        run.apply(plan).await;
        unchanged(&run).await;
    })
    .await;
}

#[tokio::test]
async fn p32_what_is_wrong_is_told_before_the_cluster_is_there() {
    everywhere(async |site: &Site| {
        for (from, to, expected) in [
            ("replicas = 1", "replicas = \"one\"", "spec.replicas: It must be a whole number, and is text."),
            ("replicas = 1", "replcas = 1", "spec.replcas: There is no such field."),
            (
                "\"1000m\"",
                "\"1000mm\"",
                "spec.template.spec.containers[0].resources.requests.cpu: It must be a quantity.",
            ),
        ] {
            let run = run(site, &CONFIGURATION.replace(from, to)).await;
            let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
            let what = site.named("Deployment NAMESPACE-new/web is invalid: ");
            assert_eq!(errors(&diagnostics), [format!("{what}{expected}")], "{to}");
        }
    })
    .await;
}
