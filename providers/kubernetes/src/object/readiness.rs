//! Is a live object as far as it is to be waited for? A pure function of one object and of what is asked of it.

use serde_json::Value as Json;

/// What is waited for: all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The roll-out of a Deployment, DaemonSet or StatefulSet.
    pub(crate) rollout: bool,
    /// Fields and the text that each must be; `*` is anything but nothing.
    pub(crate) fields: Vec<(String, String)>,
    /// Conditions of the status: type, status.
    pub(crate) conditions: Vec<(String, String)>,
}

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is as it should be.
    Ready,
    /// It is not yet; what is missing, as a fragment.
    NotYet(String),
    /// It never will be by itself; why.
    Never(String),
}

use Readiness::{Never, NotYet, Ready};

/// Kinds whose roll-out can be told.
pub(crate) const ROLLOUTS: [&str; 3] = ["DaemonSet", "Deployment", "StatefulSet"];

/// How far an object is. A status that tells of an older version of the object counts for nothing.
pub(crate) fn readiness(object: &Json, wanted: &Wanted) -> Readiness {
    if *wanted == Wanted::default() {
        return Ready;
    }
    let observed = object.pointer("/status/observedGeneration").and_then(Json::as_i64);
    if let (Some(observed), Some(generation)) =
        (observed, object.pointer("/metadata/generation").and_then(Json::as_i64))
        && observed < generation
    {
        return NotYet("its controller has not seen the change yet".to_owned());
    }
    if wanted.rollout {
        match rollout(object, observed.is_some()) {
            Ready => {}
            other => return other,
        }
    }
    for (ty, status) in &wanted.conditions {
        match condition(object, ty) {
            Some(found) if text(found, "status") == status => {}
            Some(found) => {
                let message = [text(found, "reason"), text(found, "message")].join(" ");
                return NotYet(format!("condition {ty} is {} {message}", text(found, "status")).trim_end().to_owned());
            }
            None => return NotYet(format!("it has no condition {ty} yet")),
        }
    }
    for (path, expected) in &wanted.fields {
        match field(object, path).map(shown) {
            Some(found) if expected == "*" || found == *expected => {}
            Some(found) => return NotYet(format!("{path} is {found:?}")),
            None => return NotYet(format!("there is no {path} yet")),
        }
    }
    Ready
}

fn rollout(object: &Json, is_observed: bool) -> Readiness {
    if !is_observed {
        return NotYet("its controller has not seen it yet".to_owned());
    }
    let count = |pointer: &str, absent: i64| object.pointer(pointer).and_then(Json::as_i64).unwrap_or(absent);
    let wanted = count("/spec/replicas", 1);
    let strategy = object.pointer("/spec/updateStrategy/type").and_then(Json::as_str).unwrap_or("RollingUpdate");
    let enough = |have: i64, wanted: i64, what: &str| {
        if have < wanted { Some(NotYet(format!("{have} of {wanted} pods are {what}"))) } else { None }
    };
    let steps = match text(object, "kind") {
        "Deployment" => {
            let stuck = condition(object, "Progressing").filter(|c| text(c, "reason") == "ProgressDeadlineExceeded");
            if let Some(stuck) = stuck {
                return Never(text(stuck, "message").to_owned());
            }
            let (updated, all) = (count("/status/updatedReplicas", 0), count("/status/replicas", 0));
            let old = (all > updated).then(|| NotYet(format!("{} old pods are still there", all - updated)));
            [
                enough(updated, wanted, "updated"),
                old,
                enough(count("/status/availableReplicas", 0), updated, "available"),
            ]
        }
        _ if strategy == "OnDelete" => {
            return Never(
                "with the update strategy OnDelete pods are replaced only when somebody deletes them".to_owned(),
            );
        }
        "DaemonSet" => {
            let wanted = count("/status/desiredNumberScheduled", 0);
            let updated = enough(count("/status/updatedNumberScheduled", 0), wanted, "updated");
            [updated, enough(count("/status/numberAvailable", 0), wanted, "available"), None]
        }
        "StatefulSet" => {
            let kept = count("/spec/updateStrategy/rollingUpdate/partition", 0);
            let updated = enough(count("/status/updatedReplicas", 0), wanted - kept, "updated");
            [enough(count("/status/readyReplicas", 0), wanted, "ready"), updated, None]
        }
        kind => return Never(format!("a {kind} has no roll-out")),
    };
    steps.into_iter().flatten().next().unwrap_or(Ready)
}

fn condition<'a>(object: &'a Json, ty: &str) -> Option<&'a Json> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| text(condition, "type") == ty)
}

fn text<'a>(object: &'a Json, name: &str) -> &'a str {
    object.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// A field by its path: `status.loadBalancer.ingress[0].ip`, `metadata.annotations["a/b"]`.
fn field<'a>(object: &'a Json, path: &str) -> Option<&'a Json> {
    let (mut at, mut rest) = (object, path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (name, after) = inside.split_once(']')?;
            at = match name.parse::<usize>() {
                Ok(index) => at.get(index)?,
                Err(_) => at.get(name.trim_matches('"'))?,
            };
            rest = after;
        } else {
            let start = rest.strip_prefix('.').unwrap_or(rest);
            let end = start.find(['.', '[']).unwrap_or(start.len());
            at = at.get(&start[..end])?;
            rest = &start[end..];
        }
    }
    Some(at).filter(|found| !found.is_null())
}

fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn not_yet(what: &str) -> Readiness {
        NotYet(what.to_owned())
    }

    #[test]
    fn rollouts_are_told_by_the_status() {
        let wanted = Wanted { rollout: true, ..Wanted::default() };
        let object = |kind: &str, spec: Json, status: Json| json!({"kind": kind, "metadata": {"generation": 2}, "spec": spec, "status": status});
        let stuck = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out"}]);
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
            (object("Job", json!({}), json!({"observedGeneration": 2})), Never("a Job has no roll-out".to_owned())),
        ] {
            assert_eq!(readiness(&object, &wanted), expected, "{object}");
        }
    }

    #[test]
    fn fields_and_conditions_are_waited_for() {
        let object = json!({
            "metadata": {"annotations": {"a/b": "c"}},
            "status": {"phase": "Running", "ready": 2, "ips": [{"ip": "10.0.0.1"}],
                "conditions": [{"type": "Ready", "status": "False", "reason": "Starting"}]},
        });
        let fields =
            |path: &str, text: &str| Wanted { fields: vec![(path.to_owned(), text.to_owned())], ..Wanted::default() };
        let conditions =
            |ty: &str| Wanted { conditions: vec![(ty.to_owned(), "True".to_owned())], ..Wanted::default() };
        for (wanted, expected) in [
            (Wanted::default(), Ready),
            (fields("status.phase", "Running"), Ready),
            (fields("status.phase", "Done"), not_yet("status.phase is \"Running\"")),
            (fields("status.ready", "2"), Ready),
            (fields("status.ips[0].ip", "*"), Ready),
            (fields("status.ips[1].ip", "*"), not_yet("there is no status.ips[1].ip yet")),
            (fields("metadata.annotations[\"a/b\"]", "c"), Ready),
            (conditions("Ready"), not_yet("condition Ready is False Starting")),
            (conditions("Healthy"), not_yet("it has no condition Healthy yet")),
        ] {
            assert_eq!(readiness(&object, &wanted), expected, "{wanted:?}");
        }
    }
}
