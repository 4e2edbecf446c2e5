//! 33 and 34: what the server and others make of an object is no drift.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::json;

use crate::run::actions;
use crate::site::{Site, everywhere, settle, unchanged};

const WEB: &str = r#"
    resource "kubernetes_manifest" "web" {
      manifest = {
        apiVersion = "apps/v1"
        kind       = "Deployment"
        metadata   = { name = "web", namespace = "NAMESPACE", labels = {}, annotations = null }
        spec = {
          replicas = 0
          selector = { matchLabels = { app = "web" } }
          template = {
            metadata = { labels = { app = "web" }, annotations = {}, creationTimestamp = null }
            spec = { containers = [{
              name      = "web"
              image     = "web:1"
              ports     = [{ containerPort = 80 }, { containerPort = 53, protocol = "UDP" }]
              env       = [{ name = "A", value = "1" }, { name = "B", valueFrom = { fieldRef = { fieldPath = "metadata.name" } } }]
              resources = { requests = { cpu = "1000m", memory = "1024Mi" }, limits = { cpu = 2, memory = "2048Mi" } }
              livenessProbe = { httpGet = { path = "/", port = 80 } }
            }] }
          }
        }
      }
    }
    resource "kubernetes_manifest" "quota" {
      manifest = {
        apiVersion = "v1"
        kind       = "ResourceQuota"
        metadata   = { name = "web", namespace = "NAMESPACE", annotations = {} }
        spec       = { hard = { "requests.cpu" = "64000m", "requests.memory" = 1073741824, pods = "100" } }
      }
    }
"#;

const PATH: &str = "/apis/apps/v1/namespaces/NAMESPACE/deployments/web";

#[tokio::test]
async fn p33_what_the_server_makes_of_an_object_is_no_drift() {
    everywhere(async |site: &Site| {
        let limits = json!({"metadata": {"name": "defaults"}, "spec": {"limits": [
            {"type": "Container", "default": {"cpu": "3", "memory": "3Gi"}, "defaultRequest": {"cpu": "1"}}]}});
        site.other(Method::POST, &site.named("/api/v1/namespaces/NAMESPACE/limitranges"), Some(limits)).await;
        let run = site.run(WEB).await;
        settle(&run).await;
        let requests = "/spec/template/spec/containers/0/resources/requests/cpu";
        assert_eq!(
            site.live(&site.named(PATH)).await.unwrap().pointer(requests),
            Some(&json!("1")),
            "it is spelled anew"
        );
    })
    .await;
}

#[tokio::test]
async fn p33_equal_spellings_are_no_change() {
    everywhere(async |site: &Site| {
        let run = site.run(WEB).await;
        settle(&run).await;
        let other = WEB
            .replace("cpu = \"1000m\", memory = \"1024Mi\"", "cpu = 1, memory = \"1Gi\"")
            .replace("cpu = 2,", "cpu = \"2000m\",");
        let run = run.then([site.provider(site.admin())], &site.named(&other));
        let plan = run.plan(PlanMode::Normal).await;
        // What the configuration says is another text, and is stored; the object stays as it is.
        for change in &plan.changes {
            assert_eq!(change.before.get("object"), change.after.get("object"), "{}", change.addr);
        }
        settle(&run).await;
    })
    .await;
}

#[tokio::test]
async fn p34_what_others_write_beside_our_fields_is_no_drift_and_stays() {
    everywhere(async |site: &Site| {
        let run = site.run(WEB).await;
        settle(&run).await;
        let path = site.named(PATH);
        let foreign = json!({"metadata": {"annotations": {"example.com/seen": "yes"}, "labels": {"team": "a"}},
            "spec": {"template": {"metadata": {"annotations": {"example.com/restarted": "now"}}}}});
        site.other(Method::PATCH, &path, Some(foreign)).await;
        unchanged(&run).await;

        let run = run.then([site.provider(site.admin())], &site.named(&WEB.replace("web:1", "web:2")));
        assert_eq!(actions(&run.plan(PlanMode::Normal).await), ["kubernetes_manifest.web update"]);
        settle(&run).await;
        let live = site.live(&path).await.unwrap();
        assert_eq!(live["metadata"]["annotations"]["example.com/seen"], "yes");
        assert_eq!(live["spec"]["template"]["metadata"]["annotations"]["example.com/restarted"], "now");
        assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "web:2");

        // What they take away again does not come back through us.
        let foreign = json!({"metadata": {"annotations": {"example.com/seen": null}}});
        site.other(Method::PATCH, &path, Some(foreign)).await;
        let run = run.then([site.provider(site.admin())], &site.named(&WEB.replace("web:1", "web:3")));
        settle(&run).await;
        assert_eq!(site.live(&path).await.unwrap()["metadata"]["annotations"].get("example.com/seen"), None);
    })
    .await;
}
