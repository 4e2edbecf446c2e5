//! What moves beside the API: scheduler, kubelets, device plugin.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, EvictParams, LogParams, Patch, PatchParams};
use providers_agent_api::HOLD_TAINT;
use serde_json::json;

use crate::setting::{FLEET, Setting, offered, phase};

const GPU: &str = "nvidia.com/gpu";
const SLICE: &str = "nvidia.com/mig-1g.10gb";

#[tokio::test]
async fn pods_get_devices_and_give_them_back() {
    let world = Setting::new(FLEET).await;
    assert_eq!(offered(&world.node("a").await), ["gpu=2"]);
    assert_eq!(world.run("p1", GPU, "").await.as_deref(), Ok("a"));
    assert_eq!(world.run("p2", SLICE, "").await.as_deref(), Ok("b"));
    assert_eq!(world.users("a").await, ["card 0: team/p1"]);
    assert_eq!(world.users("b").await, ["1g.10gb at 0: team/p2"]);
    assert_eq!(
        world.run("p3", SLICE, "").await.unwrap_err(),
        format!("0/3 nodes are available: 3 Insufficient {SLICE}."),
    );

    // Allocated, not running: the driver cuts under it, as the real one does.
    let pods = world.pods("team").await;
    pods.evict("p2", &EvictParams::default()).await.unwrap();
    world.until("p2", |pod| pod.is_none()).await;
    world.until("p3", |pod| pod.is_some_and(|pod| phase(pod) == "Running")).await;
    world.settle().await;
    assert_eq!(world.users("b").await, ["1g.10gb at 0: team/p3"]);

    let world = world.reopen().await;
    assert_eq!(world.users("b").await, ["1g.10gb at 0: team/p3"], "allocations outlive the process");
    world.pods("team").await.delete("p1", &DeleteParams::default()).await.unwrap();
    world.until("p1", |pod| pod.is_none()).await;
    world.settle().await;
    assert!(world.users("a").await.is_empty());
    world.close().await;
}

#[tokio::test]
async fn a_held_node_takes_no_pod_until_it_is_released() {
    let world = Setting::new(FLEET).await;
    let nodes: Api<Node> = Api::all(world.client().await);
    let taints = |taints: serde_json::Value| Patch::Merge(json!({"spec": {"taints": taints}}));
    let hold = json!([{"key": HOLD_TAINT, "value": "plan", "effect": "NoSchedule"}]);
    for node in ["a", "c"] {
        nodes.patch(node, &PatchParams::default(), &taints(hold.clone())).await.unwrap();
    }
    let refused = world.run("p", GPU, "").await.unwrap_err();
    assert_eq!(
        refused,
        format!(
            "0/3 nodes are available: 1 Insufficient {GPU}, 2 node(s) had untolerated taint {{{HOLD_TAINT}: plan}}."
        ),
    );
    nodes.patch("c", &PatchParams::default(), &taints(json!(null))).await.unwrap();
    world.until("p", |pod| pod.is_some_and(|pod| phase(pod) == "Running")).await;
    let pod = world.pods("team").await.get("p").await.unwrap();
    assert_eq!(pod.spec.unwrap().node_name.as_deref(), Some("c"));
    world.close().await;
}

#[tokio::test]
async fn pods_end_in_the_worlds_time_which_stands_still_between_commands() {
    let world = Setting::new(FLEET).await;
    world.run("p", GPU, "sandbox.sliceform.io/ends-after: 40s, sandbox.sliceform.io/busy: 'true'").await.unwrap();
    let process = world.exec("a", "nvidia-smi -mig 1 -i 0").await;
    assert!(process.stdout.contains("In use by another client"), "{}", process.stdout);
    world.sandbox.script().unwrap().pass(Duration::from_secs(20));
    world.settle().await;
    let running = |pod: Option<&Pod>| pod.is_some_and(|pod| phase(pod) == "Running");
    let over = |pod: Option<&Pod>| pod.is_some_and(|pod| phase(pod) == "Succeeded");
    world.until("p", running).await;
    let world = world.reopen().await;
    world.until("p", running).await;
    world.sandbox.script().unwrap().pass(Duration::from_secs(20));
    world.until("p", over).await;
    world.settle().await;
    assert!(world.users("a").await.is_empty());
    world.close().await;
}

#[tokio::test]
async fn a_pod_that_stops_slowly_keeps_its_devices_meanwhile() {
    let world = Setting::new(FLEET).await;
    world.run("p", GPU, "sandbox.sliceform.io/stops-after: 5m").await.unwrap();
    world.pods("team").await.evict("p", &EvictParams::default()).await.unwrap();
    world.settle().await;
    assert_eq!(world.users("a").await, ["card 0: team/p"]);
    world.sandbox.script().unwrap().pass(Duration::from_secs(300));
    world.until("p", |pod| pod.is_none()).await;
    world.close().await;
}

