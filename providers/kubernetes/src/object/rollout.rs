//! Is what an object stands for brought about? Kind by kind, as `kubectl rollout status` tells it where that does.

use serde_json::Value as Json;

use super::readiness::{
    Readiness::{self, Never, NotYet, Ready},
    condition, text,
};

/// Kinds whose roll-out can be told, by API group.
pub(crate) const ROLLOUTS: [(&str, &str); 11] = [
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
];

/// Can the roll-out of such objects be told?
pub(crate) fn has_rollout(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    ROLLOUTS.contains(&(group, kind))
}

/// How far the roll-out of an object is. Its status tells of the object as it is now: who calls has looked.
pub(super) fn rollout(object: &Json) -> Readiness {
    match text(object, "kind") {
        "Deployment" => deployment(object),
        "DaemonSet" => daemon_set(object),
        "StatefulSet" => stateful_set(object),
        "ReplicaSet" | "ReplicationController" => replica_set(object),
        "Job" => job(object),
        "Pod" => pod(object),
        "PersistentVolumeClaim" => claim(object),
        "Namespace" => namespace(object),
        "CustomResourceDefinition" => definition(object),
        "APIService" => is_true(object, "Available"),
        kind => Never(format!("a {kind} has no roll-out")),
    }
}

fn count(object: &Json, pointer: &str, absent: i64) -> i64 {
    object.pointer(pointer).and_then(Json::as_i64).unwrap_or(absent)
}

/// Where the status has never told of any version.
fn seen(object: &Json) -> Option<Readiness> {
    let observed = object.pointer("/status/observedGeneration").and_then(Json::as_i64).unwrap_or(0);
    (observed == 0).then(|| NotYet("its controller has not seen it yet".to_owned()))
}

fn enough(have: i64, wanted: i64, what: &str) -> Option<Readiness> {
    (have < wanted).then(|| NotYet(format!("{have} of {wanted} pods are {what}")))
}

/// The first that is not done.
fn all<const N: usize>(steps: [Option<Readiness>; N]) -> Readiness {
    steps.into_iter().flatten().next().unwrap_or(Ready)
}

/// Why its pods cannot be made, where that is told: a quota may free up, so that it is no end.
fn unmade(object: &Json) -> Option<Readiness> {
    let failure = condition(object, "ReplicaFailure").filter(|found| text(found, "status") == "True")?;
    Some(NotYet(format!("pods cannot be made: {}", text(failure, "message"))))
}

fn deployment(object: &Json) -> Readiness {
    if let Some(unseen) = seen(object) {
        return unseen;
    }
    let stuck = condition(object, "Progressing").filter(|found| text(found, "reason") == "ProgressDeadlineExceeded");
    if let Some(stuck) = stuck {
        let why = unmade(object).map_or(String::new(), |why| match why {
            NotYet(why) => format!(" ({why})"),
            _ => String::new(),
        });
        return Never(format!("{}{why}", text(stuck, "message")));
    }
    if object.pointer("/spec/paused") == Some(&Json::Bool(true)) {
        return NotYet("it is paused".to_owned());
    }
    let wanted = count(object, "/spec/replicas", 1);
    let (updated, total) = (count(object, "/status/updatedReplicas", 0), count(object, "/status/replicas", 0));
    all([
        enough(updated, wanted, "updated").map(|missing| unmade(object).unwrap_or(missing)),
        (total > updated).then(|| NotYet(format!("{} old pods are still there", total - updated))),
        enough(count(object, "/status/availableReplicas", 0), updated, "available"),
    ])
}

/// A strategy that replaces pods only when somebody deletes them.
fn by_hand(object: &Json) -> Option<Readiness> {
    let strategy = object.pointer("/spec/updateStrategy/type").and_then(Json::as_str);
    (strategy == Some("OnDelete")).then(|| {
        Never("with the update strategy OnDelete pods are replaced only when somebody deletes them".to_owned())
    })
}

fn daemon_set(object: &Json) -> Readiness {
    let wanted = count(object, "/status/desiredNumberScheduled", 0);
    all([
        seen(object),
        by_hand(object),
        enough(count(object, "/status/updatedNumberScheduled", 0), wanted, "updated"),
        enough(count(object, "/status/numberAvailable", 0), wanted, "available"),
    ])
}

