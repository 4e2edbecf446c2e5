//! What stops a node: the world is not as the plan saw it.

use providers_api::ErrorKind;

use crate::lab::{Lab, State};

const POOL: &str = "gpu_pool.dev";

#[tokio::test]
async fn a_pod_that_came_after_the_plan_leaves_the_node_as_it_is() {
    let (lab, state) = (Lab::new().await, State::none());
    let plan = lab.plan(POOL, &state, &lab.pool(4, &[("1g.10gb", 7)])).await.unwrap();
    lab.run("team-c", "late", "nvidia.com/gpu", "gpu-01").await;
    let error = lab.operate(&plan.operations.operations[0]).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let expected = "gpu-01 stays as it is: 1 pod(s) of team-c/pod/late (priority 0) would have to end, and the plan does \
                    not say so";
    assert_eq!(error.to_string(), expected);
    assert!(lab.pod("team-c", "late").await.is_some());
    assert_eq!(lab.gpu_node("gpu-01").await.spec.operation, None);
    lab.close().await;
}

#[tokio::test]
async fn a_card_that_was_cut_after_the_plan_is_not_touched() {
    let (lab, state) = (Lab::new().await, State::none());
    let plan = lab.plan(POOL, &state, &lab.pool(4, &[("1g.10gb", 7)])).await.unwrap();
    lab.exec("gpu-01", "nvidia-smi -i 0 -mig 1").await;
    lab.exec("gpu-01", "nvidia-smi --gpu-reset -i 0").await;
    assert_eq!(lab.cut("gpu-01", 0).await, "mig");
    let error = lab.operate(&plan.operations.operations[0]).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("is no longer cut as the plan saw it"), "{error}");
    assert_eq!(lab.gpu_node("gpu-01").await.spec.operation, None);
    assert_eq!(lab.taints("gpu-01").await, ["sliceform.io/hold=plan"], "the node stays held");
    lab.close().await;
}

#[tokio::test]
async fn a_hold_of_another_plan_is_named_and_one_that_is_taken_over_is_ours() {
    let (lab, state) = (Lab::new().await, State::none());
    let plan = lab.plan(POOL, &state, &lab.pool(4, &[("1g.10gb", 7)])).await.unwrap();
    let (instance, operation) = (lab.instance().await, &plan.operations.operations[0]);
    let first = lab.hold_request(operation);
    instance.hold(first.clone(), lab.call()).await.unwrap();
    let mut second = first.clone();
    second.plan = "next".into();
    let error = instance.hold(second.clone(), lab.call()).await.unwrap_err();
    assert_eq!((error.kind, error.to_string().as_str()), (ErrorKind::Conflict, "gpu-01 is held by another plan, plan"));
    second.hold.takes_over = Some(first.plan.clone());
    instance.hold(second.clone(), lab.call()).await.unwrap();
    // Only whoever holds it gives it back.
    instance.release(first, lab.call()).await.unwrap();
    assert_eq!(lab.taints("gpu-01").await, ["sliceform.io/hold=next"]);
    instance.release(second, lab.call()).await.unwrap();
    assert_eq!(lab.taints("gpu-01").await, Vec::<String>::new());
    lab.close().await;
}
