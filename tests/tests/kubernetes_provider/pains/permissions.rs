//! 38: who may do little needs little; and what an apply will lack is told.

use engine_model::plan::PlanMode;

use crate::site::{Site, change, everywhere, settle, unchanged};

const MAP: &str = r#"
    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "settings", namespace = "NAMESPACE" }
        data       = { mode = "fast" }
      }
    }
"#;

#[tokio::test]
async fn p38_a_config_map_needs_no_rights_but_on_config_maps() {
    everywhere(async |site: &Site| {
        let user = site.limited(&[
            ("", "configmaps", &["get", "list", "watch", "create", "patch", "delete"]),
            ("", "namespaces", &["get"]),
        ]);
        let run = site.run_as(&user.await, MAP).await;
        settle(&run).await;
        run.apply(run.plan(PlanMode::Destroy).await).await;
    })
    .await;
}

#[tokio::test]
async fn p38_who_may_only_read_can_plan_and_is_told_what_the_apply_will_lack() {
    everywhere(async |site: &Site| {
        let run = site.run(MAP).await;
        settle(&run).await;
        let user = site.limited(&[("", "configmaps", &["get", "list"]), ("", "namespaces", &["get"])]).await;
        let run = run.then([site.provider(&user)], &site.named(MAP));
        unchanged(&run).await;
        let run = run.then([site.provider(&user)], &site.named(&MAP.replace("fast", "slow")));
        let plan = run.plan(PlanMode::Normal).await;
        let why = change(&plan, "map").unverified.clone().unwrap();
        assert_eq!(why, site.named("this identity may not apply ConfigMap NAMESPACE/settings, not even for show"));
        let lacks: Vec<&str> = plan.review.findings.iter().map(|finding| finding.detail.as_str()).collect();
        let expected = site.named("ConfigMap NAMESPACE/settings is to be updated, and this identity may not patch configmaps in namespace NAMESPACE.");
        assert_eq!(lacks, [expected]);
        assert!(plan.review.findings[0].places[0].1.source.is_some());
    })
    .await;
}