#[tokio::test]
async fn a_kubelet_that_does_not_work_does_nothing() {
    let world = Setting::new("node \"a\" {\n ready = false\n card \"L4\" {}\n}\nnode \"b\" {\ncard \"L4\" {}\n}").await;
    let ready = |node: &Node| {
        let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.filter(|one| one.type_ == "Ready").map(|one| one.status.clone()).collect::<Vec<_>>()
    };
    let node = world.node("a").await;
    assert_eq!((ready(&node), offered(&node)), (vec!["Unknown".to_owned()], vec![]));
    assert_eq!(world.run("p", GPU, "").await.as_deref(), Ok("b"));
    assert!(world.run("q", GPU, "").await.unwrap_err().contains("node.kubernetes.io/unreachable"));
    let script = world.sandbox.script().unwrap();
    script.set_ready("a", true);
    world.until("q", |pod| pod.is_some_and(|pod| phase(pod) == "Running")).await;
    script.set_ready("a", false);
    world.settle().await;
    world.pods("team").await.delete("q", &DeleteParams::default()).await.unwrap();
    world.settle().await;
    let stuck = world.pods("team").await.get("q").await.unwrap();
    assert!(stuck.metadata.deletion_timestamp.is_some(), "nobody ends it");
    script.set_ready("a", true);
    world.until("q", |pod| pod.is_none()).await;
    world.close().await;
}

#[tokio::test]
async fn pods_of_a_workload_name_it() {
    let fleet = r#"
node "a" {
  card "L4" { count = 3 }
}
pod "t/d-1" {
  resources = { "nvidia.com/gpu" = 1 }
  owner     = "deployment/d"
  priority  = 7
}
pod "t/j-1" {
  resources = { "nvidia.com/gpu" = 1 }
  owner     = "job/j"
}
"#;
    let world = Setting::new(fleet).await;
    let pods = world.pods("t").await;
    let owner = async |name: &str| {
        let pod = pods.get(name).await.unwrap();
        assert_eq!(phase(&pod), "Running");
        let owners = pod.metadata.owner_references.unwrap_or_default();
        let names: Vec<String> = owners.iter().map(|one| format!("{}/{}", one.kind, one.name)).collect();
        (names.join(" "), pod.spec.and_then(|spec| spec.priority))
    };
    assert_eq!(owner("d-1").await, ("ReplicaSet/d-1".to_owned(), Some(7)));
    assert_eq!(owner("j-1").await, ("Job/j".to_owned(), Some(0)));

    let client = world.client().await;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "t");
    let ready = async || deployments.get("d").await.unwrap().status.unwrap().ready_replicas;
    assert_eq!(ready().await, Some(1));
    let job = Api::<Job>::namespaced(client, "t").get("j").await.unwrap();
    assert_eq!(job.status.unwrap().active, Some(1));
    pods.evict("d-1", &EvictParams::default()).await.unwrap();
    world.settle().await;
    assert_eq!(ready().await, Some(1), "another has taken its place");
    assert!(pods.get_opt("d-1").await.unwrap().is_none());
    world.close().await;
}

#[tokio::test]
async fn a_reboot_takes_slices_and_the_pods_that_had_them() {
    let world = Setting::new(FLEET).await;
    let busy = "sandbox.sliceform.io/busy: 'true'";
    world.run("whole", GPU, busy).await.unwrap();
    world.run("slice", SLICE, busy).await.unwrap();
    for node in ["a", "b"] {
        assert_eq!(world.exec(node, "reboot").await.code, 0);
    }
    world.until("slice", |pod| pod.is_some_and(|pod| phase(pod) == "Failed")).await;
    world.settle().await;
    assert!(world.users("b").await.is_empty());
    assert_eq!(world.users("a").await, ["card 0: team/whole"], "its device is there again");
    let held = world.exec("a", "nvidia-smi -mig 1 -i 0").await;
    assert!(held.stdout.contains("In use by another client"), "{}", held.stdout);
    // On Hopper MIG mode does not outlive a reboot, so the card is whole again.
    assert_eq!(offered(&world.node("b").await), ["gpu=1", "mig-1g.10gb=0", "mig-3g.40gb=0"]);
    world.close().await;
}

#[tokio::test]
async fn logs_are_what_the_pod_says_its_containers_write() {
    let world = Setting::new(FLEET).await;
    let annotation = r#""sandbox.sliceform.io/log": "one\ntwo\nthree\n""#;
    world.run("talks", "nvidia.com/gpu", annotation).await.unwrap();
    let pods = world.pods("team").await;
    let params = |change: fn(&mut LogParams)| {
        let mut params = LogParams::default();
        change(&mut params);
        params
    };
    for (params, expected) in [
        (params(|_| {}), "one\ntwo\nthree\n"),
        (params(|params| params.tail_lines = Some(2)), "two\nthree\n"),
        (params(|params| params.limit_bytes = Some(5)), "one\nt"),
        (
            params(|params| params.timestamps = true),
            "1970-01-12T13:46:40Z one\n1970-01-12T13:46:40Z two\n1970-01-12T13:46:40Z three\n",
        ),
        (params(|params| params.container = Some("main".to_owned())), "one\ntwo\nthree\n"),
    ] {
        assert_eq!(pods.logs("talks", &params).await.unwrap(), expected, "{params:?}");
    }
    for (params, expected) in [
        (params(|params| params.previous = true), "previous terminated container \"main\" in pod \"talks\" not found"),
        (params(|params| params.container = Some("x".to_owned())), "container x is not valid for pod talks"),
    ] {
        let error = pods.logs("talks", &params).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    world.close().await;
}
