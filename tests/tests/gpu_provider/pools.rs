//! A pool through its life.

use engine_model::{change::Action, operation::OperationKind};
use engine_value::{Type, Value};

use providers_agent_api::Gpus;
use providers_simulator::SimulatedGpus;

use crate::lab::{Lab, State, amount};

const POOL: &str = "gpu_pool.dev";
const SLICES: &[(&str, i64)] = &[("1g.10gb", 3), ("2g.20gb", 2)];
const CUT: &str = "mig 1g.10gb@0 1g.10gb@1 2g.20gb@2 2g.20gb@4 1g.10gb@6";

#[tokio::test]
async fn it_is_cut_and_given_back_as_it_was_found() {
    let (lab, mut state) = (Lab::new().await, State::none());
    let plan = lab.carry_out(POOL, &mut state, &lab.pool(3, SLICES)).await;
    let operations: Vec<_> =
        plan.operations.operations.iter().map(|o| (o.node.as_str(), o.kind, o.summary.as_str())).collect();
    let expected =
        [("gpu-01", OperationKind::Reset, "slice cards 0 and 1"), ("gpu-02", OperationKind::Reset, "slice card 0")];
    assert_eq!(operations, expected);
    assert_eq!((lab.cut("gpu-01", 0).await.as_str(), lab.cut("gpu-02", 1).await.as_str()), (CUT, "whole"));
    assert_eq!(amount(&state.object, "resources", "nvidia.com/mig-1g.10gb"), Some(9));
    assert_eq!(amount(&state.object, "resources", "nvidia.com/gpu"), Some(1));
    assert_eq!(lab.gpu_node("gpu-01").await.spec.approved.len(), 2);

    lab.carry_out(POOL, &mut state, &Value::null(Type::Dynamic)).await;
    for (node, card) in [("gpu-01", 0), ("gpu-01", 1), ("gpu-02", 0), ("gpu-02", 1)] {
        assert_eq!(lab.cut(node, card).await, "whole");
        assert_eq!(lab.taints(node).await, Vec::<String>::new());
        assert!(lab.gpu_node(node).await.spec.approved.is_empty());
    }
    lab.close().await;
}

#[tokio::test]
async fn a_slice_destroyed_by_hand_is_named_and_only_it_comes_back() {
    let (lab, mut state) = (Lab::new().await, State::none());
    let config = lab.pool(3, SLICES);
    lab.carry_out(POOL, &mut state, &config).await;
    let before = lab.uuids("gpu-01", 0).await;
    let card = lab.gpu_node("gpu-01").await.status.unwrap().cards[0].uuid.as_str().into();
    let mut gpus = SimulatedGpus::new(lab.sandbox.script().unwrap().hardware().clone(), "gpu-01");
    gpus.destroy_instance(&card, "2g.20gb", 4).unwrap();
    lab.settle().await;

    let plan = lab.plan(POOL, &state, &config).await.unwrap();
    let [note] = plan.notes.as_slice() else { panic!("{:?}", plan.notes) };
    assert!(note.starts_with("gpu-01 card 0 (GPU-") && note.ends_with("): 2g.20gb at 4 is gone"), "{note}");
    let plan = lab.carry_out(POOL, &mut state, &config).await;
    let [operation] = plan.operations.operations.as_slice() else { panic!("{:?}", plan.operations) };
    assert_eq!((operation.kind, operation.summary.as_str()), (OperationKind::None, "create 2g.20gb at 4 on card 0"));
    let after = lab.uuids("gpu-01", 0).await;
    let kept = before.iter().filter(|slice| after.contains(slice)).count();
    assert_eq!((before.len(), after.len(), kept), (5, 5, 4));
    lab.close().await;
}

#[tokio::test]
async fn a_change_ends_the_pods_of_the_envelope_and_no_other() {
    let (lab, mut state) = (Lab::new().await, State::none());
    lab.carry_out(POOL, &mut state, &lab.pool(1, SLICES)).await;
    lab.run("team-a", "stays", "nvidia.com/mig-1g.10gb", "gpu-01").await;
    lab.run("team-b", "goes", "nvidia.com/mig-2g.20gb", "gpu-01").await;
    let stays = lab.pod("team-a", "stays").await.unwrap().metadata.uid;

    let plan = lab.carry_out(POOL, &mut state, &lab.pool(1, &[("1g.10gb", 1), ("3g.40gb", 1)])).await;
    let [operation] = plan.operations.operations.as_slice() else { panic!("{:?}", plan.operations) };
    assert_eq!(operation.kind, OperationKind::Drain);
    let victims: Vec<(String, u64)> = operation.victims.iter().map(|v| (v.owner(), v.count)).collect();
    assert_eq!(victims, [("team-b/pod/goes".to_owned(), 1)]);
    assert_eq!(lab.pod("team-b", "goes").await, None);
    assert_eq!(lab.pod("team-a", "stays").await.unwrap().metadata.uid, stays);
    assert_eq!(lab.taints("gpu-01").await, Vec::<String>::new());
    lab.close().await;
}

#[tokio::test]
async fn a_plan_writes_nothing() {
    let (lab, state) = (Lab::new().await, State::none());
    lab.settle().await;
    let instance = lab.instance().await;
    instance.identity(lab.call()).await.unwrap();
    lab.sandbox.script().unwrap().calls().take();
    let plan = lab.plan(POOL, &state, &lab.pool(3, SLICES)).await.unwrap();
    assert_eq!(plan.change.action, Action::Create);
    // The agents' heartbeats are no part of the plan.
    let calls = lab.sandbox.script().unwrap().calls().take();
    let ours: Vec<_> = calls.iter().filter(|call| call.user == "sliceform").collect();
    assert!(!ours.is_empty());
    assert!(ours.iter().all(|call| !call.has_written()), "{ours:?}");
    lab.close().await;
}
