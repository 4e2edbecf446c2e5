//! A fleet as the nodes of a server that has neither scheduler nor controllers.

use std::sync::Arc;

use engine_model::host::FixedHost;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::runtime::wait::await_condition;
use providers_agent_api::{CardStatus, GpuNode};
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Secret};
use providers_sandbox::api::User;
use providers_sandbox::{Joined, Options, Server};
use serde_json::{Value, json};

use crate::cluster::{Cluster, resource, setup};

const FLEET: &str = r#"
node "a" {
  card "A100-SXM4-80GB" { instances = ["1g.10gb"] }
}
node "b" {
  ready = false
}
"#;

fn pod(name: &str, node: &str) -> Pod {
    let resources = json!({"limits": {"nvidia.com/mig-1g.10gb": "1"}});
    let containers = json!([{"name": "c", "image": "example.com/c:1", "resources": resources}]);
    serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}}))
        .unwrap()
}

async fn join(cluster: &Cluster, dir: &std::path::Path) -> Joined {
    let running = &cluster.running;
    let (url, authority) = (running.url(), running.ca_pem());
    let server = Server { url, authority, token: Secret(running.token(&User::admin("operator"))) };
    let names = ["a", "b"].map(|node| (node, running.token(&User::admin(&format!("agent-{node}")))));
    let (host, ca) = (server.url.clone(), server.authority.clone());
    let agent = move |node: &str| {
        let token = names.iter().find(|(name, _)| *name == node).map(|(_, token)| Secret(token.clone()));
        let (host, cluster_ca_certificate) = (Some(host.clone()), Some(ca.clone()));
        ConnectionOverride(ConnectionSettings { host, token, cluster_ca_certificate, ..Default::default() })
    };
    let options = Options::new(Arc::new(FixedHost::new(0)), "test");
    Joined::join(dir, Some(("fleet.hcl", FLEET)), options, server, agent).await.unwrap()
}

fn phase(pod: Option<&Pod>) -> Option<&str> {
    pod?.status.as_ref()?.phase.as_deref()
}

#[tokio::test]
async fn a_fleet_plays_the_nodes_of_a_server_that_it_has_joined() {
    let cluster = Cluster::over(Arc::new(providers_sandbox::store::Store::in_memory()), {
        let mut setup = setup();
        setup.graceful_pods = true;
        setup
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let fleet = join(&cluster, dir.path()).await;
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    let ready = async |name: &str| {
        let status = nodes.get(name).await.unwrap().status.unwrap();
        status.conditions.unwrap().into_iter().find(|one| one.type_ == "Ready").unwrap().status
    };
    assert_eq!((ready("a").await, ready("b").await), ("True".to_owned(), "Unknown".to_owned()));

    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
    for (name, expected) in [("first", "Running"), ("second", "Failed")] {
        pods.create(&PostParams::default(), &pod(name, "a")).await.unwrap();
        let is_decided = |pod: Option<&Pod>| phase(pod).is_some_and(|phase| phase != "Pending");
        let found = await_condition(pods.clone(), name, is_decided).await.unwrap();
        assert_eq!(phase(found.as_ref()), Some(expected), "there is one slice");
    }
    let agents: Api<GpuNode> = Api::all(cluster.client.clone());
    let uses = |card: &CardStatus| card.instances.iter().any(|instance| !instance.used_by.is_empty());
    let in_use = |node: Option<&GpuNode>| {
        node.and_then(|node| node.status.as_ref()).is_some_and(|status| status.cards.iter().any(uses))
    };
    await_condition(agents.clone(), "a", in_use).await.unwrap();

    pods.delete("first", &DeleteParams::default()).await.unwrap();
    await_condition(pods.clone(), "first", |pod: Option<&Pod>| pod.is_none()).await.unwrap();
    await_condition(agents.clone(), "a", |node: Option<&GpuNode>| node.is_some() && !in_use(node)).await.unwrap();

    let executions = resource("sandbox.sliceform.io", "v1alpha1", "Execution");
    let executions: Api<DynamicObject> = Api::all_with(cluster.client.clone(), &executions);
    let command = json!({"spec": {"node": "a", "command": ["nvidia-smi", "-L"]}, "metadata": {"name": "e"},
        "apiVersion": "sandbox.sliceform.io/v1alpha1", "kind": "Execution"});
    let command: DynamicObject = serde_json::from_value(command).unwrap();
    executions.create(&PostParams::default(), &command).await.unwrap();
    let is_done = |found: Option<&DynamicObject>| found.is_some_and(|found| found.data.get("status").is_some());
    let done = await_condition(executions, "e", is_done).await.unwrap().unwrap();
    let said = done.data["status"]["stdout"].as_str().unwrap();
    assert!(said.contains("MIG 1g.10gb"), "{said}");

    fleet.close().await.unwrap();
    // The same world joins again, with what had happened in between.
    pods.create(&PostParams::default(), &pod("third", "a")).await.unwrap();
    let fleet = join(&cluster, dir.path()).await;
    await_condition(pods.clone(), "third", |pod: Option<&Pod>| phase(pod) == Some("Running")).await.unwrap();
    fleet.close().await.unwrap();
    let left: Value = serde_json::to_value(nodes.get("a").await.unwrap()).unwrap();
    assert_eq!(left["status"]["allocatable"]["nvidia.com/mig-1g.10gb"], "1");
    cluster.stop().await;
}
