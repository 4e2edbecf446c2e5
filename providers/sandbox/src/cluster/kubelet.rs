//! The kubelets: pods begin at once, get their devices, end when their time has come, and stop when they are told to.
//!
//! Devices are given before a pod is said to run, and taken back before it is said to be gone; what a crash leaves
//! between the two is put right when the world is opened again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use providers_simulator::{Allocation, Node};
use serde_json::{Value, json};

use super::containers::{self, End};
use super::hands::Part;
use super::{Cluster, PodName, pod};
use crate::names::{BUSY, ENDS_AFTER, EXIT_CODE, STOPS_AFTER, record};
use crate::store::{Key, Mode};
use crate::world;

/// Why a container waits that ends again and again.
const CRASH_LOOP: &str = "CrashLoopBackOff";

/// How long it waits after so many ends, in milliseconds: ten seconds, then twice as long each time, five minutes at most.
fn wait(restarts: i64) -> u64 {
    let exponent = u32::try_from(restarts - 1).unwrap_or(0).min(16);
    (10_000 << exponent).min(300_000)
}

/// The first process id of processes in pods.
const FIRST_PID: u32 = 10_000;

impl Cluster {
    /// Looks after one pod on its node.
    pub(super) fn tend(&mut self, name: &PodName) {
        let Some(pod) = self.ground.store.read().get(&Key::new("pods", &name.0, &name.1)).cloned() else { return };
        let node: Arc<str> = pod::node(&pod).into();
        if node.is_empty() || !self.ground.kubelets.works(&node) {
            return;
        }
        if pod::is_over(&pod) {
            self.release(&node, name);
        } else if pod::is_terminating(&pod) {
            if self.is_time(name, &pod, "stopping", pod::duration(&pod, STOPS_AFTER).unwrap_or(0)) {
                self.release(&node, name);
                for container in pod::containers(&pod).filter_map(|container| container["name"].as_str()) {
                    self.event(Part::Kubelet, &pod, "Normal", "Killing", &format!("Stopping container {container}"));
                }
                let now = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod::uid(&pod)}});
                self.hands.delete(Part::Kubelet, &pod::path(name), &now);
            }
        } else if pod::phase(&pod) == "Pending" {
            self.start(&node, name, &pod);
        } else {
            self.live(&node, name, &pod);
        }
    }

    /// Containers that end by themselves, and are started again.
    fn live(&mut self, node: &Arc<str>, name: &PodName, pod: &Value) {
        let ends: Vec<Option<End>> = pod::containers(pod).map(|container| containers::end(pod, container)).collect();
        let Some(after) = ends.iter().flatten().map(|end| end.after_ms).max() else { return };
        let restarts = pod::restarts(pod);
        let status = format!("{}/status", pod::path(name));
        if pod::waits_for(pod, CRASH_LOOP) {
            if self.is_time(name, pod, &format!("crashed {restarts}"), wait(restarts)) {
                self.tell_start(pod);
                self.hands.merge(Part::Kubelet, &status, &pod::running(pod, &self.time()));
            }
            return;
        }
        let code = |container: &Value| containers::end(pod, container).map(|end| end.code);
        let has_ended = pod::containers(pod).filter(|container| code(container).is_some()).all(|container| {
            pod["status"]["containerStatuses"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|status| status["name"] == container["name"] && status["state"]["terminated"].is_object())
        });
        let event = if restarts == 0 { "started".to_owned() } else { format!("started {restarts}") };
        if has_ended || !self.is_time(name, pod, &event, after) {
            return;
        }
        let has_failed = ends.iter().flatten().any(|end| end.code != 0);
        // Whoever only says how long a pod runs wants it to be over then.
        let is_for_once = pod::annotation(pod, ENDS_AFTER).is_some() && pod::annotation(pod, EXIT_CODE).is_none();
        let begins_again = !is_for_once
            && match pod["spec"]["restartPolicy"].as_str() {
                Some("Never") => false,
                Some("OnFailure") => has_failed,
                _ => true,
            };
        if begins_again {
            let patch = pod::crashed(pod, code, wait(restarts + 1) / 1000, &self.time());
            self.hands.merge(Part::Kubelet, &status, &patch);
            for container in pod::containers(pod).filter(|container| code(container).is_some()) {
                let message = format!(
                    "Back-off restarting failed container {} in pod {}_{}({})",
                    container["name"].as_str().unwrap_or_default(),
                    name.1,
                    name.0,
                    pod::uid(pod)
                );
                self.event(Part::Kubelet, pod, "Warning", "BackOff", &message);
            }
            return;
        }
        if ends.iter().all(Option::is_some) {
            self.release(node, name);
        }
        self.hands.merge(Part::Kubelet, &status, &pod::ended(pod, code, &self.time()));
    }

    fn tell_start(&self, pod: &Value) {
        for container in pod::containers(pod) {
            let image = container["image"].as_str().unwrap_or_default();
            let pulled = format!("Container image {image:?} already present on machine and can be accessed by the pod");
            self.event(Part::Kubelet, pod, "Normal", "Pulled", &pulled);
            self.event(Part::Kubelet, pod, "Normal", "Created", "Container created");
            self.event(Part::Kubelet, pod, "Normal", "Started", "Container started");
        }
    }

    /// Images that cannot be pulled keep a pod from beginning.
    fn wait_for_images(&self, name: &PodName, pod: &Value) {
        if pod::waits_for(pod, "ImagePullBackOff") {
            return;
        }
        for image in pod::containers(pod).filter_map(|container| container["image"].as_str()) {
            if containers::can_pull(image) {
                continue;
            }
            let host = image.split('/').next().unwrap_or_default();
            let why = format!("failed to resolve reference {image:?}: dial tcp: lookup {host}: no such host");
            self.event(Part::Kubelet, pod, "Normal", "Pulling", &format!("Pulling image {image:?}"));
            self.event(Part::Kubelet, pod, "Warning", "Failed", &format!("Failed to pull image {image:?}: {why}"));
            self.event(Part::Kubelet, pod, "Warning", "Failed", "Error: ErrImagePull");
            self.event(Part::Kubelet, pod, "Normal", "BackOff", &format!("Back-off pulling image {image:?}"));
            self.event(Part::Kubelet, pod, "Warning", "Failed", "Error: ImagePullBackOff");
        }
        let patch = pod::not_pulled(pod, containers::can_pull, &self.time());
        self.hands.merge(Part::Kubelet, &format!("{}/status", pod::path(name)), &patch);
    }

    fn start(&self, node: &Arc<str>, name: &PodName, pod: &Value) {
        let mut images = pod::containers(pod).filter_map(|container| container["image"].as_str());
        if !images.all(containers::can_pull) {
            return self.wait_for_images(name, pod);
        }
        let given = self.ground.hardware.with(node, |node| give(node, name, pod));
        let patch = match given.unwrap_or_else(|| Err(format!("there is no hardware for node {node}"))) {
            Ok(()) => {
                self.tell_start(pod);
                pod::running(pod, &self.time())
            }
            Err(message) => {
                self.event(Part::Kubelet, pod, "Warning", "UnexpectedAdmissionError", &message);
                pod::refused(&message)
            }
        };
        self.hands.merge(Part::Kubelet, &format!("{}/status", pod::path(name)), &patch);
    }

    /// Whether so many milliseconds have passed since this was first asked about the pod; if not, it is asked again then.
    fn is_time(&mut self, name: &PodName, pod: &Value, event: &str, after_ms: u64) -> bool {
        let now = self.ground.clock.now_ms();
        let key = Key::new(record::RUNS, &name.0, &name.1);
        let known = self.ground.store.read().get(&key).cloned();
        let mut run = known
            .filter(|run| run["uid"] == pod::uid(pod))
            .map_or_else(|| json!({"uid": pod::uid(pod)}), |run| Value::clone(&run));
        let since = match run[event].as_u64() {
            Some(since) => since,
            None if after_ms == 0 => now,
            None => {
                // Only one thing is waited for at a time, but to stop goes on beside it.
                if let Some(run) = run.as_object_mut().filter(|_| event != "stopping") {
                    run.retain(|name, _| ["uid", "stopping"].contains(&name.as_str()));
                }
                run[event] = now.into();
                if let Err(error) = world::write(&self.ground.store, &key, run) {
                    self.ground
                        .trouble
                        .report(format!("the run of pod {}/{} is not recorded: {error}", name.0, name.1));
                }
                now
            }
        };
        let due = since.saturating_add(after_ms);
        if due <= now {
            return true;
        }
        self.alarms.set(name, due);
        false
    }

    /// A node has been started again: its kubelet does not take back pods whose devices are gone, and processes begin anew.
    pub(super) fn readmit(&self, node: &str) {
        let held: BTreeMap<PodName, bool> = self.ground.hardware.read(|fleet| {
            let mut held = BTreeMap::new();
            let Some(node) = fleet.nodes.get(node) else { return held };
            let offered: BTreeSet<String> = node.devices().into_iter().map(|device| device.id).collect();
            for one in &node.allocations {
                let whole = one.device_ids.iter().all(|id| offered.contains(id));
                *held.entry((one.namespace.as_str().into(), one.pod.as_str().into())).or_insert(true) &= whole;
            }
            held
        });
        for (name, whole) in held {
            let Some(pod) = self.ground.store.read().get(&Key::new("pods", &name.0, &name.1)).cloned() else {
                continue;
            };
            if whole {
                // Only the processes are missing: what it has been given it has still.
                self.ground.hardware.with(node, |node| give(node, &name, &pod));
            } else {
                let patch = pod::refused("Allocate failed due to devices that are gone since the node was restarted");
                self.hands.merge(Part::Kubelet, &format!("{}/status", pod::path(&name)), &patch);
            }
        }
    }

    /// Takes back what a pod has.
    pub(super) fn release(&self, node: &str, (namespace, name): &PodName) {
        self.ground.hardware.with(node, |node| node.release(namespace, name));
        let key = Key::new(record::RUNS, namespace, name);
        let mut transaction = self.ground.store.begin(Mode::Write);
        if transaction.delete(&key).is_some()
            && let Err(error) = transaction.commit()
        {
            self.ground.trouble.report(format!("the run of pod {namespace}/{name} is not recorded: {error}"));
        }
    }

    /// Takes back what pods have that are not there any more.
    pub(super) fn release_strangers(&self) {
        let held: BTreeSet<(String, PodName)> = self.ground.hardware.read(|fleet| {
            let holder = |node: &Node, one: &Allocation| {
                (node.name.clone(), (one.namespace.as_str().into(), one.pod.as_str().into()))
            };
            fleet.nodes.values().flat_map(|node| node.allocations.iter().map(move |one| holder(node, one))).collect()
        });
        for (node, name) in held {
            if self.node_of.get(&name).is_none_or(|at| **at != *node) {
                self.release(&node, &name);
            }
        }
    }
}

