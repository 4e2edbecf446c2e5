//! What a pod's object says, and how its status is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::PodName;

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Namespace and name.
pub(super) fn name(pod: &Value) -> PodName {
    (text(pod, "/metadata/namespace").into(), text(pod, "/metadata/name").into())
}

pub(super) fn path((namespace, name): &PodName) -> String {
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}

/// The node that it is bound to; empty for none.
pub(super) fn node(pod: &Value) -> &str {
    text(pod, "/spec/nodeName")
}

pub(super) fn uid(pod: &Value) -> &str {
    text(pod, "/metadata/uid")
}

pub(super) fn phase(pod: &Value) -> &str {
    text(pod, "/status/phase")
}

pub(super) fn is_over(pod: &Value) -> bool {
    ["Succeeded", "Failed"].contains(&phase(pod))
}

pub(super) fn is_terminating(pod: &Value) -> bool {
    !text(pod, "/metadata/deletionTimestamp").is_empty()
}

/// An annotation's text.
pub(super) fn annotation<'a>(pod: &'a Value, name: &str) -> Option<&'a str> {
    pod.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// A duration in an annotation, in milliseconds.
pub(super) fn duration(pod: &Value, name: &str) -> Option<u64> {
    crate::fleet::milliseconds(annotation(pod, name)?)
}

/// Containers with what each asks for of the resources that are counted: those with a domain in their name.
pub(super) fn requests(pod: &Value) -> Vec<(String, BTreeMap<String, u64>)> {
    let containers = |list: &str| pod.pointer(list).and_then(Value::as_array).into_iter().flatten();
    let of = |container: &Value| {
        let requests = container.pointer("/resources/requests").and_then(Value::as_object);
        let counted = requests.into_iter().flatten().filter(|(name, _)| name.contains('/'));
        let counted = counted.filter_map(|(name, amount)| Some((name.clone(), count(amount)?)));
        (text(container, "/name").to_owned(), counted.filter(|(_, count)| *count > 0).collect())
    };
    containers("/spec/containers").map(of).collect()
}

/// A whole number of devices.
pub(super) fn count(amount: &Value) -> Option<u64> {
    amount.as_str().map_or_else(|| amount.as_u64(), |text| text.parse().ok())
}

/// All that the pod asks for.
pub(super) fn total(pod: &Value) -> BTreeMap<String, u64> {
    let mut total: BTreeMap<String, u64> = BTreeMap::new();
    for (resource, count) in requests(pod).into_iter().flat_map(|(_, requests)| requests) {
        *total.entry(resource).or_default() += count;
    }
    total
}

fn conditions(pod: &Value, ready: bool, reason: Option<&str>, now: &str) -> Value {
    let known = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let scheduled = known.clone().find(|one| one["type"] == "PodScheduled").cloned();
    let status = if ready { "True" } else { "False" };
    let condition = |kind: &str, status: &str| {
        let mut condition = json!({"type": kind, "status": status, "lastTransitionTime": now});
        if let Some(reason) = reason.filter(|_| status == "False") {
            condition["reason"] = reason.into();
        }
        condition
    };
    let mut all =
        vec![condition("Initialized", "True"), condition("Ready", status), condition("ContainersReady", status)];
    all.push(scheduled.unwrap_or_else(|| condition("PodScheduled", "True")));
    all.into()
}

fn container_statuses(pod: &Value, ready: bool, state: &Value) -> Value {
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten();
    let statuses = containers.map(|container| {
        json!({
            "name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0,
            "ready": ready, "started": ready, "state": state,
        })
    });
    statuses.collect()
}

/// The status of a pod that runs from now on.
pub(super) fn running(pod: &Value, now: &str) -> Value {
    json!({"status": {
        "phase": "Running", "startTime": now, "conditions": conditions(pod, true, None, now),
        "containerStatuses": container_statuses(pod, true, &json!({"running": {"startedAt": now}})),
    }})
}

/// The status of a pod that has done its work.
pub(super) fn succeeded(pod: &Value, now: &str) -> Value {
    let started = text(pod, "/status/startTime");
    let state = json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": started, "finishedAt": now}});
    json!({"status": {
        "phase": "Succeeded", "conditions": conditions(pod, false, Some("PodCompleted"), now),
        "containerStatuses": container_statuses(pod, false, &state),
    }})
}

/// The status of a pod that its kubelet does not take.
pub(super) fn refused(message: &str) -> Value {
    json!({"status": {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": message}})
}

/// The status of a pod that no node takes; `None` where it says so already.
pub(super) fn unschedulable(pod: &Value, message: &str, now: &str) -> Option<Value> {
    let known = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let says = |one: &Value| one["type"] == "PodScheduled" && one["status"] == "False" && one["message"] == message;
    if known.clone().any(says) {
        return None;
    }
    let mut conditions: Vec<Value> = known.filter(|one| one["type"] != "PodScheduled").cloned().collect();
    conditions.push(json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
        "lastTransitionTime": now,
    }));
    Some(json!({"status": {"conditions": conditions}}))
}

/// When it was created; then its name: the order in which pods of one priority wait.
pub(super) fn age(pod: &Arc<Value>) -> (&str, &str, &str) {
    (text(pod, "/metadata/creationTimestamp"), text(pod, "/metadata/namespace"), text(pod, "/metadata/name"))
}

pub(super) fn priority(pod: &Value) -> i64 {
    pod.pointer("/spec/priority").and_then(Value::as_i64).unwrap_or_default()
}
