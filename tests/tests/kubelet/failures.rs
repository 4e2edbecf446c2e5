//! Workloads whose containers crash: the wait for them ends, and says what Kubernetes and the containers said last.

use std::sync::Arc;

use engine_plan::Providers;
use providers_api::Provider;
use providers_kubernetes::{Environment, KubernetesProvider};
use serde_json::{Value, json};
use tests::{control_plane::ControlPlane, lab::Lab, mock::world::World};

use crate::{NAMESPACE, node};

/// The engine with our provider on this control plane.
fn lab(plane: &ControlPlane) -> Lab {
    let kubeconfig = ("KUBE_CONFIG_PATH".to_owned(), plane.kubeconfig().display().to_string());
    let environment = Environment { variables: [kubeconfig].into(), ..Environment::default() };
    let provider: Arc<dyn Provider> = Arc::new(KubernetesProvider::new(environment, None));
    Lab { providers: Providers::new([provider]), ..Lab::new(&World::default()) }
}

/// A container that writes a few lines, among them a password, and crashes.
fn crashing(restart: &str) -> Value {
    let password = json!({"secretKeyRef": {"name": "database", "key": "password"}});
    json!({"restartPolicy": restart, "containers": [{"name": "main", "image": "example.com/i:1", "env": [
        {"name": "PASSWORD", "valueFrom": password},
        {"name": "FAKE_LOG", "value": "connecting with $(PASSWORD)\nno such database"},
        {"name": "FAKE_EXIT", "value": "3"}]}]})
}

/// Kind, its version, its specification; how the wait for it ends, and what else is said.
struct Case {
    api_version: &'static str,
    kind: &'static str,
    spec: Value,
    ends: &'static str,
    also: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    let template =
        |name: &str, restart: &str| json!({"metadata": {"labels": {"app": name}}, "spec": crashing(restart)});
    let set = |name: &str, more: Value| {
        let mut spec = json!({"selector": {"matchLabels": {"app": name}}, "template": template(name, "Always")});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    let case = |api_version, kind, spec, ends, also| Case { api_version, kind, spec, ends, also };
    vec![
        case(
            "batch/v1",
            "Job",
            json!({"backoffLimit": 1, "template": template("job", "Never")}),
            "BackoffLimitExceeded: Job has reached the specified backoff limit",
            // The event that says it once more is written after the condition, perhaps after we have looked.
            &["Events of Job work/x-job:\n  Normal SuccessfulCreate", "has ended with 3"],
        ),
        case("v1", "Pod", crashing("Never"), "it has failed", &["has ended with 3"]),
        case(
            "apps/v1",
            "Deployment",
            set("deployment", json!({"replicas": 1})),
            "container main of pod x-deployment-",
            &["Events of Deployment work/x-deployment:\n  Normal ScalingReplicaSet", "is in CrashLoopBackOff"],
        ),
        case(
            "apps/v1",
            "DaemonSet",
            set("daemonset", json!({})),
            "container main of pod x-daemonset-",
            &["Events of DaemonSet work/x-daemonset:\n  Normal SuccessfulCreate", "is in CrashLoopBackOff"],
        ),
        case(
            "apps/v1",
            "StatefulSet",
            set("statefulset", json!({"replicas": 1, "serviceName": "none"})),
            "container main of pod x-statefulset-0",
            &["Events of StatefulSet work/x-statefulset:\n  Normal SuccessfulCreate", "is in CrashLoopBackOff"],
        ),
    ]
}

fn resource(case: &Case) -> String {
    let name = case.kind.to_lowercase();
    let manifest = json!({"apiVersion": case.api_version, "kind": case.kind,
        "metadata": {"name": format!("x-{name}"), "namespace": NAMESPACE}, "spec": case.spec});
    format!(
        "resource \"kubernetes_manifest\" \"{name}\" {{\n  depends_on = [kubernetes_manifest.secret]\n  manifest = {manifest}\n  \
         wait {{\n    rollout = true\n  }}\n  timeouts {{\n    create = \"2m\"\n  }}\n}}\n"
    )
}

#[tokio::test]
async fn p36_what_crashes_ends_the_wait_with_events_and_its_last_lines() {
    let Some(plane) = node().await else { return };
    let lab = lab(&plane);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "database", "namespace": NAMESPACE},
        "data": {"password": "aHVudGVyMg=="}});
    let secret = format!("resource \"kubernetes_manifest\" \"secret\" {{\n  manifest = {secret}\n}}\n");
    let cases = cases();
    let config = cases.iter().fold(secret, |config, case| config + &resource(case));
    let words = lab.apply(&config).await.words();
    assert_eq!(words.len(), cases.len(), "{words:#?}");
    for case in &cases {
        let name = format!("{} work/x-{}", case.kind, case.kind.to_lowercase());
        let told = words.iter().find(|one| one.contains(&format!("{name} to be ready failed: {}", case.ends)));
        let told = told.unwrap_or_else(|| panic!("{name}: {words:#?}"));
        let last = "container main:\n  connecting with (sensitive value)\n  no such database";
        for expected in case.also.iter().chain(&[last]) {
            assert!(told.contains(expected), "{name}: {expected}: {told}");
        }
        assert!(!told.contains("hunter2"), "{told}");
    }
    lab.destroy(&config).await.assert_done("destroy");
}