fn stateful_set(object: &Json) -> Readiness {
    let wanted = count(object, "/spec/replicas", 1);
    let kept = object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Json::as_i64).unwrap_or(0);
    let revision = |name: &str| object.pointer(&format!("/status/{name}")).and_then(Json::as_str).unwrap_or_default();
    let turning = kept == 0 && revision("currentRevision") != revision("updateRevision");
    all([
        seen(object),
        by_hand(object),
        enough(count(object, "/status/readyReplicas", 0), wanted, "ready"),
        enough(count(object, "/status/updatedReplicas", 0), wanted - kept, "updated"),
        turning.then(|| NotYet("old pods are still replaced".to_owned())),
    ])
}

fn replica_set(object: &Json) -> Readiness {
    let wanted = count(object, "/spec/replicas", 1);
    let missing = enough(count(object, "/status/availableReplicas", 0), wanted, "available");
    all([seen(object), missing.map(|missing| unmade(object).unwrap_or(missing))])
}

fn job(object: &Json) -> Readiness {
    let holds = |ty: &str| condition(object, ty).filter(|found| text(found, "status") == "True");
    if let Some(failed) = holds("Failed").or_else(|| holds("FailureTarget")) {
        return Never(format!("{}: {}", text(failed, "reason"), text(failed, "message")));
    }
    if holds("Complete").is_some() {
        return Ready;
    }
    if object.pointer("/spec/suspend") == Some(&Json::Bool(true)) {
        // A queue may let it go later.
        return NotYet("it is suspended".to_owned());
    }
    let (done, failed) = (count(object, "/status/succeeded", 0), count(object, "/status/failed", 0));
    let failed = if failed == 0 { String::new() } else { format!(", {failed} have failed") };
    NotYet(format!("{done} of {} pods have succeeded{failed}", count(object, "/spec/completions", 1)))
}

fn pod(object: &Json) -> Readiness {
    let told = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    match told("/status/phase") {
        "Succeeded" => Ready,
        "Failed" => {
            Never(format!("it has failed: {} {}", told("/status/reason"), told("/status/message")).trim().to_owned())
        }
        phase => match (condition(object, "PodScheduled"), is_true(object, "Ready")) {
            (Some(found), NotYet(_)) if text(found, "status") == "False" => {
                NotYet(format!("it is not scheduled: {}", text(found, "message")))
            }
            (_, NotYet(why)) => NotYet(format!("it is {}: {why}", if phase.is_empty() { "new" } else { phase })),
            (_, other) => other,
        },
    }
}

fn claim(object: &Json) -> Readiness {
    match object.pointer("/status/phase").and_then(Json::as_str).unwrap_or("Pending") {
        "Bound" => Ready,
        "Lost" => Never("its volume is lost".to_owned()),
        phase => NotYet(format!(
            "it is {phase} (with the binding mode WaitForFirstConsumer it stays so until a pod uses it)"
        )),
    }
}

fn namespace(object: &Json) -> Readiness {
    match object.pointer("/status/phase").and_then(Json::as_str) {
        Some("Active") => Ready,
        Some("Terminating") => Never("it is being deleted".to_owned()),
        _ => NotYet(String::new()),
    }
}

/// A definition is established when its kind is served.
pub(crate) fn definition(object: &Json) -> Readiness {
    if let Some(taken) = condition(object, "NamesAccepted").filter(|found| text(found, "status") == "False") {
        return Never(text(taken, "message").to_owned());
    }
    is_true(object, "Established")
}

