//! What goes wrong between the provider and the API server, over real HTTP: what passes is waited for, at every kind of
//! request that an apply makes.

use engine_value::{Type, Value};
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
use kube::{Api, api::PostParams};
use providers_sandbox::api::{Effect, Failure, Fault, When, Which};
use serde_json::json;
use tokio::task::JoinSet;

use crate::lab::{Lab, State};

const POOL: &str = "gpu_pool.dev";
const QUOTA: &str = "gpu_quota.a";

/// The provider, as the sandbox knows it: the agents are not struck.
const USER: &str = "sliceform";

/// Faults that pass.
fn passing() -> Vec<(&'static str, Effect)> {
    let before = |failure| Effect::Answer(When::Before, failure);
    vec![
        ("throttled", before(Failure::throttled(1))),
        ("unavailable", before(Failure::unavailable("starting"))),
        ("internal", before(Failure::internal("etcdserver: leader changed"))),
        ("timed out, and done", Effect::Answer(When::After, Failure::timed_out())),
        ("reset", Effect::Reset(When::Before)),
        ("reset, and done", Effect::Reset(When::After)),
        ("cut off", Effect::Cut(20)),
    ]
}

fn strike(lab: &Lab, effect: &Effect, requests: &[(&str, &str)]) {
    for (verb, resource) in requests {
        let which = Which::new(verb, resource).user(USER);
        lab.sandbox.script().unwrap().faults().add(Fault::once(which, effect.clone()));
    }
}

fn pending(lab: &Lab) -> usize {
    lab.sandbox.script().unwrap().faults().pending()
}

#[tokio::test]
async fn what_passes_is_waited_for_while_nodes_are_cut() {
    let mut all = JoinSet::new();
    for (name, effect) in passing() {
        all.spawn(async move {
            let (lab, mut state) = (Lab::new().await, State::none());
            lab.run("team-b", "nb", "nvidia.com/gpu", "gpu-01").await;
            // Looked at; held, by a taint; the pod evicted; the operation written. The node is given back by a patch, too.
            let of_both = [("list", "gpunodes"), ("get", "nodes"), ("patch", "nodes"), ("get", "gpunodes")];
            strike(&lab, &effect, &of_both);
            strike(&lab, &effect, &[("create", "pods/eviction"), ("update", "gpunodes")]);
            lab.carry_out(POOL, &mut state, &lab.pool(4, &[("1g.10gb", 7)])).await;
            assert_eq!(pending(&lab), 0, "{name}");
            assert_eq!(lab.pod("team-b", "nb").await, None, "{name}");
            assert!(lab.cut("gpu-01", 0).await.starts_with("mig "), "{name}");
            strike(&lab, &effect, &of_both);
            strike(&lab, &effect, &[("update", "gpunodes")]);
            lab.carry_out(POOL, &mut state, &Value::null(Type::Dynamic)).await;
            assert_eq!(pending(&lab), 0, "{name}");
            assert_eq!((lab.cut("gpu-01", 0).await.as_str(), lab.taints("gpu-01").await), ("whole", vec![]), "{name}");
            lab.close().await;
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn what_passes_is_waited_for_while_a_quota_is_written() {
    let (lab, mut state) = (Lab::new().await, State::none());
    let namespaces: Api<Namespace> = Api::all(lab.client().await);
    let namespace = serde_json::from_value(json!({ "metadata": { "name": "team-a" } })).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let quotas: Api<ResourceQuota> = Api::namespaced(lab.client().await, "team-a");
    for (name, effect) in passing() {
        let slices = Value::object([("nvidia.com/mig-1g.10gb", Value::int(4))]);
        let config = lab.config("gpu_quota", &[("namespace", Value::string("team-a")), ("slices", slices)]);
        strike(&lab, &effect, &[("get", "resourcequotas"), ("apply", "resourcequotas")]);
        lab.carry_out(QUOTA, &mut state, &config).await;
        assert_eq!(pending(&lab), 0, "{name}");
        assert!(quotas.get_opt("sliceform-gpu").await.unwrap().is_some(), "{name}");
        strike(&lab, &effect, &[("delete", "resourcequotas")]);
        lab.carry_out(QUOTA, &mut state, &Value::null(Type::Dynamic)).await;
        assert_eq!(pending(&lab), 0, "{name}");
        assert_eq!(quotas.get_opt("sliceform-gpu").await.unwrap(), None, "{name}");
    }
    lab.close().await;
}
