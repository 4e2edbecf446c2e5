//! Pods: scheduled, run, ended, refused an image; their logs.

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, LogParams};
use serde_json::json;
use tests::control_plane::wait_until;

use crate::{NAMESPACE, NODE, create, node, status, wait_for_phase};

#[tokio::test]
async fn pods_run_end_and_wait_for_their_images() {
    let Some(plane) = node().await else { return };
    let pods: Api<Pod> = Api::namespaced(plane.client().await, NAMESPACE);
    let container =
        |image: &str, environment: serde_json::Value| json!([{"name": "c", "image": image, "env": environment}]);

    let log = json!([{"name": "FAKE_LOG", "value": "first\nsecond"}]);
    create(&pods, "runs", json!({"containers": container("example.com/i:1", log)})).await;
    wait_for_phase(&pods, "runs", "Running").await;
    let placed = pods.get("runs").await.unwrap().spec.unwrap().node_name;
    assert_eq!(placed.as_deref(), Some(NODE));
    // The server fetches it from the kubelet.
    assert_eq!(pods.logs("runs", &LogParams::default()).await.unwrap(), "first\nsecond\n");

    let exit = json!([{"name": "FAKE_EXIT", "value": "3"}]);
    let ends = json!({"restartPolicy": "Never", "containers": container("example.com/i:1", exit)});
    create(&pods, "ends", ends).await;
    wait_for_phase(&pods, "ends", "Failed").await;
    let ended = status(&pods, "ends").await;
    assert_eq!(ended["containerStatuses"][0]["state"]["terminated"]["exitCode"], 3);

    create(&pods, "waits", json!({"containers": container("missing.example/i:1", json!([]))})).await;
    wait_until("the kubelet gives up on the image", async || {
        status(&pods, "waits").await["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    })
    .await;

    for name in ["runs", "ends", "waits"] {
        pods.delete(name, &DeleteParams::default().grace_period(1)).await.unwrap();
    }
    wait_until("the kubelet has ended the pods", async || {
        let mut left = false;
        for name in ["runs", "ends", "waits"] {
            left |= pods.get_opt(name).await.unwrap().is_some();
        }
        !left
    })
    .await;
}
