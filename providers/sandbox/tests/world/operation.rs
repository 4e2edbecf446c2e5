//! The agents: what is approved in a node's object is carried out, and the node then offers it.

use std::collections::BTreeMap;

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::runtime::wait::await_condition;
use providers_agent_api::{
    CardSpec, CardStatus, GpuNode, InstanceSpec, LEASE_NAMESPACE, Layout, OperationPhase, OperationSpec,
    OperationStatus, layout_digest,
};
use providers_sandbox::api::{Effect, Failure, Fault, When, Which};
use serde_json::json;

use crate::setting::{FLEET, PATIENCE, Setting, offered};

/// An operation that cuts a card into 1g.10gb at 0 and 2g.20gb at 2.
pub(crate) fn cut(id: &str, card: &CardStatus) -> OperationSpec {
    let at = |profile: &str, start, size| InstanceSpec { start, size, profile: profile.to_owned() };
    let layout = Layout { mig: true, instances: vec![at("1g.10gb", 0, 1), at("2g.20gb", 2, 2)], sharing: None };
    let spec = CardSpec { pci_address: card.pci_address.clone(), layout, settings: Default::default() };
    OperationSpec {
        id: id.to_owned(),
        plan_digest: "plan".to_owned(),
        fence: 1,
        cards: BTreeMap::from([(card.uuid.clone(), spec)]),
        precondition: BTreeMap::from([(card.uuid.clone(), layout_digest(&card.layout).to_string())]),
        allow_reset: true,
    }
}

async fn operate(world: &Setting, node: &str, operation: &OperationSpec) -> OperationStatus {
    let nodes: Api<GpuNode> = Api::all(world.client().await);
    let patch = Patch::Merge(json!({"spec": {"operation": operation}}));
    nodes.patch(node, &PatchParams::default(), &patch).await.unwrap();
    finished(world, node, &operation.id).await
}

/// Waits until an operation is over.
pub(crate) async fn finished(world: &Setting, node: &str, id: &str) -> OperationStatus {
    let nodes: Api<GpuNode> = Api::all(world.client().await);
    let done = |node: Option<&GpuNode>| {
        let operation = node.and_then(|node| node.status.as_ref()?.operation.as_ref());
        operation.is_some_and(|one| one.id == id && one.phase != OperationPhase::Running)
    };
    let node = tokio::time::timeout(PATIENCE, await_condition(nodes, node, done)).await.unwrap().unwrap().unwrap();
    node.status.unwrap().operation.unwrap()
}

#[tokio::test]
async fn an_approved_operation_is_carried_out_and_offered() {
    let world = Setting::new(FLEET).await;
    let card = world.gpu_node("a").await.status.unwrap().cards[1].clone();
    let done = operate(&world, "a", &cut("op-1", &card)).await;
    assert_eq!(done.phase, OperationPhase::Succeeded, "{}", done.message);
    world.settle().await;
    let node = world.node("a").await;
    assert_eq!(offered(&node), ["gpu=1", "mig-1g.10gb=1", "mig-2g.20gb=1"]);
    assert_eq!(node.metadata.labels.unwrap()["nvidia.com/mig-2g.20gb.count"], "1");
    let again = operate(&world, "a", &cut("op-2", &card)).await;
    assert_eq!(again.phase, OperationPhase::Refused, "the card is not as that plan saw it");

    let world = world.reopen().await;
    assert_eq!(offered(&world.node("a").await), ["gpu=1", "mig-1g.10gb=1", "mig-2g.20gb=1"]);
    let status = world.gpu_node("a").await.status.unwrap();
    assert_eq!(status.operation.unwrap().id, "op-2", "an operation that is over is not begun again");

    // A reboot takes the slices; MIG mode stays on Ampere. Nothing was approved for the node, so nothing comes back.
    assert_eq!(world.exec("a", "reboot").await.code, 0);
    assert_eq!(offered(&world.node("a").await), ["gpu=1", "mig-1g.10gb=0", "mig-2g.20gb=0"]);
    let rebooted = world.gpu_node("a").await.status.unwrap();
    assert_ne!(rebooted.boot_id, status.boot_id);
    world.close().await;
}

#[tokio::test]
async fn what_is_in_use_is_not_cut() {
    let world =
        Setting::new("node \"a\" {\n card \"A100-SXM4-80GB\" {\n instances = [\"1g.10gb:1\"]\n held = true\n }\n}")
            .await;
    let users = world.users("a").await;
    assert!(users[0].starts_with("1g.10gb at 1: process "), "{users:?}");
    let card = world.gpu_node("a").await.status.unwrap().cards[0].clone();
    let refused = operate(&world, "a", &cut("op-1", &card)).await;
    assert_eq!(refused.phase, OperationPhase::Refused);
    assert!(refused.message.contains("in use by process"), "{}", refused.message);
    world.close().await;
}

#[tokio::test]
async fn agents_may_be_down_or_absent() {
    let fleet = "node \"a\" {\n agent = \"down\"\n card \"L4\" {}\n}\nnode \"b\" {\n agent = \"absent\"\n card \"L4\" {}\n}\n\
                 node \"c\" {\ncard \"L4\" {}\n}";
    let world = Setting::new(fleet).await.reopen().await;
    let leases: Api<Lease> = Api::namespaced(world.client().await, LEASE_NAMESPACE);
    let renewed = async |node: &str| {
        let lease = leases.get_opt(node).await.unwrap()?;
        lease.spec.and_then(|spec| spec.renew_time).map(|time| time.0.to_string())
    };
    let (down, up) = (renewed("a").await.unwrap(), renewed("c").await.unwrap());
    assert_eq!((down.as_str(), up.as_str()), ("1970-01-12T13:44:40Z", "1970-01-12T13:46:40Z"), "two minutes behind");
    assert_eq!(renewed("b").await, None);
    let nodes: Api<GpuNode> = Api::all(world.client().await);
    assert!(nodes.get("a").await.unwrap().status.is_some());
    assert!(nodes.get_opt("b").await.unwrap().is_none());
    world.close().await;
}

#[tokio::test]
async fn an_agent_that_is_refused_comes_back() {
    let world = Setting::new(FLEET).await;
    let script = world.sandbox.script().unwrap();
    script.stop_agent("a").await;
    let refusal = Failure::forbidden("coordination.k8s.io", "leases", "a", "not today");
    let which = Which::new("patch", "leases").name("a");
    script.faults().add(Fault::once(which, Effect::Answer(When::Before, refusal)));
    script.start_agent("a");
    world.settle().await;
    let refused = script.calls().all().into_iter().filter(|call| call.code == 403).count();
    assert_eq!(refused, 1);
    world.close().await;
}
