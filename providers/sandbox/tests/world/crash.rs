//! Whatever instant a process dies at, the next one finds a whole world.

use std::path::Path;

use kube::Api;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use providers_agent_api::{GpuNode, OperationPhase};
use providers_simulator::Node;
use serde_json::json;

use crate::operation::{cut as cut_card, finished};
use crate::setting::{FLEET, Setting, offered, open};

/// The world as it was after so many bytes of its log.
fn cut(from: &Path, to: &Path, log: &[u8]) {
    std::fs::create_dir_all(to.join("world")).unwrap();
    std::fs::write(to.join("world/log.jsonl"), log).unwrap();
    assert!(!from.join("world/snapshot.json").exists(), "the log is short");
}

#[tokio::test]
async fn a_world_may_be_cut_off_anywhere() {
    let world = Setting::new(FLEET).await;
    world.run("p1", "nvidia.com/gpu", "sandbox.sliceform.io/busy: 'true'").await.unwrap();
    world.exec("b", "nvidia-smi mig -dci -gi 7").await;
    world.pods("team").await.delete("p1", &Default::default()).await.unwrap();
    world.until("p1", |pod| pod.is_none()).await;
    let Setting { sandbox, dir } = world;
    sandbox.close().await.unwrap();
    let log = std::fs::read(dir.path().join("world/log.jsonl")).unwrap();
    let ends: Vec<usize> = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    // Each opening takes a moment, so a sample: the beginning, where the fleet is made, and then every so often.
    let step = ends.len() / 12 + 1;
    for (number, end) in ends.iter().enumerate().filter(|(number, _)| number % step == 0) {
        // In the middle of the next line, as a process leaves it that dies while it writes.
        let torn = ends.get(number + 1).map_or(*end, |next| end + (next - end) / 2);
        let copy = tempfile::tempdir().unwrap();
        cut(dir.path(), copy.path(), &log[..torn]);
        let fleet = Some(FLEET);
        let world = Setting { sandbox: open(copy.path(), fleet).await, dir: copy };
        assert_eq!(offered(&world.node("a").await), ["gpu=2"], "after line {number}");
        let allocated = world.users("a").await;
        let pods = world.pods("team").await.list(&Default::default()).await.unwrap().items;
        let running = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).count();
        assert_eq!(allocated.len(), running, "after line {number}: {allocated:?}");
        world.close().await;
    }
}

#[tokio::test]
async fn an_operation_under_way_is_finished_by_the_next_process() {
    let world = Setting::new(FLEET).await;
    let card = world.gpu_node("a").await.status.unwrap().cards[0].clone();
    let operation = cut_card("op-1", &card);
    let id = card.uuid.clone();
    // The sandbox goes the moment that the first slice is there: the agent has had no time to say so.
    let nodes: Api<GpuNode> = Api::all(world.client().await);
    let patch = Patch::Merge(json!({"spec": {"operation": operation}}));
    nodes.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let has_slice = |node: &Node| {
        let mut cards = node.cards.iter().filter(|card| card.uuid.as_str() == id);
        cards.any(|card| !card.instances.is_empty())
    };
    let hardware = world.sandbox.script().unwrap().hardware().clone();
    while !hardware.read(|fleet| has_slice(&fleet.nodes["a"])) {
        tokio::task::yield_now().await;
    }
    drop((nodes, hardware));
    let Setting { sandbox, dir } = world;
    drop(sandbox);

    let world = Setting { sandbox: open(dir.path(), None).await, dir };
    let done = finished(&world, "a", "op-1").await;
    assert_eq!(done.phase, OperationPhase::Succeeded, "{}", done.message);
    world.settle().await;
    assert_eq!(offered(&world.node("a").await), ["gpu=1", "mig-1g.10gb=1", "mig-2g.20gb=1"]);
    world.close().await;
}

#[tokio::test]
async fn a_command_that_was_not_run_is_not_run_later() {
    let world = Setting::new(FLEET).await;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("sandbox.sliceform.io", "v1alpha1", "Execution"));
    let spec = json!({"spec": {"node": "b", "command": ["nvidia-smi", "mig", "-dci"]}});
    let execution = DynamicObject::new("late", &resource).data(spec);
    let executions: Api<DynamicObject> = Api::all_with(world.client().await, &resource);
    let Setting { sandbox, dir } = world;
    // As if the process had died between the two: it is in the world's log, and nobody has run it.
    executions.create(&PostParams::default(), &execution).await.unwrap();
    let text = std::fs::read_to_string(dir.path().join("world/log.jsonl")).unwrap();
    sandbox.close().await.unwrap();
    let created = text.lines().position(|line| line.contains("Execution") && line.contains("\"late\"")).unwrap();
    let log: String = text.lines().take(created + 1).map(|line| format!("{line}\n")).collect();
    let copy = tempfile::tempdir().unwrap();
    cut(dir.path(), copy.path(), log.as_bytes());

    let world = Setting { sandbox: open(copy.path(), None).await, dir: copy };
    let executions: Api<DynamicObject> = Api::all_with(world.client().await, &resource);
    assert!(executions.get_opt("late").await.unwrap().is_none());
    assert_eq!(offered(&world.node("b").await), ["mig-1g.10gb=1", "mig-3g.40gb=1"]);
    world.close().await;
}
