//! A quota through its life.

use engine_model::change::Action;
use engine_value::{Type, Value};
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use providers_api::ErrorKind;
use serde_json::json;

use crate::lab::{Lab, State, amount};

const QUOTA: &str = "gpu_quota.a";

async fn quotas(lab: &Lab) -> Api<ResourceQuota> {
    let namespaces: Api<Namespace> = Api::all(lab.client().await);
    let namespace = serde_json::from_value(json!({ "metadata": { "name": "team-a" } })).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    Api::namespaced(lab.client().await, "team-a")
}

fn config(lab: &Lab, amount: i64) -> Value {
    let slices = Value::object([("nvidia.com/mig-1g.10gb", Value::int(amount))]);
    lab.config("gpu_quota", &[("namespace", Value::string("team-a")), ("slices", slices)])
}

#[tokio::test]
async fn it_is_written_drifts_and_goes() {
    let (lab, mut state) = (Lab::new().await, State::none());
    let api = quotas(&lab).await;
    lab.carry_out(QUOTA, &mut state, &config(&lab, 4)).await;
    let hard = api.get("sliceform-gpu").await.unwrap().spec.unwrap().hard.unwrap();
    assert_eq!(hard["requests.nvidia.com/mig-1g.10gb"].0, "4");
    assert_eq!(
        (hard["requests.nvidia.com/gpu"].0.as_str(), hard["requests.nvidia.com/mig-7g.80gb"].0.as_str()),
        ("0", "0")
    );

    let patch = json!({ "spec": { "hard": { "requests.nvidia.com/gpu": "2", "pods": "9" } } });
    api.patch("sliceform-gpu", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    let plan = lab.plan(QUOTA, &state, &config(&lab, 4)).await.unwrap();
    assert_eq!(plan.notes, ["team-a/sliceform-gpu: nvidia.com/gpu is 2, not 0"]);
    assert_eq!(amount(&plan.change.before, "slices", "nvidia.com/gpu"), Some(2));
    lab.carry_out(QUOTA, &mut state, &config(&lab, 4)).await;
    let hard = api.get("sliceform-gpu").await.unwrap().spec.unwrap().hard.unwrap();
    assert_eq!((hard["requests.nvidia.com/gpu"].0.as_str(), hard["pods"].0.as_str()), ("0", "9"));

    lab.carry_out(QUOTA, &mut state, &config(&lab, 5)).await;
    lab.carry_out(QUOTA, &mut state, &Value::null(Type::Dynamic)).await;
    assert_eq!(api.get_opt("sliceform-gpu").await.unwrap(), None);
    lab.close().await;
}

#[tokio::test]
async fn one_that_is_not_ours_is_left_alone() {
    let (lab, state) = (Lab::new().await, State::none());
    let api = quotas(&lab).await;
    let theirs = json!({ "metadata": { "name": "sliceform-gpu" }, "spec": { "hard": { "pods": "1" } } });
    api.create(&PostParams::default(), &serde_json::from_value(theirs).unwrap()).await.unwrap();
    let plan = lab.plan(QUOTA, &state, &config(&lab, 4)).await.unwrap();
    assert_eq!(plan.change.action, Action::Create);
    let error = lab.apply(&plan.change).await.error.unwrap();
    let expected = "ResourceQuota team-a/sliceform-gpu exists already, and is not ours";
    assert_eq!((error.kind, error.to_string().as_str()), (ErrorKind::Conflict, expected));
    lab.close().await;
}
