//! 31: a definition and its objects in one apply.

use engine_model::plan::PlanMode;
use serde_json::json;

use crate::site::{Site, change, errors, everywhere, planned, settle};

const DEFINITION: &str = r#"
    resource "kubernetes_manifest" "definition" {
      manifest = {
        apiVersion = "apiextensions.k8s.io/v1"
        kind       = "CustomResourceDefinition"
        metadata   = { name = "gadgets.NAMESPACE.example.com" }
        spec = {
          group = "NAMESPACE.example.com"
          scope = "Namespaced"
          names = { plural = "gadgets", singular = "gadget", kind = "Gadget", listKind = "GadgetList" }
          versions = [{
            name    = "v1"
            served  = true
            storage = true
            schema = { openAPIV3Schema = {
              type = "object"
              properties = { spec = {
                type       = "object"
                required   = ["size"]
                properties = {
                  size  = { type = "integer", minimum = 1 }
                  mode  = { type = "string", enum = ["fast", "slow"], default = "slow" }
                  parts = { type = "array", items = {
                    type       = "object"
                    properties = { name = { type = "string" }, count = { type = "integer", default = 1 } }
                  } }
                  limits = {
                    type       = "object"
                    properties = { low = { type = "integer" }, high = { type = "integer" } }
                    x-kubernetes-validations = [{ rule = "self.low <= self.high", message = "low must not exceed high" }]
                  }
                }
              } }
            } }
          }]
        }
      }
    }
"#;

fn gadget(spec: &str) -> String {
    format!(
        "{DEFINITION}\n    resource \"kubernetes_manifest\" \"gadget\" {{\n      manifest = {{\n        \
         apiVersion = \"NAMESPACE.example.com/v1\"\n        kind = \"Gadget\"\n        \
         metadata = {{ name = \"g\", namespace = \"NAMESPACE\" }}\n        spec = {spec}\n      }}\n    }}\n"
    )
}

#[tokio::test]
async fn p31_a_definition_and_its_objects_come_in_one_plan() {
    everywhere(async |site: &Site| {
        // Nothing says that the one depends on the other.
        let run = site.run(&gadget(r#"{ size = 3, parts = [{ name = "a" }] }"#)).await;
        let plan = run.plan(PlanMode::Normal).await;
        let why = site.named("CustomResourceDefinition gadgets.NAMESPACE.example.com is created in this plan");
        assert_eq!(change(&plan, "gadget").unverified.as_deref(), Some(why.as_str()));
        assert_eq!(planned(&plan, "gadget", "/spec"), json!({"size": 3, "parts": [{"name": "a", "count": 1}]}));
        settle(&run).await;
        let path = site.named("/apis/NAMESPACE.example.com/v1/namespaces/NAMESPACE/gadgets/g");
        assert_eq!(site.live(&path).await.unwrap()["spec"]["mode"], "slow");
        run.apply(run.plan(PlanMode::Destroy).await).await;
        assert_eq!(site.live(&path).await, None);
    })
    .await;
}

#[tokio::test]
async fn p31_what_a_definition_of_the_same_plan_forbids_is_told_at_its_place() {
    everywhere(async |site: &Site| {
        for (spec, expected) in [
            ("{ size = 0 }", "spec.size: It must be at least 1."),
            ("{ mode = \"fast\" }", "spec: Size must be there."),
            ("{ size = 1, mode = \"fest\" }", "spec.mode: It must be one of \"fast\", \"slow\"."),
            ("{ size = 1, siz = 2 }", "spec.siz: There is no such field."),
            ("{ size = 1, limits = { low = 3, high = 2 } }", "spec.limits: Low must not exceed high."),
        ] {
            let run = site.run(&gadget(spec)).await;
            let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
            let what = site.named("Gadget NAMESPACE/g is invalid: ");
            assert_eq!(errors(&diagnostics), [format!("{what}{expected}")], "{spec}");
            assert!(diagnostics.0.iter().all(|one| one.span.is_some()));
        }
    })
    .await;
}

#[tokio::test]
async fn p31_a_definition_and_its_objects_change_in_one_plan() {
    everywhere(async |site: &Site| {
        let run = site.run(&gadget("{ size = 3 }")).await;
        settle(&run).await;
        let wider = gadget("{ size = 3, colour = \"red\" }")
            .replace("size  = {", "colour = { type = \"string\" }\n                  size  = {");
        let run = run.then([site.provider(site.admin())], &site.named(&wider));
        let plan = run.plan(PlanMode::Normal).await;
        let why = site.named("CustomResourceDefinition gadgets.NAMESPACE.example.com is changed in this plan");
        assert_eq!(change(&plan, "gadget").unverified.as_deref(), Some(why.as_str()));
        assert_eq!(planned(&plan, "gadget", "/spec/colour"), json!("red"));
        settle(&run).await;
    })
    .await;
}
