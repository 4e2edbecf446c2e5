//! The API's objects become ours. Pure.

use std::collections::BTreeMap;

use engine_model::name::ResourceName;
use k8s_openapi::{
    api::core::v1::{self as core, Node as ApiNode, Pod as ApiPod, ResourceQuota},
    apimachinery::pkg::api::resource::Quantity,
};
use providers_agent_api::GpuNode;

use super::{Card, Node, Pod, PodName, Quota, Report};
use crate::resource::{Amounts, is_gpu_resource};

/// What a quota's key begins with where it limits an extended resource.
const REQUESTS: &str = "requests.";

impl Node {
    /// What the API says about a node; agent and pods are added by the reader.
    pub(crate) fn from_api(node: &ApiNode) -> Self {
        let status = node.status.as_ref();
        let allocatable = status.and_then(|status| status.allocatable.as_ref());
        Self {
            labels: node.metadata.labels.clone().unwrap_or_default(),
            not_ready: not_ready(node),
            cordoned: node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or(false),
            allocatable: allocatable.map(gpu_amounts).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// Why Kubernetes does not call a node ready.
pub(crate) fn not_ready(node: &ApiNode) -> Option<String> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
    match ready {
        Some(ready) if ready.status == "True" => None,
        Some(ready) => Some(ready.message.clone().filter(|text| !text.is_empty()).unwrap_or_else(|| {
            let reason = ready.reason.clone().unwrap_or_default();
            format!("condition Ready is {} {reason}", ready.status).trim_end().to_owned()
        })),
        None => Some("it has no condition Ready yet".to_owned()),
    }
}

/// The GPU resources among quantities; zeroes are left out, since a name that is no longer offered lingers as zero.
pub(crate) fn gpu_amounts<'a>(quantities: impl IntoIterator<Item = (&'a String, &'a Quantity)>) -> Amounts {
    let ours = quantities.into_iter().filter(|(name, _)| is_gpu_resource(name));
    ours.map(|(name, quantity)| (ResourceName::from(name.as_str()), whole(quantity)))
        .filter(|(_, amount)| *amount > 0)
        .collect()
}

// Extended resources are whole numbers; the API accepts `2k` for them and gives it back so.
fn whole(quantity: &Quantity) -> u64 {
    let text = quantity.0.as_str();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match &text[digits.len()..] {
        "k" => 1_000,
        "Ki" => 1_024,
        "M" => 1_000_000,
        "Mi" => 1_048_576,
        _ => 1,
    };
    digits.parse::<u64>().unwrap_or(0).saturating_mul(factor)
}

/// What an agent reports. `spec` tells what it was asked for.
pub(crate) fn report(node: &GpuNode) -> Option<Report> {
    let status = node.status.as_ref()?;
    let cards: Result<Vec<Card>, String> = status.cards.iter().map(Card::from_status).collect();
    let (cards, unreadable) = match cards {
        Ok(cards) => (cards, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Some(Report {
        driver: status.driver_version.parse().ok(),
        cards,
        error: status.last_error.clone().or(unreadable),
        operation: status.operation.clone(),
        asked: node.spec.operation.as_ref().map(|operation| operation.id.clone()),
    })
}

impl Pod {
    /// A pod that has not ended; `None` where it has.
    pub(crate) fn from_api(pod: &ApiPod) -> Option<(PodName, Self)> {
        let meta = &pod.metadata;
        let name = PodName { namespace: meta.namespace.clone()?, name: meta.name.clone()? };
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending");
        if matches!(phase, "Succeeded" | "Failed") {
            return None;
        }
        let spec = pod.spec.as_ref()?;
        let (owner_kind, owner_name) = owner(pod, &name);
        let annotations = meta.annotations.as_ref();
        let pod = Self {
            node: spec.node_name.as_deref().filter(|node| !node.is_empty()).map(Into::into),
            owner_kind,
            owner_name,
            priority: spec.priority.unwrap_or(0),
            requests: requests(spec),
            is_static: annotations.is_some_and(|map| map.contains_key("kubernetes.io/config.mirror")),
            ending: meta.deletion_timestamp.is_some(),
            pending: phase == "Pending",
            uid: meta.uid.clone().unwrap_or_default(),
        };
        Some((name, pod))
    }
}

// A ReplicaSet of a Deployment is named `DEPLOYMENT-HASH`, and its pods have that hash as a label: so one list of pods
// is enough to tell the Deployment.
fn owner(pod: &ApiPod, name: &PodName) -> (String, String) {
    let owners = pod.metadata.owner_references.as_ref();
    let Some(owner) = owners.into_iter().flatten().find(|owner| owner.controller == Some(true)) else {
        return ("pod".to_owned(), name.name.clone());
    };
    let hash = pod.metadata.labels.as_ref().and_then(|labels| labels.get("pod-template-hash"));
    if owner.kind == "ReplicaSet"
        && let Some(deployment) = hash.and_then(|hash| owner.name.strip_suffix(hash)?.strip_suffix('-'))
    {
        return ("deployment".to_owned(), deployment.to_owned());
    }
    (owner.kind.to_lowercase(), owner.name.clone())
}

// Containers run together, init containers one after the other before them: the larger of the two counts, as it does
// for the scheduler. (Sidecars, which are init containers that stay, are counted with the containers.)
fn requests(spec: &core::PodSpec) -> Amounts {
    let of = |container: &core::Container| {
        let resources = container.resources.as_ref();
        // Extended resources cannot be overcommitted: a limit alone is a request too.
        let limits = resources.and_then(|r| r.limits.as_ref()).map(gpu_amounts).unwrap_or_default();
        let mut amounts = resources.and_then(|r| r.requests.as_ref()).map(gpu_amounts).unwrap_or_default();
        for (name, amount) in limits {
            amounts.entry(name).or_insert(amount);
        }
        amounts
    };
    let mut together = Amounts::new();
    for container in &spec.containers {
        crate::resource::add(&mut together, &of(container));
    }
    for container in spec.init_containers.iter().flatten() {
        if container.restart_policy.as_deref() == Some("Always") {
            crate::resource::add(&mut together, &of(container));
            continue;
        }
        for (name, amount) in of(container) {
            let largest = together.entry(name).or_default();
            *largest = amount.max(*largest);
        }
    }
    together
}

impl Quota {
    /// A quota with what it says about GPU names.
    pub(crate) fn from_api(quota: &ResourceQuota) -> Option<Self> {
        let limits = |map: Option<&BTreeMap<String, Quantity>>| -> Amounts {
            let named = map.into_iter().flatten().filter_map(|(key, quantity)| {
                let name = key.strip_prefix(REQUESTS).filter(|name| is_gpu_resource(name))?;
                Some((ResourceName::from(name), whole(quantity)))
            });
            named.collect()
        };
        Some(Self {
            namespace: quota.metadata.namespace.clone()?,
            name: quota.metadata.name.clone()?,
            hard: limits(quota.spec.as_ref().and_then(|spec| spec.hard.as_ref())),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readiness_says_why() {
        for (conditions, expected) in [
            (json!([{ "type": "Ready", "status": "True" }]), None),
            (
                json!([{ "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown" }]),
                Some("condition Ready is Unknown NodeStatusUnknown"),
            ),
            (json!([{ "type": "Ready", "status": "False", "message": "kubelet stopped" }]), Some("kubelet stopped")),
            (json!([]), Some("it has no condition Ready yet")),
        ] {
            let node: ApiNode = serde_json::from_value(json!({ "status": { "conditions": conditions } })).unwrap();
            assert_eq!(not_ready(&node).as_deref(), expected);
        }
    }

    #[test]
    fn only_gpu_names_that_are_not_zero_count() {
        let node: ApiNode = serde_json::from_value(json!({ "status": { "allocatable": {
            "cpu": "64", "nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "3", "sliceform.io/a": "2k" } } }))
        .unwrap();
        let expected = [("nvidia.com/mig-1g.10gb".into(), 3), ("sliceform.io/a".into(), 2000)];
        assert_eq!(Node::from_api(&node).allocatable, Amounts::from(expected));
    }

    fn pod(meta: serde_json::Value, spec: serde_json::Value, phase: &str) -> Option<(PodName, Pod)> {
        let pod = json!({ "metadata": meta, "spec": spec, "status": { "phase": phase } });
        Pod::from_api(&serde_json::from_value(pod).unwrap())
    }

    #[test]
    fn owners_are_what_a_person_would_name() {
        let owned = |kind: &str, name: &str| {
            let owner = json!({ "apiVersion": "v1", "kind": kind, "name": name, "uid": "u", "controller": true });
            let labels = json!({ "pod-template-hash": "5d9c" });
            let meta = json!({ "namespace": "a", "name": "p", "labels": labels, "ownerReferences": [owner] });
            let (_, pod) = pod(meta, json!({ "containers": [] }), "Running").unwrap();
            (pod.owner_kind, pod.owner_name)
        };
        assert_eq!(owned("ReplicaSet", "notebook-5d9c"), ("deployment".to_owned(), "notebook".to_owned()));
        assert_eq!(owned("ReplicaSet", "alone"), ("replicaset".to_owned(), "alone".to_owned()));
        assert_eq!(owned("Job", "train"), ("job".to_owned(), "train".to_owned()));
        let (_, bare) = pod(json!({ "namespace": "a", "name": "p" }), json!({ "containers": [] }), "Running").unwrap();
        assert_eq!((bare.owner_kind.as_str(), bare.owner_name.as_str()), ("pod", "p"));
    }

    #[test]
    fn requests_are_those_that_the_scheduler_counts() {
        let container =
            |gpus: u64| json!({ "name": "c", "resources": { "limits": { "nvidia.com/gpu": gpus.to_string() } } });
        let mut sidecar = container(1);
        sidecar["restartPolicy"] = "Always".into();
        for (containers, init, expected) in [
            (vec![container(1), container(2)], vec![], 3),
            (vec![container(1)], vec![container(4), container(2)], 4),
            (vec![container(1)], vec![sidecar], 2),
        ] {
            let spec = json!({ "containers": containers, "initContainers": init });
            let (_, pod) = pod(json!({ "namespace": "a", "name": "p" }), spec, "Running").unwrap();
            assert_eq!(pod.requests, Amounts::from([("nvidia.com/gpu".into(), expected)]));
        }
    }

    #[test]
    fn pods_that_ended_are_no_users() {
        for phase in ["Succeeded", "Failed"] {
            assert_eq!(pod(json!({ "namespace": "a", "name": "p" }), json!({ "containers": [] }), phase), None);
        }
    }

    #[test]
    fn quotas_on_other_things_are_not_ours() {
        let quota = |hard: serde_json::Value| {
            let quota = json!({ "metadata": { "namespace": "a", "name": "q" }, "spec": { "hard": hard } });
            Quota::from_api(&serde_json::from_value(quota).unwrap())
        };
        assert_eq!(quota(json!({ "pods": "3", "requests.cpu": "4" })).unwrap().hard, Amounts::new());
        // A bare name is accepted by the API and never enforced.
        assert_eq!(quota(json!({ "nvidia.com/gpu": "3" })).unwrap().hard, Amounts::new());
        let hard = quota(json!({ "requests.nvidia.com/gpu": "0" })).unwrap().hard;
        assert_eq!(hard, Amounts::from([("nvidia.com/gpu".into(), 0)]));
    }
}
