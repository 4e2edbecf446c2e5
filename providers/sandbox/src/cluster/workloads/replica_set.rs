//! Replica sets: as many pods as they say.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::hands::Part;
use super::super::{Cluster, pod};
use super::condition::{self, Wanted};
use super::{count, number};
use crate::api::Failure;
use crate::store::Key;

/// Pods that are made or taken away at once, as Kubernetes bounds them.
const BURST: usize = 500;

/// The annotation by which a pod says that it should be taken rather later.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

impl Cluster {
    pub(super) fn keep_replica_set(&mut self, key: &Key, set: &Arc<Value>) {
        let mut pods = self.owned(set, "pods");
        let terminating = pods.iter().filter(|pod| pod::is_terminating(pod) && !pod::is_over(pod)).count();
        pods.retain(|pod| !pod::is_over(pod) && !pod::is_terminating(pod));
        let wanted = usize::try_from(number(set, "/spec/replicas").unwrap_or(1)).unwrap_or(0);
        let mut conditions = condition::all(set);
        if !pod::is_terminating(set) {
            let refusal = self.fit_number(key, set, &pods, wanted);
            match refusal {
                Some(refusal) => {
                    let wanted = Wanted {
                        kind: "ReplicaFailure",
                        status: "True",
                        reason: "FailedCreate",
                        message: &refusal.message,
                    };
                    condition::set(&mut conditions, &wanted, &self.time(), false);
                }
                None if pods.len() >= wanted || !self.must_wait(key) => {
                    condition::remove(&mut conditions, "ReplicaFailure")
                }
                None => {}
            }
        }
        self.tell_replica_set(key, set, &pods, terminating, conditions);
    }

    /// Makes or takes away pods; returns why one could not be made.
    fn fit_number(&mut self, key: &Key, set: &Value, pods: &[Arc<Value>], wanted: usize) -> Option<Failure> {
        if pods.len() < wanted {
            if self.must_wait(key) {
                return None;
            }
            for _ in 0..(wanted - pods.len()).min(BURST) {
                if let Err(failure) = self.create_pod(key, set, &key.name, |_| {}) {
                    return Some(failure);
                }
            }
        } else {
            let mut pods: Vec<&Arc<Value>> = pods.iter().collect();
            pods.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| pod::age(other).cmp(&pod::age(one))));
            for pod in pods.iter().take((pods.len() - wanted).min(BURST)) {
                self.delete_pod(set, pod);
            }
        }
        None
    }

    fn tell_replica_set(
        &mut self,
        key: &Key,
        set: &Value,
        pods: &[Arc<Value>],
        terminating: usize,
        conditions: Vec<Value>,
    ) {
        let min_ready = number(set, "/spec/minReadySeconds").unwrap_or(0);
        let length = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let ready = pods.iter().filter(|pod| pod::is_ready(pod)).count();
        let available = pods.iter().filter(|pod| self.is_available(key, pod, min_ready)).count();
        let labels = &set["spec"]["template"]["metadata"]["labels"];
        let is_labeled = |pod: &&Arc<Value>| {
            let wanted = labels.as_object().into_iter().flatten();
            wanted.into_iter().all(|(name, value)| pod["metadata"]["labels"].get(name) == Some(value))
        };
        let labeled = pods.iter().filter(is_labeled).count();
        let mut status = Map::new();
        // The two numbers that a replica set always has.
        status.insert("replicas".to_owned(), pods.len().into());
        status.insert("terminatingReplicas".to_owned(), terminating.into());
        status.insert("fullyLabeledReplicas".to_owned(), count(length(labeled)));
        status.insert("readyReplicas".to_owned(), count(length(ready)));
        status.insert("availableReplicas".to_owned(), count(length(available)));
        status.insert("observedGeneration".to_owned(), set["metadata"]["generation"].clone());
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
        self.write_status(key, set, &status);
    }

    /// Tells that the size of a set was changed.
    pub(super) fn tell_scaled(&self, deployment: &Value, set: &str, from: i64, to: i64) {
        let direction = if to > from { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {set} from {from} to {to}");
        self.event(Part::Controllers, deployment, "Normal", "ScalingReplicaSet", &message);
    }
}

/// Pods of lower rank are taken first: those without a node, that do not run, are not ready, cost less.
fn rank(pod: &Value) -> (bool, bool, bool, i64) {
    let cost = pod::annotation(pod, DELETION_COST).and_then(|cost| cost.parse().ok()).unwrap_or(0);
    (!pod::node(pod).is_empty(), pod::phase(pod) == "Running", pod::is_ready(pod), cost)
}
