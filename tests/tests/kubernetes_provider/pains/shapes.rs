//! 40: manifests of every shape that the language has: no panic, and no difference where there is none.

use engine_model::plan::PlanMode;

use crate::site::{Site, everywhere, settle, unchanged};

const SHAPES: &str = r#"
    locals {
      env   = { A = "1", B = "2" }
      ports = [80, 443]
    }
    resource "kubernetes_manifest" "pod" {
      manifest = {
        apiVersion = "v1"
        kind       = "Pod"
        metadata   = { name = "shapes", namespace = "NAMESPACE", labels = merge(local.env, { C = null }) }
        spec = {
          nodeSelector = tomap({ "example.com/none" = "x" })
          containers = concat(
            [{
              name    = "a"
              image   = "a:1"
              command = tolist(["a", "b"])
              args    = []
              env     = [for name, value in local.env : { name = name, value = value }]
              ports   = [for port in local.ports : { containerPort = port, name = "p${port}" }]
            }],
            [{ name = "b", image = "b:1", env = [{ name = "X", value = tostring(1) }, { name = "Y", valueFrom = { fieldRef = { fieldPath = "metadata.name" } } }] }],
          )
          tolerations = toset(["a", "b"]) == toset([]) ? [] : [{ key = "a", operator = "Exists" }, { key = "b", value = "1", effect = "NoSchedule" }]
          volumes     = [{ name = "v", emptyDir = {} }, { name = "w", configMap = { name = "none", optional = true } }]
        }
      }
    }
    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "shapes", namespace = "NAMESPACE" }
        data       = { for name, value in local.env : lower(name) => value }
        binaryData = tomap({})
      }
    }
"#;

#[tokio::test]
async fn p40_manifests_of_every_shape_are_applied_and_stay() {
    everywhere(async |site: &Site| {
        let run = site.run(SHAPES).await;
        settle(&run).await;
        // Other types, the same object.
        let other = SHAPES.replace("tolist([\"a\", \"b\"])", "[\"a\", \"b\"]").replace("tomap({})", "{}");
        let run = run.then([site.provider(site.admin())], &site.named(&other));
        let plan = run.plan(PlanMode::Normal).await;
        for change in &plan.changes {
            assert_eq!(change.before.get("object"), change.after.get("object"), "{}", change.addr);
        }
        settle(&run).await;
        unchanged(&run).await;
    })
    .await;
}
