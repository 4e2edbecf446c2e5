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

/// Whether it is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// How often its containers have been started again.
pub(super) fn restarts(pod: &Value) -> i64 {
    statuses(pod).filter_map(|status| status["restartCount"].as_i64()).sum()
}

/// Whether a container of it waits for that.
pub(super) fn waits_for(pod: &Value, reason: &str) -> bool {
    statuses(pod).any(|status| status["state"]["waiting"]["reason"] == reason)
}

fn statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    pod.pointer("/status/containerStatuses").and_then(Value::as_array).into_iter().flatten()
}

/// Its containers.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    pod.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten()
}

fn conditions(pod: &Value, ready: bool, why: Option<(&str, &str)>, now: &str) -> Value {
    let known = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let scheduled = known.clone().find(|one| one["type"] == "PodScheduled").cloned();
    let status = if ready { "True" } else { "False" };
    let condition = |kind: &str, status: &str| {
        let before = known.clone().find(|one| one["type"] == kind && one["status"] == status);
        let since = before.map_or_else(|| now.into(), |before| before["lastTransitionTime"].clone());
        let mut condition = json!({"type": kind, "status": status, "lastTransitionTime": since});
        if let Some((reason, message)) = why.filter(|_| status == "False") {
            condition["reason"] = reason.into();
            if !message.is_empty() {
                condition["message"] = message.into();
            }
        }
        condition
    };
    let mut all =
        vec![condition("Initialized", "True"), condition("Ready", status), condition("ContainersReady", status)];
    all.push(scheduled.unwrap_or_else(|| condition("PodScheduled", "True")));
    all.into()
}

/// What one container does.
struct ContainerState {
    ready: bool,
    state: Value,
    /// How often it has been started again, if that changes.
    restarts: Option<i64>,
    /// How it ended before, if that changes.
    last: Option<Value>,
}

fn container_statuses(pod: &Value, state: impl Fn(&Value, Option<&Value>) -> ContainerState) -> Value {
    let statuses = containers(pod).map(|container| {
        let known = statuses(pod).find(|status| status["name"] == container["name"]);
        let next = state(container, known);
        let restarts = next.restarts.or_else(|| known?["restartCount"].as_i64()).unwrap_or(0);
        let last = next.last.or_else(|| Some(known?["lastState"].clone())).filter(Value::is_object);
        json!({
            "name": container["name"], "image": container["image"], "imageID": "", "restartCount": restarts,
            "ready": next.ready, "started": next.state["running"].is_object(), "state": next.state,
            "lastState": last.unwrap_or_else(|| json!({})),
        })
    });
    statuses.collect()
}

