//! The controllers of replica sets, deployments and jobs: pods are made, replaced and taken away, roll-outs go on step by
//! step, and status, conditions and events tell it, in the words of Kubernetes' own controllers.
//!
//! Each acts on what is in the store now and through the API, as its likes in a cluster do; what comes of it is in the
//! next changes. Not here: adoption of pods and sets that have no owner, and the kinds that a sandbox does not serve.

mod condition;
mod deployment;
mod job;
mod replica_set;
mod rollout;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Method;
use serde_json::{Map, Value, json};

use super::hands::Part;
use super::{Cluster, pod};
use crate::api::Failure;
use crate::names::{letters, record};
use crate::store::{Key, Mode};
use crate::world;

const REPLICA_SETS: &str = "replicasets.apps";
const DEPLOYMENTS: &str = "deployments.apps";
const JOBS: &str = "jobs.batch";

/// Where the store keeps workloads.
pub(super) const RESOURCES: [&str; 3] = [REPLICA_SETS, DEPLOYMENTS, JOBS];

/// How long a controller waits after a refusal: a second, twice as long each time, five minutes at most.
const RETRY_MS: u64 = 1000;
const RETRY_MAX_MS: u64 = 300_000;

/// What was refused, and when it is tried again.
#[derive(Default)]
pub(super) struct Retries(BTreeMap<Key, Retry>);

struct Retry {
    tries: u32,
    due_ms: u64,
}

/// The workloads that a change of this object concerns: itself, and its controller.
pub(super) fn concerned(key: &Key, object: &Value) -> Vec<Key> {
    let mut keys = Vec::new();
    if RESOURCES.contains(&key.resource.as_ref()) {
        keys.push(key.clone());
    }
    if let Some(owner) = controller(object) {
        let resource = match owner["kind"].as_str() {
            Some("ReplicaSet") => REPLICA_SETS,
            Some("Deployment") => DEPLOYMENTS,
            Some("Job") => JOBS,
            _ => return keys,
        };
        keys.push(Key::new(resource, &key.namespace, owner["name"].as_str().unwrap_or_default()));
    }
    keys
}

fn controller(object: &Value) -> Option<&Value> {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
    owners.into_iter().find(|owner| owner["controller"] == true)
}

/// The path of a workload.
fn path(key: &Key) -> String {
    let (plural, group) = key.resource.split_once('.').unwrap_or((&key.resource, ""));
    format!("/apis/{group}/v1/namespaces/{}/{plural}/{}", key.namespace, key.name)
}

fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer).and_then(Value::as_i64)
}

/// Kubernetes leaves out what is 0.
fn count(number: i64) -> Value {
    if number == 0 { Value::Null } else { number.into() }
}

impl Cluster {
    /// The deployments of replica sets: one that recreates its pods waits for the last of the old ones to be gone, which its
    /// sets' status does not tell.
    pub(super) fn deployments_of(&self, workloads: &BTreeSet<Key>) -> Vec<Key> {
        let read = self.ground.store.read();
        let sets = workloads.iter().filter(|key| key.resource.as_ref() == REPLICA_SETS);
        sets.filter_map(|key| read.get(key).map(|set| concerned(key, set))).flatten().collect()
    }

    /// Looks after a workload.
    pub(super) fn reconcile(&mut self, key: &Key) {
        let found = self.ground.store.read().get(key).cloned();
        let Some(workload) = found else {
            self.retries.0.remove(key);
            self.workload_alarms.remove(key);
            self.forget_times(&key.namespace, &format!("{}/{}", key.resource, key.name));
            return;
        };
        match &*key.resource {
            REPLICA_SETS => self.keep_replica_set(key, &workload),
            DEPLOYMENTS => self.keep_deployment(key, &workload),
            _ => self.keep_job(key, &workload),
        }
    }

    /// The objects of a kind whose controller this is, in the order of their names.
    fn owned(&self, workload: &Value, resource: &str) -> Vec<Arc<Value>> {
        let read = self.ground.store.read();
        let uid = pod::uid(workload);
        let keys = read.dependants(uid).into_iter().filter(|key| key.resource.as_ref() == resource);
        let objects = keys.filter_map(|key| read.get(&key).cloned());
        objects.filter(|object| controller(object).is_some_and(|owner| owner["uid"] == uid)).collect()
    }

    /// Writes what differs in a status; what the new one does not have is removed.
    fn write_status(&self, key: &Key, live: &Value, status: &Map<String, Value>) {
        let known = live["status"].as_object().cloned().unwrap_or_default();
        let mut changes = Map::new();
        for (field, value) in status.iter().filter(|(field, value)| known.get(*field).unwrap_or(&Value::Null) != *value)
        {
            changes.insert(field.clone(), value.clone());
        }
        for field in known.keys().filter(|field| !status.contains_key(*field)) {
            changes.insert(field.clone(), Value::Null);
        }
        if !changes.is_empty() {
            self.hands.merge(Part::Controllers, &format!("{}/status", path(key)), &json!({"status": changes}));
        }
    }

    /// Whether a refusal of late keeps a workload from trying again now.
    fn must_wait(&mut self, key: &Key) -> bool {
        let now = self.ground.clock.now_ms();
        let due = self.retries.0.get(key).map(|retry| retry.due_ms).filter(|due| *due > now);
        if let Some(due) = due {
            self.workload_alarms.set(key, due);
        }
        due.is_some()
    }

