//! The scheduler: pods by priority and age, each to the first node by name that takes it. No preemption; of resources,
//! only those are counted that device plugins offer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::fit::{self, Room};
use super::hands::Part;
use super::{Cluster, PodName, pod};
use crate::store::Key;

impl Cluster {
    /// Finds nodes for the pods that wait.
    pub(super) fn schedule(&self) {
        if self.waiting.is_empty() {
            return;
        }
        let (mut pods, nodes) = (self.waiting_pods(), self.nodes());
        pods.sort_by(|one, other| {
            pod::priority(other).cmp(&pod::priority(one)).then_with(|| pod::age(one).cmp(&pod::age(other)))
        });
        let mut rooms: Vec<(Arc<str>, Room<'_>)> =
            nodes.iter().map(|(name, node)| (name.clone(), self.room(name, node))).collect();
        for pod in pods {
            self.place(&pod, &mut rooms);
        }
    }

    fn waiting_pods(&self) -> Vec<Arc<Value>> {
        let read = self.ground.store.read();
        let find = |(namespace, name): &PodName| read.get(&Key::new("pods", namespace, name)).cloned();
        self.waiting.iter().filter_map(find).collect()
    }

    fn nodes(&self) -> Vec<(Arc<str>, Arc<Value>)> {
        let read = self.ground.store.read();
        read.list("nodes").map(|(key, node)| (key.name.clone(), node.clone())).collect()
    }

    fn room<'a>(&self, name: &Arc<str>, node: &'a Value) -> Room<'a> {
        let mut used: BTreeMap<String, u64> = BTreeMap::new();
        let read = self.ground.store.read();
        for (namespace, name) in self.pods_of.get(name).into_iter().flatten() {
            let Some(pod) = read.get(&Key::new("pods", namespace, name)).filter(|pod| !pod::is_over(pod)) else {
                continue;
            };
            for (resource, count) in pod::total(pod) {
                *used.entry(resource).or_default() += count;
            }
        }
        Room { node, ready: self.ground.kubelets.works(name), used }
    }

    fn place(&self, pod: &Value, rooms: &mut [(Arc<str>, Room<'_>)]) {
        let name = pod::name(pod);
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let wish = fit::unknown_wish(pod);
        if wish.is_none() {
            for (node, room) in rooms.iter_mut() {
                let refusals = room.refusals(pod);
                if refusals.is_empty() {
                    let binding = json!({
                        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": &*name.1},
                        "target": {"apiVersion": "v1", "kind": "Node", "name": &**node},
                    });
                    self.hands.create(Part::Scheduler, &format!("{}/binding", pod::path(&name)), &binding);
                    let assigned = format!("Successfully assigned {}/{} to {node}", name.0, name.1);
                    self.event(Part::Scheduler, pod, "Normal", "Scheduled", &assigned);
                    for (resource, count) in pod::total(pod) {
                        *room.used.entry(resource).or_default() += count;
                    }
                    return;
                }
                for reason in refusals {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
        }
        let message = wish.unwrap_or_else(|| fit::message(rooms.len(), &reasons));
        if let Some(patch) = pod::unschedulable(pod, &message, &self.time()) {
            self.hands.merge(Part::Scheduler, &format!("{}/status", pod::path(&name)), &patch);
            self.event(Part::Scheduler, pod, "Warning", "FailedScheduling", &message);
        }
    }
}
