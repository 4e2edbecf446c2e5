//! The device plugin, GPU feature discovery and the kubelet's status of one node: what its hardware offers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::hands::Part;
use super::{Cluster, labels};
use crate::store::Key;

/// Prefix of the resources that NVIDIA's device plugin registers.
const PREFIX: &str = "nvidia.com/";

impl Cluster {
    /// Brings a node's status and labels up to date. A kubelet that does not work leaves what it wrote last.
    pub(super) fn advertise(&self, name: &Arc<str>) {
        let Some(node) = self.ground.store.read().get(&Key::new("nodes", "", name)).cloned() else { return };
        self.tell_ready(name, &node);
        if !self.ground.kubelets.works(name) {
            return;
        }
        let found = self.ground.hardware.read(|fleet| {
            let node = fleet.nodes.get(&**name)?;
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for device in node.devices() {
                *counts.entry(device.resource).or_default() += 1;
            }
            Some((counts, labels::of(node)))
        });
        let Some((counts, labels)) = found else { return };
        let status = ["capacity", "allocatable"].map(|field| (field, changed(&node["status"][field], &counts)));
        let status: Map<String, Value> = status
            .into_iter()
            .filter(|(_, changes)| !changes.is_empty())
            .map(|(field, changes)| (field.to_owned(), Value::Object(changes)))
            .collect();
        if !status.is_empty() {
            self.hands.merge(Part::DevicePlugin, &format!("/api/v1/nodes/{name}/status"), &json!({"status": status}));
        }
        let labels = labels::changes(&node["metadata"]["labels"], &labels);
        if !labels.is_empty() {
            let patch = json!({"metadata": {"labels": labels}});
            self.hands.merge(Part::FeatureDiscovery, &format!("/api/v1/nodes/{name}"), &patch);
        }
    }

    fn tell_ready(&self, name: &str, node: &Value) {
        let works = self.ground.kubelets.works(name);
        let status = if works { "True" } else { "Unknown" };
        let known = node["status"]["conditions"].as_array().into_iter().flatten();
        if known.clone().any(|one| one["type"] == "Ready" && one["status"] == status) {
            return;
        }
        let now = self.time();
        let (reason, message) = match works {
            true => ("KubeletReady", "kubelet is posting ready status"),
            false => ("NodeStatusUnknown", "Kubelet stopped posting node status."),
        };
        let condition = json!({
            "type": "Ready", "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now,
        });
        let patch = json!({"status": {"conditions": [condition]}});
        self.hands.merge(Part::Kubelet, &format!("/api/v1/nodes/{name}/status"), &patch);
        let unreachable = "node.kubernetes.io/unreachable";
        let taints = node["spec"]["taints"].as_array().into_iter().flatten();
        let mut kept: Vec<Value> = taints.filter(|taint| taint["key"] != unreachable).cloned().collect();
        if !works {
            kept.push(json!({"key": unreachable, "effect": "NoSchedule"}));
        }
        if node["spec"]["taints"].as_array().map_or(0, Vec::len) != kept.len() {
            let taints = if kept.is_empty() { Value::Null } else { kept.into() };
            self.hands.merge(Part::Kubelet, &format!("/api/v1/nodes/{name}"), &json!({"spec": {"taints": taints}}));
        }
    }

    /// The kubelet's heartbeat.
    pub(super) fn renew_lease(&self, node: &str) {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": node, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": format!("{:.6}", self.timestamp())},
        });
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{node}");
        self.hands.apply(Part::Kubelet, &path, &lease);
    }

    pub(super) fn timestamp(&self) -> jiff::Timestamp {
        jiff::Timestamp::try_from(self.ground.host.now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// Now, as objects write it: in whole seconds.
    pub(super) fn time(&self) -> String {
        format!("{:.0}", self.timestamp())
    }
}

/// What differs between the amounts of a status and those that are offered. A name that is not offered any more stays,
/// with 0, as real kubelets leave it.
fn changed(amounts: &Value, offered: &BTreeMap<String, u64>) -> Map<String, Value> {
    let known = amounts.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with(PREFIX));
    let mut changes = Map::new();
    for (name, amount) in known {
        if !offered.contains_key(name) && amount != "0" {
            changes.insert(name.clone(), "0".into());
        }
    }
    for (name, count) in offered {
        let count = count.to_string();
        if amounts.get(name).and_then(Value::as_str) != Some(&count) {
            changes.insert(name.clone(), count.into());
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_vanish_linger_as_zero() {
        let offered = BTreeMap::from([("nvidia.com/mig-1g.10gb".to_owned(), 3)]);
        let amounts = json!({"cpu": "8", "nvidia.com/gpu": "2", "nvidia.com/mig-2g.20gb": "0"});
        let expected = json!({"nvidia.com/gpu": "0", "nvidia.com/mig-1g.10gb": "3"});
        assert_eq!(Value::Object(changed(&amounts, &offered)), expected);
        assert!(changed(&json!({"nvidia.com/mig-1g.10gb": "3"}), &offered).is_empty());
    }
}
