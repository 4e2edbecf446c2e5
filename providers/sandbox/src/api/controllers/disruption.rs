//! Pod disruption budgets: how many of their pods are healthy, how many must be, and `status`.
//!
//! Unlike Kubernetes' controller, a pod without a controller counts as one that is wanted, so `maxUnavailable` works for
//! bare pods, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::object::{self, items, text};
use super::super::selectors::LabelSelector;
use crate::store::{Key, Transaction};

const BUDGETS: &str = "poddisruptionbudgets.policy";

/// The arithmetic of one budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) struct Budget {
    pub(in crate::api) expected: i64,
    pub(in crate::api) healthy: i64,
    pub(in crate::api) desired: i64,
}

impl Budget {
    /// How many pods may go now.
    pub(in crate::api) fn allowed(self) -> i64 {
        if self.expected == 0 { 0 } else { (self.healthy - self.desired).max(0) }
    }
}

/// Whether a change of this object can change a budget's status.
pub(super) fn concerns(key: &Key) -> bool {
    ["pods", BUDGETS, "replicasets.apps", "deployments.apps"].contains(&key.resource.as_ref())
}

/// Ready and not on its way out.
pub(in crate::api) fn is_healthy(pod: &Value) -> bool {
    let ready = |condition: &Value| text(condition, "/type") == "Ready" && text(condition, "/status") == "True";
    !object::is_terminating(pod) && items(pod, "/status/conditions").any(ready)
}

/// The budgets that a pod falls under: name, arithmetic, and whether pods that are not ready may always go.
pub(in crate::api) fn budgets_of(store: &Transaction<'_>, pod: &Value) -> Vec<(String, Budget, bool)> {
    store
        .list_namespace(BUDGETS, object::namespace(pod))
        .filter(|(_, budget)| selector(budget).matches(pod))
        .map(|(_, budget)| {
            let always = text(budget, "/spec/unhealthyPodEvictionPolicy") == "AlwaysAllow";
            (object::name(budget).to_owned(), compute(store, budget), always)
        })
        .collect()
}

/// Brings `status` of the namespace's budgets up to date.
pub(super) fn refresh(store: &mut Transaction<'_>, namespace: &str, time: &str) {
    let budgets: Vec<(Key, Arc<Value>)> =
        store.list_namespace(BUDGETS, namespace).map(|(key, budget)| (key.clone(), budget.clone())).collect();
    for (key, live) in budgets {
        let budget = compute(store, &live);
        let allowed = budget.allowed();
        let (state, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
        let before =
            items(&live, "/status/conditions").find(|condition| text(condition, "/type") == "DisruptionAllowed");
        let since = before.filter(|condition| text(condition, "/status") == state);
        let since = since.map_or(time, |condition| text(condition, "/lastTransitionTime"));
        let status = json!({
            "currentHealthy": budget.healthy,
            "desiredHealthy": budget.desired,
            "disruptionsAllowed": allowed,
            "expectedPods": budget.expected,
            "observedGeneration": live.pointer("/metadata/generation"),
            "conditions": [{
                "type": "DisruptionAllowed", "status": state, "reason": reason, "message": "",
                "lastTransitionTime": since, "observedGeneration": live.pointer("/metadata/generation"),
            }],
        });
        super::write_status(store, &key, &live, status, time);
    }
}

fn selector(budget: &Value) -> LabelSelector {
    LabelSelector::from_json(budget.pointer("/spec/selector").unwrap_or(&Value::Null))
}

fn compute(store: &Transaction<'_>, budget: &Value) -> Budget {
    let namespace = object::namespace(budget);
    let selector = selector(budget);
    let mut healthy = 0;
    let mut wanted: BTreeMap<String, i64> = BTreeMap::new();
    let mut pods = 0;
    for (_, pod) in store.list_namespace("pods", namespace).filter(|(_, pod)| selector.matches(pod)) {
        if ["Succeeded", "Failed"].contains(&text(pod, "/status/phase")) {
            continue;
        }
        pods += 1;
        healthy += i64::from(is_healthy(pod));
        let (controller, replicas) = controller(store, pod);
        wanted.insert(controller, replicas);
    }
    let scale: i64 = wanted.values().sum();
    let (expected, desired) = match (budget.pointer("/spec/maxUnavailable"), budget.pointer("/spec/minAvailable")) {
        (Some(most), _) => (scale, (scale - amount(most, scale)).max(0)),
        (None, Some(Value::Number(least))) => (pods, least.as_i64().unwrap_or_default()),
        (None, Some(least)) => (scale, amount(least, scale)),
        (None, None) => (pods, 1),
    };
    Budget { expected, healthy, desired }
}

/// Who keeps the pod's number, and that number.
fn controller(store: &Transaction<'_>, pod: &Value) -> (String, i64) {
    let owner =
        items(pod, "/metadata/ownerReferences").find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    let namespace = object::namespace(pod);
    let replica_set = owner
        .filter(|owner| text(owner, "/kind") == "ReplicaSet")
        .and_then(|owner| store.get(&Key::new("replicasets.apps", namespace, text(owner, "/name"))));
    match replica_set {
        Some(set) => {
            let replicas = set.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
            (object::uid(set).to_owned(), replicas)
        }
        None => (object::uid(pod).to_owned(), 1),
    }
}

/// A number, or a percentage of `whole`, rounded up.
fn amount(value: &Value, whole: i64) -> i64 {
    match value {
        Value::Number(number) => number.as_i64().unwrap_or_default(),
        Value::String(text) => match text.strip_suffix('%').map(str::parse::<i64>) {
            Some(Ok(percent)) => (percent * whole + 99) / 100,
            _ => text.parse().unwrap_or_default(),
        },
        _ => 0,
    }
}
