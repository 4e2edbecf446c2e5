//! Whose pods end with an object that is destroyed.
//!
//! Only namespaces are asked about: who destroys a Deployment or a Job names the pods that go, who destroys a namespace
//! may not know what others run in it. What comes into it between plan and apply goes with it, too, and is not seen here.

use engine_diag::sentence;
use engine_value::Path;
use providers_api::{Call, Issue};
use serde_json::Value as Json;

use super::issue::failed;
use crate::{
    cluster::{Cluster, discovery::Lookup},
    object::key::ObjectKey,
};

/// So many are named; of more, the number tells enough.
const NAMED: usize = 10;

/// A warning that names the pods that still run in a namespace; `None` where nothing runs, or where the object is none.
///
/// Where the pods cannot be listed the warning says that, and why: silence would read as "no pods end".
pub(crate) async fn warning(cluster: &Cluster, key: &ObjectKey, call: Call<'_>) -> Option<Issue> {
    if key.kind != "Namespace" || key.api_version != "v1" {
        return None;
    }
    let unseen = |why: &str| {
        let detail =
            format!("{key} is destroyed with all that runs in it, and what that is cannot be told. {}", sentence(why));
        Some(Issue::warning(Path::root(), "Pods may end with their namespace", detail))
    };
    let pods = match cluster.kind("v1", "Pod", call).await {
        Ok(Lookup::Served(pods)) => pods,
        Ok(Lookup::Missing(_)) => return None,
        Err(error) => return Some(failed(Path::root(), &format!("Cannot plan {key}"), &error)),
    };
    match cluster.list(&pods, Some(&key.name), &[], call).await {
        Ok(Ok(found)) => of(key, &found),
        Ok(Err(status)) => unseen(&status.message),
        Err(error) => Some(failed(Path::root(), &format!("Cannot plan {key}"), &error)),
    }
}

fn of(key: &ObjectKey, pods: &[Json]) -> Option<Issue> {
    let text = |pod: &Json, pointer: &str| pod.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
    let runs = |pod: &&Json| !matches!(text(pod, "/status/phase").as_deref(), Some("Succeeded" | "Failed"));
    let mut names: Vec<String> = pods.iter().filter(runs).filter_map(|pod| text(pod, "/metadata/name")).collect();
    if names.is_empty() {
        return None;
    }
    names.sort_unstable();
    let (count, more) = (names.len(), names.len().saturating_sub(NAMED));
    names.truncate(NAMED);
    let noun = if count == 1 { "pod" } else { "pods" };
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    let detail =
        format!("{key} is destroyed with all that is in it. That ends {count} {noun}: {}{rest}.", names.join(", "));
    let issue = Issue::warning(Path::root(), "Pods end with their namespace", detail);
    Some(issue.hint("To keep the namespace, take it out of the state first, or move the pods elsewhere."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(pods: &[(&str, &str)], expected: Option<&str>) {
        let key = ObjectKey::of(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})).unwrap();
        let pod = |(name, phase): &(&str, &str)| json!({"metadata": {"name": name}, "status": {"phase": phase}});
        let pods: Vec<Json> = pods.iter().map(pod).collect();
        let expected = expected.map(|end| format!("Namespace a is destroyed with all that is in it. That ends {end}."));
        assert_eq!(of(&key, &pods).map(|issue| issue.detail), expected);
    }

    #[test]
    fn what_still_runs_is_named() {
        check(&[], None);
        check(&[("done", "Succeeded"), ("dead", "Failed")], None);
        check(&[("b", "Running"), ("done", "Succeeded"), ("a", "Pending")], Some("2 pods: a, b"));
        check(&[("a", "Running")], Some("1 pod: a"));
        let many: Vec<String> = (0..12).map(|number| format!("p{number:02}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "Running")).collect();
        check(&many, Some("12 pods: p00, p01, p02, p03, p04, p05, p06, p07, p08, p09 and 2 more"));
    }
}
