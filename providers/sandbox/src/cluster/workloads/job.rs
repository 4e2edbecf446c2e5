//! Jobs: pods until enough have succeeded, or too many have failed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::hands::Part;
use super::super::{Cluster, pod};
use super::condition::{self, Wanted};
use super::{count, number, path};
use crate::store::Key;

/// A failed pod is replaced after ten seconds, then after twice as long each time, six minutes at most: Kubernetes' numbers.
const BACKOFF_MS: u64 = 10_000;
const BACKOFF_MAX_MS: u64 = 360_000;

const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// What became of a job's pods, those that are gone included.
#[derive(Default)]
struct Fates {
    active: Vec<Arc<Value>>,
    ready: i64,
    terminating: i64,
    succeeded: i64,
    failed: i64,
    /// Indexes of an indexed job that have succeeded, and those that run.
    done: Vec<i64>,
    running: Vec<i64>,
}

impl Cluster {
    pub(super) fn keep_job(&mut self, key: &Key, job: &Arc<Value>) {
        let fates = self.fates(key, job);
        if pod::is_terminating(job) {
            return;
        }
        let mut conditions = condition::all(job);
        if let Some(ended) = ["Complete", "Failed"].into_iter().find(|kind| condition::holds(job, kind)) {
            if ended == "Failed" {
                fates.active.iter().for_each(|pod| self.delete_pod(job, pod));
            }
            self.tell_job(key, job, &fates, conditions);
            self.end_of_life(key, job);
            return;
        }
        let is_suspended = job["spec"]["suspend"] == true;
        if is_suspended {
            fates.active.iter().for_each(|pod| self.delete_pod(job, pod));
            self.suspend(job, &mut conditions, true);
        } else {
            if condition::holds(job, "Suspended") {
                self.suspend(job, &mut conditions, false);
            }
            match self.end(key, job, &fates) {
                Some(end) => self.finish(job, &fates, &end, &mut conditions),
                None => self.fill(key, job, &fates),
            }
        }
        self.tell_job(key, job, &fates, conditions);
    }

    /// Looks at the pods, and remembers how each ended: one that is gone counts as it was.
    fn fates(&mut self, key: &Key, job: &Value) -> Fates {
        let mut fates = Fates::default();
        let known = self.record(key).filter(|record| record["uid"] == pod::uid(job));
        let known = known.and_then(|record| record["pods"].as_object().cloned()).unwrap_or_default();
        let before: BTreeMap<String, Value> = known.into_iter().collect();
        let mut now: BTreeMap<String, Value> = BTreeMap::new();
        for pod in self.owned(job, "pods") {
            let index = pod::annotation(&pod, INDEX).and_then(|index| index.parse::<i64>().ok());
            let fate = match pod::phase(&pod) {
                "Succeeded" => "succeeded",
                "Failed" => "failed",
                _ if pod::is_terminating(&pod) => {
                    fates.terminating += 1;
                    "failed"
                }
                _ => {
                    fates.ready += i64::from(pod::is_ready(&pod));
                    fates.running.extend(index);
                    fates.active.push(pod.clone());
                    "active"
                }
            };
            now.insert(pod::uid(&pod).to_owned(), json!({"fate": fate, "index": index}));
        }
        let is_suspended = job["spec"]["suspend"] == true;
        for (uid, pod) in before {
            let known = now.entry(uid).or_insert_with(|| {
                // Gone before it ended: by somebody's hand.
                let fate = if pod["fate"] == "active" { "failed".into() } else { pod["fate"].clone() };
                json!({"fate": fate, "index": pod["index"]})
            });
            // What was taken away because the job was suspended has not failed.
            if is_suspended && pod["fate"] == "active" && known["fate"] == "failed" {
                known["fate"] = "suspended".into();
            } else if pod["fate"] != "active" {
                known["fate"] = pod["fate"].clone();
            }
        }
        for pod in now.values() {
            match pod["fate"].as_str() {
                Some("succeeded") => {
                    fates.succeeded += 1;
                    fates.done.extend(pod["index"].as_i64());
                }
                Some("failed") => fates.failed += 1,
                _ => {}
            }
        }
        fates.done.sort_unstable();
        fates.done.dedup();
        if is_indexed(job) {
            fates.succeeded = i64::try_from(fates.done.len()).unwrap_or(i64::MAX);
        }
        let failed_before = self.record(key).and_then(|record| record["failures"].as_i64()).unwrap_or(0);
        self.keep_record(key, job, "pods", json!(now));
        if fates.failed > failed_before {
            self.keep_record(key, job, "failures", fates.failed.into());
            self.keep_record(key, job, "failed at", self.ground.clock.now_ms().into());
        }
        fates
    }

