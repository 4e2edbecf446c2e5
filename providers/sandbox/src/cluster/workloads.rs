//! The status of replica sets, deployments and jobs: how many of their pods there are. Nothing makes pods anew: one that is
//! gone stays gone, and the status says so.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::hands::Part;
use super::{Cluster, pod};
use crate::store::Key;

const REPLICA_SETS: &str = "replicasets.apps";
const DEPLOYMENTS: &str = "deployments.apps";
const JOBS: &str = "jobs.batch";

/// Where the store keeps workloads.
pub(super) const RESOURCES: [&str; 3] = [REPLICA_SETS, DEPLOYMENTS, JOBS];

/// The workloads whose status a change of this object concerns: itself, and its controller.
pub(super) fn concerned(key: &Key, object: &Value) -> Vec<Key> {
    let mut keys = Vec::new();
    if RESOURCES.contains(&key.resource.as_ref()) {
        keys.push(key.clone());
    }
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
    for owner in owners.filter(|owner| owner["controller"] == true) {
        let resource = match owner["kind"].as_str() {
            Some("ReplicaSet") => REPLICA_SETS,
            Some("Deployment") => DEPLOYMENTS,
            Some("Job") => JOBS,
            _ => continue,
        };
        keys.push(Key::new(resource, &key.namespace, owner["name"].as_str().unwrap_or_default()));
    }
    keys
}

impl Cluster {
    /// Brings the status of a workload up to date.
    pub(super) fn count(&self, key: &Key) {
        let (workload, parts) = {
            let read = self.ground.store.read();
            let Some(workload) = read.get(key).cloned() else { return };
            let uid = workload["metadata"]["uid"].as_str().unwrap_or_default();
            let parts: Vec<Arc<Value>> =
                read.dependants(uid).iter().filter_map(|part| read.get(part).cloned()).collect();
            (workload, parts)
        };
        let (path, status) = match &*key.resource {
            REPLICA_SETS => ("apps/v1", replica_set(&parts)),
            DEPLOYMENTS => ("apps/v1", deployment(&workload, &parts)),
            _ => ("batch/v1", self.job(&workload, &parts)),
        };
        let changes: Map<String, Value> = status
            .into_iter()
            .filter(|(field, value)| workload["status"].get(field).unwrap_or(&Value::Null) != value)
            .collect();
        if changes.is_empty() {
            return;
        }
        let plural = key.resource.split('.').next().unwrap_or_default();
        let path = format!("/apis/{path}/namespaces/{}/{plural}/{}/status", key.namespace, key.name);
        self.hands.merge(Part::Controllers, &path, &json!({"status": changes}));
    }

    fn job(&self, job: &Value, pods: &[Arc<Value>]) -> Vec<(String, Value)> {
        let phase = |phases: &[&str]| pods.iter().filter(|pod| phases.contains(&pod::phase(pod))).count();
        let succeeded = phase(&["Succeeded"]);
        let mut status = vec![
            field("active", phase(&["Pending", "Running"])),
            field("ready", phase(&["Running"])),
            field("succeeded", succeeded),
            field("failed", phase(&["Failed"])),
        ];
        let wanted = job["spec"]["completions"].as_u64().unwrap_or(1);
        if succeeded as u64 >= wanted && job["status"]["conditions"].is_null() {
            let now = self.time();
            let complete = json!([{"type": "Complete", "status": "True", "lastTransitionTime": now}]);
            status.extend([("conditions".to_owned(), complete), ("completionTime".to_owned(), now.into())]);
        }
        status
    }
}

/// Kubernetes leaves out what is 0.
fn field(name: &str, count: usize) -> (String, Value) {
    (name.to_owned(), if count == 0 { Value::Null } else { count.into() })
}

fn replica_set(pods: &[Arc<Value>]) -> Vec<(String, Value)> {
    let alive = |pod: &&Arc<Value>| !pod::is_over(pod) && !pod::is_terminating(pod);
    let count = pods.iter().filter(alive).count();
    let ready = pods.iter().filter(alive).filter(|pod| pod::phase(pod) == "Running").count();
    vec![
        // The one number that a replica set always has.
        ("replicas".to_owned(), count.into()),
        field("fullyLabeledReplicas", count),
        field("readyReplicas", ready),
        field("availableReplicas", ready),
    ]
}

fn deployment(deployment: &Value, sets: &[Arc<Value>]) -> Vec<(String, Value)> {
    let sum = |name: &str| sets.iter().filter_map(|set| set["status"][name].as_u64()).sum::<u64>() as usize;
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1) as usize;
    vec![
        field("replicas", sum("replicas")),
        field("updatedReplicas", sum("replicas")),
        field("readyReplicas", sum("readyReplicas")),
        field("availableReplicas", sum("availableReplicas")),
        field("unavailableReplicas", wanted.saturating_sub(sum("availableReplicas"))),
    ]
}
