//! Whether a node takes a pod: pure. The reasons are worded as the scheduler of Kubernetes words them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::pod;

/// Why a node does not take a pod.
pub(super) type Reason = String;

const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// What there is on a node, beside its object.
pub(super) struct Room<'a> {
    pub(super) node: &'a Value,
    /// Whether its kubelet works.
    pub(super) ready: bool,
    /// What its pods ask for.
    pub(super) used: BTreeMap<String, u64>,
}

impl Room<'_> {
    /// The reasons why this node does not take the pod; none: it does.
    pub(super) fn refusals(&self, pod: &Value) -> Vec<Reason> {
        let first = self.taint(pod).or_else(|| self.selector(pod));
        match first {
            Some(reason) => vec![reason],
            None => self.shortages(pod),
        }
    }

    fn taint(&self, pod: &Value) -> Option<Reason> {
        let cordoned = self.node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
        let cordon = serde_json::json!({"key": UNSCHEDULABLE, "effect": "NoSchedule"});
        if cordoned && !tolerates(pod, &cordon) {
            return Some("node(s) were unschedulable".to_owned());
        }
        let taints = self.node.pointer("/spec/taints").and_then(Value::as_array).into_iter().flatten();
        let hard = taints.filter(|taint| taint["effect"] == "NoSchedule" || taint["effect"] == "NoExecute");
        for taint in hard {
            if !tolerates(pod, taint) {
                let text = |field: &str| taint[field].as_str().unwrap_or_default();
                return Some(format!("node(s) had untolerated taint {{{}: {}}}", text("key"), text("value")));
            }
        }
        (!self.ready).then(|| "node(s) were not ready".to_owned())
    }

    fn selector(&self, pod: &Value) -> Option<Reason> {
        let labels = &self.node["metadata"]["labels"];
        let wanted = pod.pointer("/spec/nodeSelector").and_then(Value::as_object).into_iter().flatten();
        let fits = wanted.into_iter().all(|(name, value)| labels.get(name) == Some(value));
        (!fits).then(|| "node(s) didn't match Pod's node affinity/selector".to_owned())
    }

    fn shortages(&self, pod: &Value) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (resource, wanted) in pod::total(pod) {
            let allocatable = self.node["status"]["allocatable"].get(&resource).and_then(pod::count).unwrap_or(0);
            let used = self.used.get(&resource).copied().unwrap_or(0);
            if used + wanted > allocatable {
                reasons.push(format!("Insufficient {resource}"));
            }
        }
        reasons
    }
}

fn tolerates(pod: &Value, taint: &Value) -> bool {
    let tolerations = pod.pointer("/spec/tolerations").and_then(Value::as_array).into_iter().flatten();
    tolerations.into_iter().any(|toleration| {
        let text = |field: &str| toleration.get(field).and_then(Value::as_str).unwrap_or_default();
        let key = text("key").is_empty() || taint["key"] == text("key");
        let effect = text("effect").is_empty() || taint["effect"] == text("effect");
        let value = text("operator") == "Exists"
            || (!text("key").is_empty() && taint["value"].as_str().unwrap_or_default() == text("value"));
        key && effect && value
    })
}

/// What this scheduler does not know and a pod asks for: it must not be placed as if it had not asked.
pub(super) fn unknown_wish(pod: &Value) -> Option<String> {
    let spec = pod.get("spec")?;
    let asks = |field: &str| {
        spec.get(field).is_some_and(|value| {
            value.as_object().is_some_and(|map| !map.is_empty())
                || value.as_array().is_some_and(|list| !list.is_empty())
        })
    };
    let fields = ["affinity", "topologySpreadConstraints", "schedulingGates", "resourceClaims"];
    let field = fields.into_iter().find(|field| asks(field))?;
    Some(format!("the sandbox's scheduler does not know spec.{field}"))
}

/// What is said of a pod that no node takes.
pub(super) fn message(nodes: usize, reasons: &BTreeMap<Reason, usize>) -> String {
    let mut reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    reasons.sort();
    let reasons = if reasons.is_empty() { "there is none".to_owned() } else { reasons.join(", ") };
    format!("0/{nodes} nodes are available: {reasons}.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(node: &Value, pod: &Value, expected: &[&str]) {
        let used = BTreeMap::from([("nvidia.com/gpu".to_owned(), 1)]);
        assert_eq!(Room { node, ready: true, used }.refusals(pod), expected, "{node} {pod}");
    }

    #[test]
    fn nodes_take_what_fits() {
        let pod = |spec: Value| {
            let mut pod = json!({"spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]}});
            pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
            pod
        };
        let node = |count: &str, spec: Value| json!({"metadata": {"labels": {"a": "b"}}, "spec": spec, "status": {"allocatable": {"nvidia.com/gpu": count}}});
        let plain = pod(json!({}));
        check(&node("2", json!({})), &plain, &[]);
        check(&node("1", json!({})), &plain, &["Insufficient nvidia.com/gpu"]);
        check(&node("2", json!({"unschedulable": true})), &plain, &["node(s) were unschedulable"]);
        let held = node("2", json!({"taints": [{"key": "sliceform.io/hold", "value": "x", "effect": "NoSchedule"}]}));
        check(&held, &plain, &["node(s) had untolerated taint {sliceform.io/hold: x}"]);
        let tolerant = json!({"tolerations": [{"key": "sliceform.io/hold", "operator": "Equal", "value": "x"}]});
        check(&held, &pod(tolerant), &[]);
        check(&held, &pod(json!({"tolerations": [{"operator": "Exists"}]})), &[]);
        let soft = node("2", json!({"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}));
        check(&soft, &plain, &[]);
        check(&node("2", json!({})), &pod(json!({"nodeSelector": {"a": "b"}})), &[]);
        let other = pod(json!({"nodeSelector": {"a": "c"}}));
        check(&node("2", json!({})), &other, &["node(s) didn't match Pod's node affinity/selector"]);
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(unknown_wish(&json!({"spec": {"affinity": {}}})), None);
        let wish = unknown_wish(&json!({"spec": {"topologySpreadConstraints": [{}]}})).unwrap();
        assert!(wish.contains("spec.topologySpreadConstraints"), "{wish}");
    }
}