    fn was_refused(&mut self, key: &Key) {
        let now = self.ground.clock.now_ms();
        let retry = self.retries.0.entry(key.clone()).or_insert(Retry { tries: 0, due_ms: 0 });
        retry.due_ms = now + (RETRY_MS << retry.tries.min(16)).min(RETRY_MAX_MS);
        retry.tries += 1;
        self.workload_alarms.set(key, retry.due_ms);
    }

    /// Creates a pod from a template. `name` is the beginning of its name; `extend` adds what only this pod has.
    fn create_pod(
        &mut self,
        key: &Key,
        workload: &Value,
        name: &str,
        extend: impl Fn(&mut Value),
    ) -> Result<Value, Failure> {
        let template = &workload["spec"]["template"];
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"], "spec": template["spec"],
        });
        if !pod["metadata"].is_object() {
            pod["metadata"] = json!({});
        }
        pod["metadata"]["generateName"] = format!("{name}-").into();
        pod["metadata"]["ownerReferences"] = json!([crate::fleet::reference(workload)]);
        extend(&mut pod);
        let path = format!("/api/v1/namespaces/{}/pods", key.namespace);
        loop {
            let made = self.count_made(key, workload);
            pod["metadata"]["name"] = format!("{name}-{}", suffix(key, made)).into();
            match self.hands.attempt(Part::Controllers, &Method::POST, &path, &pod) {
                // Somebody has a pod of that name: the next one.
                Err(failure) if failure.reason == "AlreadyExists" => self.made_one(key, workload, made),
                Ok(pod) => {
                    self.made_one(key, workload, made);
                    self.retries.0.remove(key);
                    let message = format!("Created pod: {}", pod["metadata"]["name"].as_str().unwrap_or_default());
                    self.event(Part::Controllers, workload, "Normal", "SuccessfulCreate", &message);
                    return Ok(pod);
                }
                Err(failure) => {
                    let message = format!("Error creating: {}", failure.message);
                    self.event(Part::Controllers, workload, "Warning", "FailedCreate", &message);
                    self.was_refused(key);
                    return Err(failure);
                }
            }
        }
    }

    fn delete_pod(&self, workload: &Value, pod: &Value) {
        let options = json!({"preconditions": {"uid": pod::uid(pod)}});
        let name = pod::name(pod);
        self.hands.delete(Part::Controllers, &pod::path(&name), &options);
        self.event(Part::Controllers, workload, "Normal", "SuccessfulDelete", &format!("Deleted pod: {}", name.1));
    }

    /// How many pods a workload has made: their names follow from it, so the same commands give the same names.
    fn count_made(&self, key: &Key, workload: &Value) -> u64 {
        self.record(key)
            .filter(|record| record["uid"] == pod::uid(workload))
            .and_then(|record| record["made"].as_u64())
            .unwrap_or(0)
    }

    fn made_one(&self, key: &Key, workload: &Value, before: u64) {
        self.keep_record(key, workload, "made", (before + 1).into());
    }

    fn record_key(key: &Key) -> Key {
        Key::new(record::TIMES, &key.namespace, &format!("{}/{}", key.resource, key.name))
    }

    fn record(&self, key: &Key) -> Option<Arc<Value>> {
        self.ground.store.read().get(&Self::record_key(key)).cloned()
    }

    /// Remembers something of an object; what was known of another one of its name is forgotten.
    fn keep_record(&self, key: &Key, object: &Value, field: &str, value: Value) {
        let known = self.record(key).filter(|record| record["uid"] == pod::uid(object));
        let mut record = known.map_or_else(|| json!({"uid": pod::uid(object)}), |known| Value::clone(&known));
        if record[field] == value {
            return;
        }
        record[field] = value;
        if let Err(error) = world::write(&self.ground.store, &Self::record_key(key), record) {
            self.ground.trouble.report(format!("what {key} does is not recorded: {error}"));
        }
    }

    /// The world's time at which something about an object was first asked, in milliseconds.
    fn since(&self, key: &Key, object: &Value, event: &str) -> u64 {
        let known = self.record(key).filter(|record| record["uid"] == pod::uid(object));
        if let Some(since) = known.and_then(|record| record[event].as_u64()) {
            return since;
        }
        let now = self.ground.clock.now_ms();
        self.keep_record(key, object, event, now.into());
        now
    }

    /// Forgets what was remembered of an object that is gone.
    pub(super) fn forget_times(&self, namespace: &str, name: &str) {
        let mut transaction = self.ground.store.begin(Mode::Write);
        if transaction.delete(&Key::new(record::TIMES, namespace, name)).is_some()
            && let Err(error) = transaction.commit()
        {
            self.ground.trouble.report(format!("what {name} did is not forgotten: {error}"));
        }
    }

    /// Whether a pod has been ready for as long as its workload wants; if not, the workload is looked at again then.
    fn is_available(&mut self, workload: &Key, pod: &Value, min_ready_seconds: i64) -> bool {
        if !pod::is_ready(pod) {
            return false;
        }
        let seconds = u64::try_from(min_ready_seconds).unwrap_or(0);
        if seconds == 0 {
            return true;
        }
        let (namespace, name) = pod::name(pod);
        let since = condition::of(pod, "Ready").map(|one| one["lastTransitionTime"].clone()).unwrap_or_default();
        // A pod that was not ready in between begins anew.
        let event = format!("ready {}", since.as_str().unwrap_or_default());
        let due = self.since(&Key::new("pods", &namespace, &name), pod, &event).saturating_add(seconds * 1000);
        if due <= self.ground.clock.now_ms() {
            return true;
        }
        self.workload_alarms.set_earlier(workload, due);
        false
    }
}

fn suffix(key: &Key, made: u64) -> String {
    letters(&format!("{key}/{made}"))
}
