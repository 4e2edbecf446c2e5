//! A real kubelet as a node of the real control plane, over a container runtime that only says that containers run: what it
//! makes of pods and of device plugins, and what our node agent reads of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod devices;
mod failures;
mod plugin;
mod pods;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};
use tests::control_plane::{ControlPlane, Options, wait_until};

const NODE: &str = "real-1";
const NAMESPACE: &str = "work";

/// A control plane with one node, which is ready.
async fn node() -> Option<ControlPlane> {
    let options = Options { kubelet: Some(NODE.to_owned()), ..Options::default() };
    let plane = ControlPlane::alone(options).await?;
    plane.namespace(NAMESPACE).await;
    let nodes: Api<Node> = Api::all(plane.client().await);
    wait_until("the node is ready", async || {
        let node = nodes.get_opt(NODE).await.unwrap().and_then(|node| node.status).and_then(|status| status.conditions);
        node.is_some_and(|all| all.iter().any(|one| one.type_ == "Ready" && one.status == "True"))
    })
    .await;
    Some(plane)
}

async fn create(pods: &Api<Pod>, name: &str, spec: Value) -> Pod {
    let pod = json!({"metadata": {"name": name}, "spec": spec});
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap()
}

/// The whole status of a pod; null when the pod is gone.
async fn status(pods: &Api<Pod>, name: &str) -> Value {
    let pod = pods.get_opt(name).await.unwrap();
    serde_json::to_value(pod.and_then(|pod| pod.status)).unwrap()
}

async fn wait_for_phase(pods: &Api<Pod>, name: &str, phase: &str) {
    wait_until(&format!("the pod {name} is {phase}"), async || status(pods, name).await["phase"] == phase).await;
}