fn terminated(pod: &Value, known: Option<&Value>, code: i64, now: &str) -> Value {
    let started = known.and_then(|known| known["state"]["running"]["startedAt"].as_str());
    let started = started.unwrap_or_else(|| text(pod, "/status/startTime"));
    let reason = if code == 0 { "Completed" } else { "Error" };
    json!({"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now})
}

fn unready(pod: &Value, statuses: &Value) -> String {
    let names = statuses.as_array().into_iter().flatten().filter(|status| status["ready"] == false);
    let names: Vec<&str> = names.filter_map(|status| status["name"].as_str()).collect();
    let count = containers(pod).count();
    if names.is_empty() && count > 0 {
        String::new()
    } else {
        format!("containers with unready status: [{}]", names.join(" "))
    }
}

/// The status of a pod whose containers all run from now on, or go on.
pub(super) fn running(pod: &Value, now: &str) -> Value {
    let ready = annotation(pod, crate::names::NEVER_READY) != Some("true");
    let statuses = container_statuses(pod, |_, known| {
        let state = known.map(|known| &known["state"]).filter(|state| state["running"].is_object()).cloned();
        let state = state.unwrap_or_else(|| json!({"running": {"startedAt": now}}));
        ContainerState { ready, state, restarts: None, last: None }
    });
    let message = unready(pod, &statuses);
    let started = Some(text(pod, "/status/startTime")).filter(|time| !time.is_empty()).unwrap_or(now);
    json!({"status": {
        "phase": "Running", "startTime": started,
        "conditions": conditions(pod, ready, Some(("ContainersNotReady", &message)), now),
        "containerStatuses": statuses,
    }})
}

/// The status of a pod of which an image cannot be pulled.
pub(super) fn not_pulled(pod: &Value, can_pull: impl Fn(&str) -> bool, now: &str) -> Value {
    let statuses = container_statuses(pod, |container, _| {
        let image = text(container, "/image");
        let state = match can_pull(image) {
            true => json!({"waiting": {"reason": "ContainerCreating"}}),
            false => {
                let message = format!("Back-off pulling image {image:?}");
                json!({"waiting": {"reason": "ImagePullBackOff", "message": message}})
            }
        };
        ContainerState { ready: false, state, restarts: None, last: None }
    });
    let message = unready(pod, &statuses);
    json!({"status": {
        "phase": "Pending", "startTime": now,
        "conditions": conditions(pod, false, Some(("ContainersNotReady", &message)), now),
        "containerStatuses": statuses,
    }})
}

/// The status of a pod whose containers (those that `end` names a code for) have ended and are to be started again.
pub(super) fn crashed(pod: &Value, end: impl Fn(&Value) -> Option<i64>, wait_seconds: u64, now: &str) -> Value {
    let (namespace, name) = self::name(pod);
    let statuses = container_statuses(pod, |container, known| match end(container) {
        Some(code) => {
            let message = format!(
                "back-off {} restarting failed container={} pod={name}_{namespace}({})",
                go_duration(wait_seconds),
                text(container, "/name"),
                uid(pod)
            );
            ContainerState {
                ready: false,
                state: json!({"waiting": {"reason": "CrashLoopBackOff", "message": message}}),
                restarts: Some(known.and_then(|known| known["restartCount"].as_i64()).unwrap_or(0) + 1),
                last: Some(json!({"terminated": terminated(pod, known, code, now)})),
            }
        }
        None => as_before(known, now),
    });
    let message = unready(pod, &statuses);
    json!({"status": {
        "conditions": conditions(pod, false, Some(("ContainersNotReady", &message)), now),
        "containerStatuses": statuses,
    }})
}

/// The status of a pod whose containers (those that `end` names a code for) have ended for good. When all have, so has it.
pub(super) fn ended(pod: &Value, end: impl Fn(&Value) -> Option<i64>, now: &str) -> Value {
    let statuses = container_statuses(pod, |container, known| match end(container) {
        Some(code) => {
            let state = json!({"terminated": terminated(pod, known, code, now)});
            ContainerState { ready: false, state, restarts: None, last: None }
        }
        None => as_before(known, now),
    });
    let codes: Vec<Option<i64>> = containers(pod).map(&end).collect();
    let message = unready(pod, &statuses);
    let (phase, reason) = match codes.iter().copied().collect::<Option<Vec<i64>>>() {
        None => ("Running", "ContainersNotReady"),
        Some(codes) if codes.iter().all(|code| *code == 0) => ("Succeeded", "PodCompleted"),
        Some(_) => ("Failed", "PodFailed"),
    };
    let message = if phase == "Running" { message.as_str() } else { "" };
    json!({"status": {
        "phase": phase, "conditions": conditions(pod, false, Some((reason, message)), now),
        "containerStatuses": statuses,
    }})
}

fn as_before(known: Option<&Value>, now: &str) -> ContainerState {
    let state = known.map_or_else(|| json!({"running": {"startedAt": now}}), |known| known["state"].clone());
    ContainerState { ready: state["running"].is_object(), state, restarts: None, last: None }
}

/// `10s`, `1m20s`, as Go prints it.
fn go_duration(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
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
