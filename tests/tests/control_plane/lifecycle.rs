//! Waiting, replacing and deleting, and charts, on the real thing: the words and the order of a real API server and of real
//! controllers.

use std::path::Path;
use std::sync::Arc;

use engine_plan::Providers;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams};
use providers_api::Provider;
use providers_kubernetes::{Environment, KubernetesProvider};
use serde_json::{Value as Json, json};
use tests::control_plane::{ControlPlane, wait_until};
use tests::helm::helm;
use tests::lab::Lab;
use tests::mock::world::World;

/// The engine with our provider, whose cluster is the real one.
fn lab(plane: &ControlPlane, helm: Option<&Path>) -> Lab {
    let kubeconfig = ("KUBE_CONFIG_PATH".to_owned(), plane.kubeconfig().display().to_string());
    let helm = helm.map(|helm| ("HELM_BIN".to_owned(), helm.display().to_string()));
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_provider/charts");
    let environment =
        Environment { variables: [kubeconfig].into_iter().chain(helm).collect(), directory, ..Environment::default() };
    let provider: Arc<dyn Provider> = Arc::new(KubernetesProvider::new(environment, None));
    Lab { providers: Providers::new([provider]), ..Lab::new(&World::default()) }
}

/// A resource of a manifest, with further blocks.
fn resource(name: &str, manifest: &Json, more: &str) -> String {
    format!("resource \"kubernetes_manifest\" \"{name}\" {{\n  manifest = {manifest}\n{more}\n}}\n")
}

fn pods_of(pods: &[Pod], image: &str) -> Vec<String> {
    let has = |pod: &&Pod| {
        let containers = pod.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default();
        containers.iter().any(|container| container.image.as_deref() == Some(image))
    };
    pods.iter().filter(has).filter_map(|pod| pod.metadata.name.clone()).collect()
}

/// Plays the kubelet for the pods of an image, once they are there.
async fn told(pods: &Api<Pod>, image: &str, status: &Json) {
    let mut names = Vec::new();
    wait_until("there are pods", async || {
        names = pods_of(&pods.list(&ListParams::default()).await.unwrap().items, image);
        !names.is_empty()
    })
    .await;
    for name in &names {
        let status = json!({"status": status});
        pods.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }
}

fn deployment(namespace: &str, image: &str) -> Json {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": image}]}}}})
}

const ROLLOUT: &str = "  wait {\n    rollout = true\n  }\n";

#[tokio::test]
async fn p36_a_roll_out_ends_with_a_new_pod_that_cannot_come_up_and_not_with_an_old_one() {
    let Some(plane) = ControlPlane::shared().await else { return };
    plane.namespace("p36-rollout").await;
    let pods: Api<Pod> = Api::namespaced(plane.client().await, "p36-rollout");
    let lab = lab(&plane, None);
    let config = |image: &str| resource("web", &deployment("p36-rollout", image), ROLLOUT);
    let failing = json!({"containerStatuses": [{"name": "main", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image: web:1: not found"}}}]});
    let first = config("web:1");
    let (run, ()) = tokio::join!(lab.apply(&first), told(&pods, "web:1", &failing));
    let words = run.words();
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(
        words[0].contains("Deployment p36-rollout/web to be ready failed: container main of pod web-"),
        "{words:?}"
    );
    assert!(words[0].contains("is in ImagePullBackOff"), "{words:?}");
    assert!(words[0].contains("Events of Deployment p36-rollout/web:\n  Normal ScalingReplicaSet"), "{words:?}");

    // The old pod goes on failing, and the new one comes up: that is a success.
    let running = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "main", "image": "i", "imageID": "", "ready": true, "restartCount": 0,
            "state": {"running": {}}}]});
    let second = config("web:2");
    let (run, ()) = tokio::join!(lab.apply(&second), told(&pods, "web:2", &running));
    run.assert_done("the repair");
    lab.assert_settled(&second, "the repair").await;
    let third = config("web:3");
    let (run, ()) = tokio::join!(lab.apply(&third), told(&pods, "web:3", &running));
    run.assert_done("an update");
    lab.destroy(&third).await.assert_done("destroy");
}