    /// How the job ends now, if it does.
    fn end(&mut self, key: &Key, job: &Value, fates: &Fates) -> Option<End> {
        let limit = number(job, "/spec/backoffLimit").unwrap_or(6);
        let restarts: i64 = fates.active.iter().map(|pod| pod::restarts(pod)).sum();
        if fates.failed > limit || (restarts > 0 && restarts >= limit.max(1)) {
            return Some(End::failed("BackoffLimitExceeded", "Job has reached the specified backoff limit"));
        }
        if let Some(seconds) =
            number(job, "/spec/activeDeadlineSeconds").and_then(|seconds| u64::try_from(seconds).ok())
        {
            let due = self.since(key, job, "started").saturating_add(seconds * 1000);
            if due <= self.ground.clock.now_ms() {
                return Some(End::failed("DeadlineExceeded", "Job was active longer than specified deadline"));
            }
            self.workload_alarms.set_earlier(key, due);
        }
        let is_complete = match number(job, "/spec/completions") {
            Some(wanted) => fates.succeeded >= wanted,
            // Its pods agree among themselves; one that succeeds says that the work is done.
            None => fates.succeeded > 0 && fates.active.is_empty(),
        };
        is_complete.then_some(End {
            is_success: true,
            reason: "CompletionsReached",
            message: "Reached expected number of succeeded pods",
        })
    }

    fn finish(&self, job: &Value, fates: &Fates, end: &End, conditions: &mut Vec<Value>) {
        fates.active.iter().for_each(|pod| self.delete_pod(job, pod));
        let now = self.time();
        let kinds = if end.is_success { ["SuccessCriteriaMet", "Complete"] } else { ["FailureTarget", "Failed"] };
        for kind in kinds {
            let wanted = Wanted { kind, status: "True", reason: end.reason, message: end.message };
            condition::set(conditions, &wanted, &now, false);
            if let Some(condition) = conditions.last_mut() {
                condition["lastProbeTime"] = now.as_str().into();
            }
        }
        match end.is_success {
            true => self.event(Part::Controllers, job, "Normal", "Completed", "Job completed"),
            false => self.event(Part::Controllers, job, "Warning", end.reason, end.message),
        }
    }

    fn suspend(&self, job: &Value, conditions: &mut Vec<Value>, is_suspended: bool) {
        let (status, reason, event, message) = match is_suspended {
            true => ("True", "JobSuspended", "Suspended", "Job suspended"),
            false => ("False", "JobResumed", "Resumed", "Job resumed"),
        };
        if condition::of(job, "Suspended").is_some_and(|known| known["status"] == status) {
            return;
        }
        condition::set(conditions, &Wanted { kind: "Suspended", status, reason, message }, &self.time(), false);
        if let Some(condition) = conditions.last_mut() {
            condition["lastProbeTime"] = self.time().into();
        }
        self.event(Part::Controllers, job, "Normal", event, message);
    }

    /// Makes as many pods as may run at once.
    fn fill(&mut self, key: &Key, job: &Value, fates: &Fates) {
        let parallelism = number(job, "/spec/parallelism").unwrap_or(1);
        let active = i64::try_from(fates.active.len()).unwrap_or(i64::MAX);
        let wanted = match number(job, "/spec/completions") {
            Some(completions) => parallelism.min(completions - fates.succeeded),
            None if fates.succeeded > 0 => active.min(parallelism),
            None => parallelism,
        };
        for pod in fates.active.iter().take(usize::try_from(active - wanted).unwrap_or(0)) {
            self.delete_pod(job, pod);
        }
        if active >= wanted || self.must_wait(key) || self.backs_off(key, job, fates) {
            return;
        }
        let free = (0..number(job, "/spec/completions").unwrap_or(0))
            .filter(|index| !fates.done.contains(index) && !fates.running.contains(index));
        let mut free = free.map(Some);
        for _ in 0..(wanted - active) {
            let index = if is_indexed(job) { free.next().flatten() } else { None };
            let name = index.map_or_else(|| key.name.to_string(), |index| format!("{}-{index}", key.name));
            let extend = |pod: &mut Value| {
                if let Some(index) = index {
                    pod["metadata"]["annotations"][INDEX] = index.to_string().into();
                    pod["metadata"]["labels"][INDEX] = index.to_string().into();
                }
            };
            if self.create_pod(key, job, &name, extend).is_err() {
                return;
            }
        }
    }

