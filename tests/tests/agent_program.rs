//! The agent as a program, over NVML, against a sandbox that is served: what is approved in its node's object is done to
//! the cards behind the driver's library, and nothing that a pod holds.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use engine_model::host::FixedHost;
use kube::api::{Patch, PatchParams};
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use providers_agent_api::{
    CardSpec, CardStatus, GpuNode, InstanceSpec, Layout, OperationPhase, OperationSpec, OperationStatus, layout_digest,
};
use providers_catalog::Product;
use providers_kubernetes::{ConnectionOverride, ConnectionSettings};
use providers_sandbox::Options;
use providers_sandbox::command::serve;
use providers_simulator::{CardRequest, Node};
use providers_simulator_nvml::{NODE_FILE, library, read};
use serde_json::json;
use tests::program::built;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

const FLEET: &str = "node \"gpu-01\" {\n  agent = \"absent\"\n  card \"H100-80GB-HBM3\" {}\n}\n";

/// Nothing here takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(dir: &Path) -> Running {
    let child = Command::new(built("providers-node-agent", "sliceform-agent"))
        .args(["--node", "gpu-01", "--kubeconfig", &dir.join("agents/gpu-01.kubeconfig").display().to_string()])
        .args(["--nvml", &library().unwrap().display().to_string()])
        .args(["--journal", &dir.join("journal.json").display().to_string()])
        .args(["--kubelet", &dir.join("kubelet").display().to_string()])
        .args(["--pod-logs", &dir.join("logs").display().to_string()])
        .env(NODE_FILE, dir.join("node.json"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    Running(child)
}

/// The kubelet's memory: one pod, which holds a device.
fn kubelet(dir: &Path, device: &str) {
    let entry = json!({
        "PodUID": "u-1", "ContainerName": "main", "ResourceName": "nvidia.com/mig-1g.10gb",
        "DeviceIDs": {"-1": [device]}, "AllocResp": "",
    });
    let checkpoint = json!({"Data": {"PodDeviceEntries": [entry], "RegisteredDevices": {}}, "Checksum": 1});
    for folder in ["kubelet/device-plugins", "kubelet/pods/u-1", "logs/team_p_u-1"] {
        std::fs::create_dir_all(dir.join(folder)).unwrap();
    }
    let path = dir.join("kubelet/device-plugins/kubelet_internal_checkpoint");
    std::fs::write(path, checkpoint.to_string()).unwrap();
}

fn cut(id: &str, card: &CardStatus, instances: &[(&str, u8, u8)]) -> OperationSpec {
    let one = |(profile, start, size): &(&str, u8, u8)| InstanceSpec {
        profile: (*profile).to_owned(),
        start: *start,
        size: *size,
    };
    let layout = Layout { mig: true, instances: instances.iter().map(one).collect(), sharing: None };
    let spec = CardSpec { pci_address: card.pci_address.clone(), layout, settings: Default::default() };
    OperationSpec {
        id: id.to_owned(),
        plan_digest: "plan".to_owned(),
        fence: 1,
        cards: BTreeMap::from([(card.uuid.clone(), spec)]),
        precondition: BTreeMap::from([(card.uuid.clone(), layout_digest(&card.layout).to_string())]),
        allow_reset: false,
    }
}

async fn until(nodes: &Api<GpuNode>, wanted: impl Fn(&GpuNode) -> bool) -> GpuNode {
    let wanted = |node: Option<&GpuNode>| node.is_some_and(&wanted);
    let found = tokio::time::timeout(PATIENCE, await_condition(nodes.clone(), "gpu-01", wanted)).await;
    found.unwrap().unwrap().unwrap()
}

async fn operate(nodes: &Api<GpuNode>, operation: &OperationSpec) -> (OperationStatus, CardStatus) {
    let patch = Patch::Merge(json!({"spec": {"operation": operation}}));
    nodes.patch("gpu-01", &PatchParams::default(), &patch).await.unwrap();
    let node = until(nodes, |node| {
        let operation_status = node.status.as_ref().and_then(|status| status.operation.as_ref());
        operation_status.is_some_and(|one| one.id == operation.id && one.phase != OperationPhase::Running)
    });
    let status = node.await.status.unwrap();
    (status.operation.unwrap(), status.cards[0].clone())
}

async fn client(kubeconfig: &Path) -> Client {
    let config_paths = vec![kubeconfig.display().to_string()];
    let settings = ConnectionSettings { config_paths, ..ConnectionSettings::default() };
    ConnectionOverride(settings).connection().client().await.unwrap()
}

#[tokio::test]
async fn the_program_cuts_through_nvml_what_is_approved() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_owned();
    let card = CardRequest { product: Product::new("H100-80GB-HBM3"), count: 1 };
    let hardware = Node::new("gpu-01", "580.105.08", &[card]).unwrap();
    std::fs::write(dir.join("node.json"), serde_json::to_vec(&hardware).unwrap()).unwrap();
    kubelet(&dir, "MIG-none");

    let (stop, (ready, is_ready)) = (CancellationToken::new(), oneshot::channel());
    let (served, cancel) = (dir.clone(), stop.clone());
    let server = tokio::spawn(async move {
        let options = Options::new(Arc::new(FixedHost::new(1_000_000)), "sandbox serve");
        let kubeconfig = served.join("kubeconfig");
        serve(&served, Some(("fleet.hcl", FLEET)), options, &kubeconfig, |_| ready.send(()).unwrap(), cancel).await
    });
    is_ready.await.unwrap();
    let agent = tokio::task::spawn_blocking({
        let dir = dir.clone();
        move || start(&dir)
    });
    let agent = agent.await.unwrap();

    let nodes: Api<GpuNode> = Api::all(client(&dir.join("kubeconfig")).await);
    let node = until(&nodes, |node| node.status.is_some()).await;
    let card = node.status.unwrap().cards[0].clone();
    assert_eq!((card.product.as_str(), card.uuid.as_str()), ("H100-80GB-HBM3", hardware.cards[0].uuid.as_str()));

    let (done, card) = operate(&nodes, &cut("op-1", &card, &[("1g.10gb", 0, 1), ("3g.40gb", 4, 4)])).await;
    assert_eq!(done.phase, OperationPhase::Succeeded, "{}", done.message);
    let cut_node = read(&dir.join("node.json")).unwrap();
    let instances: Vec<String> = cut_node.cards[0].instances.iter().map(|one| one.instance.to_string()).collect();
    assert_eq!(instances.len(), 2, "{instances:?}");

    kubelet(&dir, &card.instances[0].uuid);
    let (refused, _) = operate(&nodes, &cut("op-2", &card, &[("3g.40gb", 4, 4)])).await;
    assert_eq!(refused.phase, OperationPhase::Refused);
    assert!(refused.message.contains("in use by pod team/p"), "{}", refused.message);

    std::fs::remove_dir(dir.join("kubelet/pods/u-1")).unwrap();
    let (done, card) = operate(&nodes, &cut("op-3", &card, &[("3g.40gb", 4, 4)])).await;
    assert_eq!(done.phase, OperationPhase::Succeeded, "{}", done.message);
    assert_eq!(card.instances.len(), 1);
    drop(agent);
    stop.cancel();
    server.await.unwrap().unwrap();
}