/// Gives a pod the devices that its containers ask for, or says why not, and then it has none.
fn give(node: &mut Node, (namespace, name): &PodName, pod: &Value) -> Result<(), String> {
    for (container, requests) in pod::requests(pod) {
        for (resource, count) in requests {
            let has = |one: &Allocation| {
                *one.namespace == **namespace
                    && *one.pod == **name
                    && one.container == container
                    && one.resource == resource
            };
            if node.allocations.iter().any(has) {
                continue;
            }
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if !node.allocate(namespace, name, &container, &resource, count) {
                let free = node.free_devices().into_iter().filter(|device| device.resource == resource).count();
                node.release(namespace, name);
                return Err(format!(
                    "Allocate failed due to requested number of devices unavailable for {resource}. Requested: {count}, \
                     Available: {free}, which is unexpected"
                ));
            }
        }
    }
    if pod::annotation(pod, BUSY) == Some("true") {
        occupy(node, namespace, name);
    }
    Ok(())
}

/// Puts one process of the pod on each of its devices.
fn occupy(node: &mut Node, namespace: &str, name: &str) {
    let mine = node.allocations.iter().filter(|one| one.namespace == namespace && one.pod == name);
    let devices: Vec<String> = mine.flat_map(|one| one.device_ids.clone()).collect();
    let taken = node.cards.iter().flat_map(|card| {
        let compute = card.instances.iter().flat_map(|instance| &instance.compute);
        card.processes.iter().chain(compute.flat_map(|one| &one.processes)).copied()
    });
    let mut pid = taken.max().unwrap_or(0).max(FIRST_PID);
    for device in devices {
        pid += 1;
        node.set_processes(&device, &[pid]);
    }
}