    /// Whether it is too early to replace a pod that has failed.
    fn backs_off(&mut self, key: &Key, job: &Value, fates: &Fates) -> bool {
        if fates.failed == 0 {
            return false;
        }
        let exponent = u32::try_from(fates.failed - 1).unwrap_or(16).min(16);
        let delay = (BACKOFF_MS << exponent).min(BACKOFF_MAX_MS);
        let due = self.since(key, job, "failed at").saturating_add(delay);
        if due <= self.ground.clock.now_ms() {
            return false;
        }
        self.workload_alarms.set_earlier(key, due);
        true
    }

    /// A job that has ended goes when its time is over.
    fn end_of_life(&mut self, key: &Key, job: &Value) {
        let Some(seconds) =
            number(job, "/spec/ttlSecondsAfterFinished").and_then(|seconds| u64::try_from(seconds).ok())
        else {
            return;
        };
        let due = self.since(key, job, "ended").saturating_add(seconds * 1000);
        if due > self.ground.clock.now_ms() {
            self.workload_alarms.set_earlier(key, due);
            return;
        }
        let options = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": pod::uid(job)}});
        self.hands.delete(Part::Controllers, &path(key), &options);
    }

    fn tell_job(&self, key: &Key, job: &Value, fates: &Fates, conditions: Vec<Value>) {
        let holds = |kind: &str| conditions.iter().any(|one| one["type"] == kind && one["status"] == "True");
        let is_over = holds("Complete") || holds("Failed");
        let is_suspended = job["spec"]["suspend"] == true;
        let active = if is_over || is_suspended { 0 } else { i64::try_from(fates.active.len()).unwrap_or(i64::MAX) };
        let mut status = Map::new();
        status.insert("active".to_owned(), count(active));
        status.insert("ready".to_owned(), if active == 0 { 0.into() } else { fates.ready.into() });
        status.insert("terminating".to_owned(), fates.terminating.into());
        status.insert("succeeded".to_owned(), count(fates.succeeded));
        let failed = if holds("Failed") && !job["status"]["failed"].is_null() {
            number(job, "/status/failed").unwrap_or(0).max(fates.failed)
        } else {
            fates.failed
        };
        status.insert("failed".to_owned(), count(failed));
        status.insert("uncountedTerminatedPods".to_owned(), json!({}));
        if is_indexed(job) && !fates.done.is_empty() {
            status.insert("completedIndexes".to_owned(), ranges(&fates.done).into());
        }
        if !is_suspended {
            let started = job["status"]["startTime"].as_str().map(str::to_owned);
            status.insert("startTime".to_owned(), started.unwrap_or_else(|| self.time()).into());
        }
        if holds("Complete") {
            let ended = job["status"]["completionTime"].as_str().map(str::to_owned);
            status.insert("completionTime".to_owned(), ended.unwrap_or_else(|| self.time()).into());
        }
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
        self.write_status(key, job, &status);
    }
}

/// How a job ends.
struct End {
    is_success: bool,
    reason: &'static str,
    message: &'static str,
}

impl End {
    fn failed(reason: &'static str, message: &'static str) -> End {
        End { is_success: false, reason, message }
    }
}

fn is_indexed(job: &Value) -> bool {
    job["spec"]["completionMode"] == "Indexed"
}

/// `0-2,4`
fn ranges(indexes: &[i64]) -> String {
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => parts.push((*index, *index)),
        }
    }
    let parts = parts
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_told_in_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
        assert_eq!(ranges(&[3]), "3");
    }
}