/// kubernetes#60807: "Terminating", for ever, and nobody says why.
#[tokio::test]
async fn p37_a_namespace_that_does_not_go_names_what_is_left_in_it() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let lab = lab(&plane, None);
    let config = "resource \"kubernetes_namespace\" \"n\" {\n  metadata {\n    name = \"p37-stuck\"\n  }\n  timeouts {\n    delete = \"25s\"\n  }\n}\n";
    lab.apply(config).await.assert_done("the first apply");
    let maps: Api<ConfigMap> = Api::namespaced(plane.client().await, "p37-stuck");
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["acme.example.com/clean"]}});
    let manager = PatchParams::apply("acme-controller");
    maps.patch("held", &manager, &Patch::Apply(held)).await.unwrap();
    let words = lab.destroy(config).await.words();
    assert_eq!(words.len(), 1, "{words:?}");
    for expected in
        ["waited 25 s for Namespace p37-stuck to be gone", "acme.example.com/clean", "configmaps: p37-stuck/held"]
    {
        assert!(words[0].to_lowercase().contains(&expected.to_lowercase()), "{expected}: {words:?}");
    }
    // A second run goes on waiting, and is done as soon as somebody lets go.
    let free = async {
        let none = json!({"metadata": {"finalizers": null}});
        maps.patch("held", &PatchParams::default(), &Patch::Merge(none)).await.unwrap();
    };
    let (run, ()) = tokio::join!(lab.destroy(config), free);
    run.assert_done("the second destroy");
}

/// H#1297: a chart's objects and their drift, with a real Helm and a real API server.
#[tokio::test]
async fn p42_a_charts_objects_are_planned_one_by_one_and_their_drift_is_seen() {
    let (Some(plane), Some(helm)) = (ControlPlane::shared().await, helm()) else { return };
    plane.namespace("p42").await;
    let lab = lab(&plane, Some(&helm));
    let config = |level: &str| {
        format!(
            "data \"kubernetes_helm_template\" \"shop\" {{\n  name = \"p42\"\n  chart = \"demo\"\n  namespace = \"p42\"\n  values = [jsonencode({{ \
             tag = \"1\", level = \"{level}\", replicas = 0 }})]\n  set_sensitive {{\n    name = \"password\"\n    value = \
             \"hunter2\"\n  }}\n}}\nresource \"kubernetes_manifest\" \"definition\" {{\n  for_each = \
             data.kubernetes_helm_template.shop.crds\n  manifest = each.value\n}}\nresource \"kubernetes_manifest\" \"object\" {{\n  \
             for_each = data.kubernetes_helm_template.shop.manifests\n  depends_on = [kubernetes_manifest.definition]\n  manifest = each.value\n  field_manager {{\n    force_conflicts = true\n  }}\n}}\n"
        )
    };
    lab.apply(&config("info")).await.assert_done("the first apply");
    lab.assert_settled(&config("info"), "the first apply").await;
    let map = "kubernetes_manifest.object[\"ConfigMap/p42/p42-config\"]";
    let changes = lab.plan(&config("debug")).await.changes();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(
        changes[0].starts_with(&format!("update {map} (configuration ")) && changes[0].contains("level"),
        "{changes:?}"
    );
    lab.apply(&config("debug")).await.assert_done("another value");

    let maps: Api<ConfigMap> = Api::namespaced(plane.client().await, "p42");
    let by_hand = json!({"data": {"level": "trace"}});
    maps.patch("p42-config", &PatchParams::default(), &Patch::Merge(by_hand)).await.unwrap();
    let draft = lab.plan(&config("debug")).await;
    let changes = draft.changes();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(changes[0].starts_with(&format!("update {map} (drift ")), "{changes:?}");
    lab.apply(&config("debug")).await.assert_done("put right again");
    lab.destroy(&config("debug")).await.assert_done("destroy");
}
