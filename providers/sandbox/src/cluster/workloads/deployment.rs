//! Deployments: a set of pods for each template, and roll-outs from the old ones to the new one.

use std::sync::Arc;

use http::Method;
use serde_json::{Map, Value, json};

use super::super::hands::Part;
use super::super::{Cluster, pod};
use super::condition::{self, Wanted};
use super::rollout::{Goal, Set};
use super::template::{self, HASH};
use super::{REPLICA_SETS, count, number, path};
use crate::api::Failure;
use crate::store::Key;

const REVISION: &str = "deployment.kubernetes.io/revision";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that a set does not take over from its deployment.
const OWN: [&str; 4] = [REVISION, DESIRED, MOST, "kubectl.kubernetes.io/last-applied-configuration"];

/// The event of the record that a roll-out has last come forward.
const PROGRESS: &str = "progress";

/// A deployment's sets, oldest first.
struct Sets {
    new: Option<Arc<Value>>,
    old: Vec<Arc<Value>>,
}

fn far(set: &Value) -> Set {
    let of = |pointer: &str| number(set, pointer).unwrap_or(0);
    Set {
        wanted: number(set, "/spec/replicas").unwrap_or(1),
        pods: of("/status/replicas"),
        ready: of("/status/readyReplicas"),
        available: of("/status/availableReplicas"),
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn annotated(object: &Value, name: &str) -> Option<i64> {
    pod::annotation(object, name)?.parse().ok()
}

impl Sets {
    fn sum(&self, field: impl Fn(Set) -> i64) -> i64 {
        self.all().map(|set| field(far(set))).sum()
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Value>> {
        self.old.iter().chain(&self.new)
    }
}

impl Cluster {
    pub(super) fn keep_deployment(&mut self, key: &Key, deployment: &Arc<Value>) {
        let sets = self.sets(deployment);
        let mut made = None;
        let mut refusal = None;
        if !pod::is_terminating(deployment) {
            match self.roll(key, deployment, &sets) {
                Ok(set) => made = set,
                Err(failure) => refusal = Some(failure),
            }
        }
        // What was done is in the store already.
        let Some(deployment) = self.ground.store.read().get(key).cloned() else { return };
        let sets = self.sets(&deployment);
        self.tell_deployment(key, &deployment, &sets, made.as_deref(), refusal.as_ref());
        if !pod::is_terminating(&deployment) {
            self.clean_up(&deployment, &sets);
        }
    }

    fn sets(&self, deployment: &Value) -> Sets {
        let mut all = self.owned(deployment, REPLICA_SETS);
        all.retain(|set| !pod::is_terminating(set));
        all.sort_by(|one, other| {
            let age = |set: &Value| {
                (
                    annotated(set, REVISION).unwrap_or(0),
                    set["metadata"]["creationTimestamp"].as_str().map(str::to_owned),
                )
            };
            age(one).cmp(&age(other)).then_with(|| name(one).cmp(name(other)))
        });
        let wanted = template::plain(deployment);
        let new = all.iter().position(|set| template::plain(set) == wanted).map(|at| all.remove(at));
        Sets { new, old: all }
    }

    /// One step. Returns the name of a set that was made.
    fn roll(&mut self, key: &Key, deployment: &Value, sets: &Sets) -> Result<Option<String>, Failure> {
        let goal = Goal::of(deployment);
        let is_paused = deployment["spec"]["paused"] == true;
        self.number_revision(key, deployment, sets);
        let was_scaled = sets
            .all()
            .any(|set| far(set).wanted > 0 && annotated(set, DESIRED).is_some_and(|desired| desired != goal.replicas));
        // Sets that are replaced as a whole have no proportions.
        let has_parts = goal.is_rolling || sets.all().filter(|set| far(set).wanted > 0).count() <= 1;
        if is_paused || (was_scaled && has_parts) {
            self.scale_all(deployment, goal, sets);
            return Ok(None);
        }
        let is_over = |pod: &Arc<Value>| pod::is_over(pod);
        if !goal.is_rolling {
            for set in &sets.old {
                self.resize(deployment, goal, set, 0);
            }
            let remain = sets
                .old
                .iter()
                .any(|set| far(set).wanted > 0 || self.owned(set, "pods").iter().any(|pod| !is_over(pod)));
            if remain {
                return Ok(None);
            }
        }
        let all = sets.sum(|set| set.wanted);
        let Some(new) = &sets.new else {
            if self.must_wait(key) {
                return Ok(None);
            }
            return self.make_set(key, deployment, goal, goal.size_of_new(0, all), sets).map(Some);
        };
        let mut far_new = far(new);
        let size = goal.size_of_new(far_new.wanted, all);
        if self.resize(deployment, goal, new, size) {
            // One thing at a time, as Kubernetes' controller does it: the rest follows from the set's new size.
            return Ok(None);
        }
        far_new.wanted = size;
        if goal.is_rolling {
            let old: Vec<Set> = sets.old.iter().map(|set| far(set)).collect();
            for (set, size) in sets.old.iter().zip(goal.sizes_of_old(far_new, &old)) {
                self.resize(deployment, goal, set, size);
            }
        }
        Ok(None)
    }

    /// The number of replicas has changed, or the roll-out is paused: every set gets its part.
    fn scale_all(&self, deployment: &Value, goal: Goal, sets: &Sets) {
        let active: Vec<&Arc<Value>> = sets.all().filter(|set| far(set).wanted > 0).collect();
        let only = match active.as_slice() {
            [] => sets.new.as_ref().or(sets.old.last()),
            [one] => Some(*one),
            _ => None,
        };
        if let Some(set) = only {
            self.resize(deployment, goal, set, goal.replicas);
            return;
        }
        let is_whole = |set: &Arc<Value>| {
            let set_far = far(set);
            annotated(set, DESIRED) == Some(goal.replicas)
                && set_far.wanted == goal.replicas
                && set_far.available == goal.replicas
        };
        if sets.new.as_ref().is_some_and(is_whole) {
            for set in &sets.old {
                self.resize(deployment, goal, set, 0);
            }
            return;
        }
        if goal.is_rolling {
            // Newest first.
            let sets: Vec<&Arc<Value>> = sets.new.iter().chain(sets.old.iter().rev()).collect();
            let before = number(deployment, "/status/replicas").unwrap_or(0);
            let sizes: Vec<(i64, i64)> =
                sets.iter().map(|set| (far(set).wanted, annotated(set, MOST).unwrap_or(before))).collect();
            for (set, size) in sets.into_iter().zip(goal.scaled(&sizes)) {
                self.resize(deployment, goal, set, size);
            }
        }
    }

    /// Gives a set its size, and notes what it is a part of; tells whether its size has changed.
    fn resize(&self, deployment: &Value, goal: Goal, set: &Value, size: i64) -> bool {
        let from = far(set).wanted;
        let notes = size == 0 && from == 0
            || (annotated(set, DESIRED) == Some(goal.replicas)
                && annotated(set, MOST) == Some(goal.replicas + goal.surge));
        if from == size && notes {
            return false;
        }
        let annotations = json!({DESIRED: goal.replicas.to_string(), MOST: (goal.replicas + goal.surge).to_string()});
        let patch = json!({"metadata": {"annotations": annotations}, "spec": {"replicas": size}});
        let key = Key::new(REPLICA_SETS, set["metadata"]["namespace"].as_str().unwrap_or_default(), name(set));
        self.hands.merge(Part::Controllers, &path(&key), &patch);
        if from != size {
            self.tell_scaled(deployment, name(set), from, size);
        }
        from != size
    }

    /// The new set has the highest revision, and the deployment tells it.
    fn number_revision(&self, key: &Key, deployment: &Value, sets: &Sets) {
        let Some(new) = &sets.new else { return };
        let highest = sets.old.iter().filter_map(|set| annotated(set, REVISION)).max().unwrap_or(0);
        let mut revision = annotated(new, REVISION).unwrap_or(0);
        if revision <= highest {
            revision = highest + 1;
            let patch = json!({"metadata": {"annotations": {REVISION: revision.to_string()}}});
            let set = Key::new(REPLICA_SETS, &key.namespace, name(new));
            self.hands.merge(Part::Controllers, &path(&set), &patch);
        }
        if annotated(deployment, REVISION) != Some(revision) {
            let patch = json!({"metadata": {"annotations": {REVISION: revision.to_string()}}});
            self.hands.merge(Part::Controllers, &path(key), &patch);
        }
        if new["spec"]["minReadySeconds"] != deployment["spec"]["minReadySeconds"] {
            let patch = json!({"spec": {"minReadySeconds": deployment["spec"]["minReadySeconds"]}});
            let set = Key::new(REPLICA_SETS, &key.namespace, name(new));
            self.hands.merge(Part::Controllers, &path(&set), &patch);
        }
    }

    fn make_set(
        &mut self,
        key: &Key,
        deployment: &Value,
        goal: Goal,
        size: i64,
        sets: &Sets,
    ) -> Result<String, Failure> {
        let highest = sets.old.iter().filter_map(|set| annotated(set, REVISION)).max().unwrap_or(0);
        let plain = template::plain(deployment);
        let mut annotations = deployment["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        annotations.retain(|name, _| !OWN.contains(&name.as_str()));
        annotations.insert(REVISION.to_owned(), (highest + 1).to_string().into());
        annotations.insert(DESIRED.to_owned(), goal.replicas.to_string().into());
        annotations.insert(MOST.to_owned(), (goal.replicas + goal.surge).to_string().into());
        let mut collisions = number(deployment, "/status/collisionCount").unwrap_or(0);
        loop {
            let hash = template::hash(&plain, collisions);
            let set_name = format!("{}-{hash}", key.name);
            let mut template = plain.clone();
            template["metadata"]["labels"][HASH] = hash.as_str().into();
            let mut selector = deployment["spec"]["selector"].clone();
            selector["matchLabels"][HASH] = hash.as_str().into();
            let mut set = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {
                    "name": set_name, "labels": template["metadata"]["labels"], "annotations": annotations,
                    "ownerReferences": [crate::fleet::reference(deployment)],
                },
                "spec": {"replicas": size, "selector": selector, "template": template},
            });
            if let Some(seconds) = number(deployment, "/spec/minReadySeconds") {
                set["spec"]["minReadySeconds"] = seconds.into();
            }
            let collection = format!("/apis/apps/v1/namespaces/{}/replicasets", key.namespace);
            match self.hands.attempt(Part::Controllers, &Method::POST, &collection, &set) {
                Ok(_) => {
                    self.retries.0.remove(key);
                    if size > 0 {
                        self.tell_scaled(deployment, &set_name, 0, size);
                    }
                    return Ok(set_name);
                }
                // Another template, or another owner, has this hash.
                Err(failure) if failure.reason == "AlreadyExists" => {
                    collisions += 1;
                    let patch = json!({"status": {"collisionCount": collisions}});
                    self.hands.merge(Part::Controllers, &format!("{}/status", path(key)), &patch);
                }
                Err(failure) => {
                    let message = format!("Failed to create new replica set {set_name:?}: {}", failure.message);
                    self.event(Part::Controllers, deployment, "Warning", "ReplicaSetCreateError", &message);
                    self.was_refused(key);
                    return Err(failure);
                }
            }
        }
    }

    /// Sets without pods are kept for going back, but only so many.
    fn clean_up(&self, deployment: &Value, sets: &Sets) {
        if !is_complete(deployment) {
            return;
        }
        let kept = usize::try_from(number(deployment, "/spec/revisionHistoryLimit").unwrap_or(10)).unwrap_or(0);
        let empty: Vec<&Arc<Value>> =
            sets.old.iter().filter(|set| far(set).wanted == 0 && far(set).pods == 0).collect();
        for set in empty.iter().take(empty.len().saturating_sub(kept)) {
            let key = Key::new(REPLICA_SETS, set["metadata"]["namespace"].as_str().unwrap_or_default(), name(set));
            self.hands.delete(Part::Controllers, &path(&key), &json!({"preconditions": {"uid": pod::uid(set)}}));
        }
    }

    fn tell_deployment(
        &mut self,
        key: &Key,
        deployment: &Value,
        sets: &Sets,
        made: Option<&str>,
        refusal: Option<&Failure>,
    ) {
        let goal = Goal::of(deployment);
        let updated = sets.new.as_ref().map(|set| far(set)).unwrap_or_default();
        let (all, ready, available) =
            (sets.sum(|set| set.pods), sets.sum(|set| set.ready), sets.sum(|set| set.available));
        let wanted = sets.sum(|set| set.wanted);
        let mut status = Map::new();
        status.insert("observedGeneration".to_owned(), deployment["metadata"]["generation"].clone());
        for (field, number) in [
            ("replicas", all),
            ("updatedReplicas", updated.pods),
            ("readyReplicas", ready),
            ("availableReplicas", available),
            ("unavailableReplicas", (wanted - available).max(0)),
        ] {
            status.insert(field.to_owned(), count(number));
        }
        let terminating: i64 = sets.all().filter_map(|set| number(set, "/status/terminatingReplicas")).sum();
        status.insert("terminatingReplicas".to_owned(), terminating.into());
        if let Some(collisions) = number(deployment, "/status/collisionCount") {
            status.insert("collisionCount".to_owned(), collisions.into());
        }
        let mut conditions = condition::all(deployment);
        let is_available = available >= goal.least();
        let now = self.time();
        let (state, reason, message) = match is_available {
            true => ("True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            false => ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
        };
        condition::set(&mut conditions, &Wanted { kind: "Available", status: state, reason, message }, &now, true);
        self.tell_progress(
            key,
            deployment,
            sets,
            made,
            refusal,
            &mut conditions,
            (all, updated.pods, ready, available),
        );
        let failing = sets.all().find_map(|set| condition::of(set, "ReplicaFailure"));
        match failing {
            Some(failing) => {
                let text = |field: &str| failing[field].as_str().unwrap_or_default();
                let wanted =
                    Wanted { kind: "ReplicaFailure", status: "True", reason: text("reason"), message: text("message") };
                condition::set(&mut conditions, &wanted, &now, true);
            }
            None => condition::remove(&mut conditions, "ReplicaFailure"),
        }
        status.insert("conditions".to_owned(), conditions.into());
        self.write_status(key, deployment, &status);
    }

    #[expect(clippy::too_many_arguments, reason = "one decision, from everything that is known of a roll-out")]
    fn tell_progress(
        &mut self,
        key: &Key,
        deployment: &Value,
        sets: &Sets,
        made: Option<&str>,
        refusal: Option<&Failure>,
        conditions: &mut Vec<Value>,
        (all, updated, ready, available): (i64, i64, i64, i64),
    ) {
        let now = self.time();
        let known = condition::of(deployment, "Progressing");
        let reason = known.and_then(|known| known["reason"].as_str()).unwrap_or_default().to_owned();
        let deadline =
            number(deployment, "/spec/progressDeadlineSeconds").filter(|seconds| *seconds != i64::from(i32::MAX));
        let set = made.map(str::to_owned).or_else(|| sets.new.as_ref().map(|set| name(set).to_owned()));
        let what =
            set.as_ref().map_or_else(|| format!("Deployment {:?}", key.name), |set| format!("ReplicaSet {set:?}"));
        let mut tell = |status: &str, reason: &str, message: &str, anew: bool| {
            let wanted = Wanted { kind: "Progressing", status, reason, message };
            match anew {
                true => condition::replace(conditions, &wanted, &now, true),
                false => condition::set(conditions, &wanted, &now, true),
            }
        };
        if deployment["spec"]["paused"] == true {
            if reason != "ProgressDeadlineExceeded" {
                tell("Unknown", "DeploymentPaused", "Deployment is paused", false);
            }
            return;
        }
        if reason == "DeploymentPaused" {
            tell("Unknown", "DeploymentResumed", "Deployment is resumed", false);
            self.keep_record(key, deployment, PROGRESS, self.ground.clock.now_ms().into());
        }
        if let Some(failure) = refusal {
            tell("False", "ReplicaSetCreateError", &failure.message, false);
            return;
        }
        if let Some(made) = made {
            tell("True", "NewReplicaSetCreated", &format!("Created new replica set {made:?}"), true);
            self.keep_record(key, deployment, PROGRESS, self.ground.clock.now_ms().into());
            return;
        }
        let replicas = number(deployment, "/spec/replicas").unwrap_or(1);
        let is_done = updated == replicas && all == replicas && available == replicas && sets.new.is_some();
        // A roll-out that is over stays over, whatever becomes of its pods.
        if all == updated
            && reason == "NewReplicaSetAvailable"
            && !is_done
            && self.is_same_rollout(key, deployment, set.as_deref())
        {
            return;
        }
        if is_done {
            tell("True", "NewReplicaSetAvailable", &format!("{what} has successfully progressed."), false);
            self.keep_record(key, deployment, "rolled out", set.clone().unwrap_or_default().into());
            return;
        }
        let before = |field: &str| number(deployment, &format!("/status/{field}")).unwrap_or(0);
        let (old, old_before) = (all - updated, before("replicas") - before("updatedReplicas"));
        let is_forward = updated > before("updatedReplicas")
            || old < old_before
            || ready > before("readyReplicas")
            || available > before("availableReplicas");
        if is_forward || reason == "NewReplicaSetAvailable" || reason.is_empty() {
            tell("True", "ReplicaSetUpdated", &format!("{what} is progressing."), is_forward);
            self.keep_record(key, deployment, PROGRESS, self.ground.clock.now_ms().into());
        }
        let Some(seconds) = deadline.and_then(|seconds| u64::try_from(seconds).ok()) else { return };
        let due = self.since(key, deployment, PROGRESS).saturating_add(seconds * 1000);
        if due > self.ground.clock.now_ms() {
            self.workload_alarms.set_earlier(key, due);
        } else {
            tell("False", "ProgressDeadlineExceeded", &format!("{what} has timed out progressing."), false);
        }
    }

    /// Whether the set was rolled out completely before.
    fn is_same_rollout(&self, key: &Key, deployment: &Value, set: Option<&str>) -> bool {
        let known = self.record(key).filter(|record| record["uid"] == pod::uid(deployment));
        known.is_some_and(|record| record["rolled out"].as_str() == set)
    }
}

/// Whether the status tells of a roll-out that has come to its end.
fn is_complete(deployment: &Value) -> bool {
    let of = |field: &str| number(deployment, &format!("/status/{field}")).unwrap_or(0);
    let replicas = number(deployment, "/spec/replicas").unwrap_or(1);
    [of("updatedReplicas"), of("replicas"), of("availableReplicas")] == [replicas; 3]
        && deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"]
}