fn is_true(object: &Json, ty: &str) -> Readiness {
    match condition(object, ty) {
        Some(found) if text(found, "status") == "True" => Ready,
        Some(found) => NotYet(
            format!(
                "condition {ty} is {}: {} {}",
                text(found, "status"),
                text(found, "reason"),
                text(found, "message")
            )
            .trim_end_matches([' ', ':'])
            .to_owned(),
        ),
        None => NotYet(format!("it has no condition {ty} yet")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::readiness::{Wanted, readiness};

    #[test]
    fn rollouts_are_told_by_the_status() {
        let wanted = Wanted { rollout: true, ..Wanted::default() };
        let not_yet = |what: &str| NotYet(what.to_owned());
        let object = |kind: &str, spec: Json, status: Json| json!({"kind": kind, "metadata": {"generation": 2}, "spec": spec, "status": status});
        let stuck = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out"}]);
        let holds =
            |ty: &str, message: &str| json!([{"type": ty, "status": "True", "reason": "Why", "message": message}]);
        for (object, expected) in [
            (object("Deployment", json!({}), json!({})), not_yet("its controller has not seen it yet")),
            (
                object("Deployment", json!({}), json!({"observedGeneration": 1})),
                not_yet("its controller has not seen the change yet"),
            ),
            (
                object("Deployment", json!({"replicas": 3}), json!({"observedGeneration": 2, "updatedReplicas": 1})),
                not_yet("1 of 3 pods are updated"),
            ),
            (
                object(
                    "Deployment",
                    json!({"replicas": 1}),
                    json!({"observedGeneration": 2, "updatedReplicas": 1, "replicas": 2}),
                ),
                not_yet("1 old pods are still there"),
            ),
            (
                object("Deployment", json!({"replicas": 1}), json!({"observedGeneration": 2, "conditions": stuck})),
                Never("timed out".to_owned()),
            ),
            (
                object(
                    "Deployment",
                    json!({"replicas": 1}),
                    json!({"observedGeneration": 2, "updatedReplicas": 1, "replicas": 1, "availableReplicas": 1}),
                ),
                Ready,
            ),
            (object("Deployment", json!({"replicas": 0}), json!({"observedGeneration": 2})), Ready),
            (
                object(
                    "DaemonSet",
                    json!({}),
                    json!({"observedGeneration": 2, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberAvailable": 1}),
                ),
                not_yet("1 of 2 pods are available"),
            ),
            (
                object("DaemonSet", json!({"updateStrategy": {"type": "OnDelete"}}), json!({"observedGeneration": 2})),
                Never("with the update strategy OnDelete pods are replaced only when somebody deletes them".to_owned()),
            ),
            (
                object(
                    "StatefulSet",
                    json!({"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}}),
                    json!({"observedGeneration": 2, "readyReplicas": 3, "updatedReplicas": 1}),
                ),
                Ready,
            ),
            (
                object(
                    "StatefulSet",
                    json!({"replicas": 1}),
                    json!({"observedGeneration": 2, "readyReplicas": 1, "updatedReplicas": 1, "currentRevision": "a",
                        "updateRevision": "b"}),
                ),
                not_yet("old pods are still replaced"),
            ),
            (
                object(
                    "ReplicaSet",
                    json!({"replicas": 2}),
                    json!({"observedGeneration": 2, "availableReplicas": 1,
                    "conditions": holds("ReplicaFailure", "exceeded quota")}),
                ),
                not_yet("pods cannot be made: exceeded quota"),
            ),
            (object("Job", json!({"suspend": true}), json!({})), not_yet("it is suspended")),
            (object("Job", json!({"completions": 3}), json!({"succeeded": 1})), not_yet("1 of 3 pods have succeeded")),
            (object("Job", json!({}), json!({"conditions": holds("Complete", "")})), Ready),
            (
                object("Job", json!({}), json!({"conditions": holds("Failed", "too often")})),
                Never("Why: too often".to_owned()),
            ),
            (object("Pod", json!({}), json!({"phase": "Succeeded"})), Ready),
            (object("Pod", json!({}), json!({"phase": "Running", "conditions": holds("Ready", "")})), Ready),
            (
                object("Pod", json!({}), json!({"phase": "Pending"})),
                not_yet("it is Pending: it has no condition Ready yet"),
            ),
            (
                object("Pod", json!({}), json!({"phase": "Failed", "reason": "Evicted", "message": "no room"})),
                Never("it has failed: Evicted no room".to_owned()),
            ),
            (object("PersistentVolumeClaim", json!({}), json!({"phase": "Bound"})), Ready),
            (object("Namespace", json!({}), json!({"phase": "Active"})), Ready),
            (object("APIService", json!({}), json!({"conditions": holds("Available", "")})), Ready),
            (
                object("CustomResourceDefinition", json!({}), json!({"conditions": holds("NamesAccepted", "")})),
                not_yet("it has no condition Established yet"),
            ),
            (object("CronJob", json!({}), json!({})), Never("a CronJob has no roll-out".to_owned())),
        ] {
            assert_eq!(readiness(&object, &wanted), expected, "{object}");
        }
    }
}
