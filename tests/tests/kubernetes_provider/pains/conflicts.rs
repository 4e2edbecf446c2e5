//! 35: fields that other managers own.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::json;

use crate::run::actions;
use crate::site::{Site, errors, everywhere, settle};

fn map(data: &str, manager: &str) -> String {
    r#"
    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "settings", namespace = "NAMESPACE" }
        data       = DATA
      }
      MANAGER
    }
    "#
    .replace("DATA", data)
    .replace("MANAGER", manager)
}

const FORCE: &str = "field_manager { force_conflicts = true }";
const PATH: &str = "/api/v1/namespaces/NAMESPACE/configmaps/settings";

#[tokio::test]
async fn p35_a_conflict_is_told_at_plan_with_its_owner_and_can_be_taken() {
    everywhere(async |site: &Site| {
        let run = site.run(&map(r#"{ mode = "fast" }"#, "")).await;
        settle(&run).await;
        let path = site.named(PATH);
        site.other(Method::PATCH, &path, Some(json!({"data": {"mode": "slow"}}))).await;
        let (_, diagnostics) = run.try_plan(PlanMode::Normal).await;
        let found = errors(&diagnostics);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("Field owned by another manager: data.mode of ConfigMap "), "{found:?}");
        assert!(found[0].contains("\"somebody\""), "{found:?}");
        assert!(diagnostics.0.iter().all(|one| one.span.is_some()));

        let run = run.then([site.provider(site.admin())], &site.named(&map(r#"{ mode = "fast" }"#, FORCE)));
        settle(&run).await;
        assert_eq!(site.live(&path).await.unwrap()["data"]["mode"], "fast");
    })
    .await;
}

#[tokio::test]
async fn p35_the_wish_to_take_fields_is_no_change_by_itself() {
    everywhere(async |site: &Site| {
        let run = site.run(&map(r#"{ mode = "fast" }"#, "")).await;
        settle(&run).await;
        let run = run.then([site.provider(site.admin())], &site.named(&map(r#"{ mode = "fast" }"#, FORCE)));
        assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);
        let run = run.then([site.provider(site.admin())], &site.named(&map(r#"{ mode = "slow" }"#, FORCE)));
        settle(&run).await;
        let run = run.then([site.provider(site.admin())], &site.named(&map(r#"{ mode = "slow" }"#, "")));
        assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn p35_a_field_that_is_given_up_is_gone() {
    everywhere(async |site: &Site| {
        let run = site.run(&map(r#"{ mode = "fast", old = "1" }"#, "")).await;
        settle(&run).await;
        let run = run.then([site.provider(site.admin())], &site.named(&map(r#"{ mode = "fast" }"#, "")));
        settle(&run).await;
        assert_eq!(site.live(&site.named(PATH)).await.unwrap()["data"], json!({"mode": "fast"}));
    })
    .await;
}
