//! A device plugin registers; its devices become the node's, and then pods'. The node agent reads the same from the
//! kubelet's files as the kubelet tells by its PodResources service.

use std::fs;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::DeleteParams;
use providers_agent_api::{PodDevice, PodDevices};
use providers_node_agent::KubeletFiles;
use serde_json::{Value, json};
use tests::control_plane::{ControlPlane, wait_until};

use crate::plugin::{Plugin, pod_resources};
use crate::{NAMESPACE, NODE, create, node, status, wait_for_phase};

const RESOURCE: &str = "example.com/slice";

/// Waits until the node has these amounts: capacity and allocatable.
async fn wait_for_amounts(nodes: &Api<Node>, capacity: &str, allocatable: &str) {
    wait_until(&format!("the node has {capacity} slices, {allocatable} of them allocatable"), async || {
        let status = nodes.get(NODE).await.unwrap().status.unwrap();
        let amount = |amounts: Option<std::collections::BTreeMap<String, _>>| {
            amounts.and_then(|amounts| {
                amounts.get(RESOURCE).map(|k8s_openapi::apimachinery::pkg::api::resource::Quantity(text)| text.clone())
            })
        };
        (amount(status.capacity).as_deref(), amount(status.allocatable).as_deref())
            == (Some(capacity), Some(allocatable))
    })
    .await;
}

fn asks_for(amount: u32) -> Value {
    json!([{"name": "main", "image": "example.com/i:1", "resources": {"limits": {RESOURCE: amount}}}])
}

/// Who has which devices, by the agent's reader of the kubelet's files.
async fn by_files(plane: &ControlPlane) -> Vec<PodDevice> {
    let kubelet = plane.kubelet();
    let files = KubeletFiles { root: kubelet.root.clone(), logs: kubelet.logs.clone() };
    let mut devices = files.list().await.unwrap();
    devices.iter_mut().for_each(|one| one.device_ids.sort());
    devices
}

/// The same by the PodResources service.
fn by_service(plane: &ControlPlane) -> Vec<PodDevice> {
    let mut found = Vec::new();
    for pod in pod_resources(plane)["pods"].as_array().into_iter().flatten() {
        for container in pod["containers"].as_array().into_iter().flatten() {
            // One entry for each device, and one PodDevice for each container and resource.
            let mut devices: Vec<String> = Vec::new();
            for one in container["devices"].as_array().into_iter().flatten() {
                devices.extend(serde_json::from_value::<Vec<String>>(one["device_ids"].clone()).unwrap());
            }
            devices.sort();
            if !devices.is_empty() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                found.push(PodDevice {
                    namespace: text(&pod["namespace"]),
                    pod: text(&pod["name"]),
                    container: text(&container["name"]),
                    resource: RESOURCE.to_owned(),
                    device_ids: devices,
                });
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn devices_are_the_nodes_and_then_pods() {
    let Some(plane) = node().await else { return };
    let nodes: Api<Node> = Api::all(plane.client().await);
    let pods: Api<Pod> = Api::namespaced(plane.client().await, NAMESPACE);
    let mut plugin = Plugin::start(&plane, "a,b,c");
    wait_for_amounts(&nodes, "3", "3").await;
    plugin.tell("unhealthy a");
    wait_for_amounts(&nodes, "3", "2").await;

    create(&pods, "has", json!({"containers": asks_for(2)})).await;
    wait_for_phase(&pods, "has", "Running").await;
    let devices = vec!["b".to_owned(), "c".to_owned()];
    let asked: Vec<_> =
        plugin.calls().into_iter().filter(|(_, given)| *given == devices).map(|(call, _)| call).collect();
    assert_eq!(asked, ["GetPreferredAllocation", "Allocate", "PreStartContainer"]);
    let created = fs::read_to_string(&plane.kubelet().containers).unwrap();
    let created: Value = serde_json::from_str(created.lines().next().unwrap()).unwrap();
    let names: Vec<&Value> =
        created["config"]["CDI_devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names.len(), 2, "{created}");

    let expected = PodDevice {
        namespace: NAMESPACE.to_owned(),
        pod: "has".to_owned(),
        container: "main".to_owned(),
        resource: RESOURCE.to_owned(),
        device_ids: devices,
    };
    assert_eq!(by_service(&plane), std::slice::from_ref(&expected));
    assert_eq!(by_files(&plane).await, std::slice::from_ref(&expected));

    // Who does not ask the scheduler is refused by the kubelet.
    create(&pods, "refused", json!({"nodeName": NODE, "containers": asks_for(1)})).await;
    wait_for_phase(&pods, "refused", "Failed").await;
    assert_eq!(status(&pods, "refused").await["reason"], "UnexpectedAdmissionError");
    assert_eq!(by_files(&plane).await, std::slice::from_ref(&expected));

    // A kubelet that restarts remembers, before and after the plugin has come back.
    plane.restart("kubelet").await;
    wait_until("the service knows the devices again", async || by_service(&plane) == [expected.clone()]).await;
    assert_eq!(by_files(&plane).await, [expected]);
    wait_for_amounts(&nodes, "3", "2").await;

    pods.delete("has", &DeleteParams::default().grace_period(1)).await.unwrap();
    wait_until("the pod is gone", async || pods.get_opt("has").await.unwrap().is_none()).await;
    wait_until("nobody has a device", async || by_files(&plane).await.is_empty() && by_service(&plane).is_empty())
        .await;
    drop(plugin);
    wait_for_amounts(&nodes, "3", "0").await;
}
