//! What keeps an object that is being deleted, and who should let it go.

use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use crate::{
    cluster::{
        Cluster,
        discovery::{Kind, Lookup},
    },
    object::{key::ObjectKey, shape::managers_of_finalizer},
};

/// So many objects of a kind are named.
const NAMED: usize = 5;

/// What keeps it, in one line.
pub(super) fn in_short(object: &Json) -> String {
    let finalizers = finalizers(object);
    let mut reasons: Vec<String> = Vec::new();
    if !finalizers.is_empty() {
        let noun = if finalizers.len() == 1 { "finalizer" } else { "finalizers" };
        reasons.push(format!("held by {noun} {}", finalizers.join(", ")));
    }
    reasons.extend(conditions(object).map(str::to_owned));
    reasons.join("; ")
}

fn finalizers(object: &Json) -> Vec<&str> {
    let list = |pointer: &str| object.pointer(pointer).and_then(Json::as_array).into_iter().flatten();
    list("/metadata/finalizers").chain(list("/spec/finalizers")).filter_map(Json::as_str).collect()
}

/// What the conditions of its status say that keeps it.
fn conditions(object: &Json) -> impl Iterator<Item = &str> {
    let conditions = object.pointer("/status/conditions").and_then(Json::as_array).into_iter().flatten();
    let is_deleted = told(object, "/kind") == "Namespace" || told(object, "/kind") == "CustomResourceDefinition";
    conditions
        .filter(move |one| is_deleted && told(one, "/status") == "True")
        .filter(|one| told(one, "/type").starts_with("Namespace") || told(one, "/type") == "Terminating")
        .filter_map(|one| one.get("message").and_then(Json::as_str))
}

/// The error of a wait that was too long, with who holds the object and who should let it go. It may just have gone.
pub(super) async fn explained(
    cluster: &Cluster,
    kind: &Kind,
    key: &ObjectKey,
    uid: Option<&str>,
    mut error: ProviderError,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let live = match cluster.get(kind, key, call).await {
        Ok(Some(live)) => live,
        Ok(None) => return Ok(()),
        Err(_) => return Err(error),
    };
    if uid.is_some_and(|uid| told(&live, "/metadata/uid") != uid) {
        return Ok(());
    }
    let mut lines = Vec::new();
    for finalizer in finalizers(&live) {
        lines.push(format!("{finalizer}: {}", holder(cluster, key, &live, finalizer, call).await));
    }
    if key.kind == "Namespace" {
        lines.extend(content(cluster, &key.name, &live, call).await);
    }
    for line in &lines {
        error.what += "\n  ";
        error.what += line;
    }
    let place = key.namespace.as_ref().map_or(String::new(), |namespace| format!(" -n {namespace}"));
    let hint = format!(
        "It is being deleted, and a later run goes on waiting; `timeouts {{ delete }}` gives more time. Bring back what should \
         remove the finalizer. Only where that is gone for good, and what it would have cleaned up with it: kubectl patch \
         {} {}{place} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'.",
        kind.plural, key.name
    );
    Err(error.hint(if key.kind == "Namespace" {
        "It is being deleted, and a later run goes on waiting; `timeouts { delete }` gives more time. Bring back what should \
         remove the finalizers of what is left in it."
            .to_owned()
    } else {
        hint
    }))
}

/// Who should remove a finalizer, and what is known of it.
async fn holder(cluster: &Cluster, key: &ObjectKey, live: &Json, finalizer: &str, call: Call<'_>) -> String {
    match finalizer {
        "foregroundDeletion" => {
            let owned = cluster.pods_owned(key, live, call).await;
            let names = named(&owned);
            let names = if names.is_empty() { String::new() } else { format!(": pods {names}") };
            format!("the garbage collector removes it when the objects that it owns are gone{names}")
        }
        "orphan" => "the garbage collector removes it when the objects that it owned have no owner".to_owned(),
        "kubernetes" => "the namespace controller removes it when nothing is left in the namespace".to_owned(),
        "kubernetes.io/pvc-protection" => {
            let users = cluster.pods_with_claim(key, call).await;
            let names = named(&users);
            let names = if names.is_empty() { String::new() } else { format!(": {names}") };
            format!("the controller manager removes it when no pod uses the claim{names}")
        }
        "kubernetes.io/pv-protection" => {
            let claim = [told(live, "/spec/claimRef/namespace"), told(live, "/spec/claimRef/name")].join("/");
            format!("the controller manager removes it when no claim is bound to the volume; {claim} is")
        }
        "service.kubernetes.io/load-balancer-cleanup" => {
            "the cloud's controller manager removes it when the load balancer is gone".to_owned()
        }
        "batch.kubernetes.io/job-tracking" => "the Job controller removes it when it has counted the pod".to_owned(),
        "customresourcecleanup.apiextensions.k8s.io" => {
            let left = cluster.objects_of_definition(live, call).await;
            format!("the API server removes it when no object of the kind is left: {}", named(&left))
        }
        _ => {
            let managers = managers_of_finalizer(live, finalizer);
            match managers.first() {
                None => "nobody is recorded as who set it; the controller that it is named after should remove it"
                    .to_owned(),
                Some(manager) => format!("set by {manager}, {}", running(cluster, manager, call).await),
            }
        }
    }
}

/// Does a pod run that looks like a field manager? Managers are named after programs, pods after them: it is a guess, and
/// told as one.
async fn running(cluster: &Cluster, manager: &str, call: Call<'_>) -> String {
    let Ok(Lookup::Served(kind)) = cluster.kind("v1", "Pod", call).await else {
        return "who should remove it".to_owned();
    };
    let Some(pods) = cluster.some(&kind, None, None, call).await else {
        return "which should remove it; whether that runs cannot be seen".to_owned();
    };
    let like: Vec<&Json> = pods.iter().filter(|pod| looks_like(pod, manager)).collect();
    let runs = |pod: &&&Json| told(pod, "/status/phase") == "Running";
    match (like.iter().find(runs), like.first()) {
        (Some(pod), _) => format!("which should remove it; pod {} looks like it, and runs: see its log", place(pod)),
        (None, Some(pod)) => {
            format!("which should remove it; pod {} looks like it, and is {}", place(pod), told(pod, "/status/phase"))
        }
        (None, None) => "which should remove it; no pod that looks like it runs in the cluster".to_owned(),
    }
}

fn looks_like(pod: &Json, manager: &str) -> bool {
    let labels = ["app.kubernetes.io/name", "app.kubernetes.io/instance", "app", "k8s-app"];
    let labelled =
        |label: &&str| pod.pointer("/metadata/labels").and_then(|all| all.get(*label)?.as_str()) == Some(manager);
    let containers = pod.pointer("/spec/containers").and_then(Json::as_array).into_iter().flatten();
    let program = |container: &Json| {
        let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let image = told(container, "/image").split(['@']).next().map(base).unwrap_or_default();
        let image = image.split(':').next().unwrap_or_default().to_owned();
        let command = container.pointer("/command/0").and_then(Json::as_str).map(base);
        told(container, "/name") == manager || image == manager || command.as_deref() == Some(manager)
    };
    labels.iter().any(labelled)
        || told(pod, "/metadata/name").starts_with(&format!("{manager}-"))
        || containers.into_iter().any(program)
}

/// What is left in a namespace, by name, as its conditions count it.
async fn content(cluster: &Cluster, namespace: &str, live: &Json, call: Call<'_>) -> Vec<String> {
    let mut lines: Vec<String> = conditions(live).map(str::to_owned).collect();
    for (plural, group) in remaining(live) {
        let left = cluster.objects_left(&group, &plural, namespace, call).await;
        if !left.is_empty() {
            lines.push(format!("{plural}: {}", named(&left)));
        }
    }
    lines
}

/// The resources of which objects are left, as (plural, group): "Some resources are remaining: widgets.example.com has 1
/// resource instances, configmaps. has 2 resource instances".
fn remaining(namespace: &Json) -> Vec<(String, String)> {
    let conditions = namespace.pointer("/status/conditions").and_then(Json::as_array).into_iter().flatten();
    let messages = conditions
        .filter(|one| told(one, "/type") == "NamespaceContentRemaining" && told(one, "/status") == "True")
        .map(|one| told(one, "/message"));
    let parts = messages.filter_map(|message| message.split_once(": ")).flat_map(|(_, list)| list.split(", "));
    parts
        .filter_map(|part| {
            let (plural, group) = part.split_once(" has ")?.0.split_once('.')?;
            Some((plural.to_owned(), group.to_owned()))
        })
        .collect()
}

/// The first of them by name, each with its own finalizers.
fn named(objects: &[Json]) -> String {
    let mut names: Vec<String> = objects
        .iter()
        .map(|object| {
            let finalizers = finalizers(object);
            let held = if finalizers.is_empty() { String::new() } else { format!(" ({})", finalizers.join(", ")) };
            format!("{}{held}", place(object))
        })
        .collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", names.join(", "))
}

fn place(object: &Json) -> String {
    match told(object, "/metadata/namespace") {
        "" => told(object, "/metadata/name").to_owned(),
        namespace => format!("{namespace}/{}", told(object, "/metadata/name")),
    }
}

fn told<'a>(object: &'a Json, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_keeps_an_object_is_told_in_one_line() {
        let condition = |ty: &str, message: &str| json!({"type": ty, "status": "True", "message": message});
        for (object, expected) in [
            (json!({}), ""),
            (json!({"metadata": {"finalizers": ["a/b"]}}), "held by finalizer a/b"),
            (
                json!({"metadata": {"finalizers": ["a/b", "c"]}, "status": {"conditions": [condition("Ready", "fine")]}}),
                "held by finalizers a/b, c",
            ),
            (
                json!({"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]},
                    "status": {"conditions": [condition("NamespaceContentRemaining", "pods. has 1 resource instances")]}}),
                "held by finalizer kubernetes; pods. has 1 resource instances",
            ),
        ] {
            assert_eq!(in_short(&object), expected);
        }
    }

    #[test]
    fn what_a_namespace_still_has_is_read_from_its_conditions() {
        let message = "Some resources are remaining: configmaps. has 2 resource instances, widgets.example.com has 1 resource \
                       instances";
        let namespace = json!({"status": {"conditions": [
            {"type": "NamespaceContentRemaining", "status": "True", "message": message}]}});
        let text = str::to_owned;
        assert_eq!(
            remaining(&namespace),
            [(text("configmaps"), String::new()), (text("widgets"), text("example.com"))]
        );
    }

    #[test]
    fn a_manager_is_found_among_pods_by_what_it_is_called() {
        let pod = |name: &str, image: &str, label: &str| {
            json!({"metadata": {"name": name, "labels": {"app": label}},
                "spec": {"containers": [{"name": "manager", "image": image}]}})
        };
        for (pod, expected) in [
            (pod("kueue-controller-x", "i", ""), true),
            (pod("x", "registry.example.com:5000/a/kueue:v1", ""), true),
            (pod("x", "i", "kueue"), true),
            (pod("kueuer", "i/kueue-x:1", "other"), false),
        ] {
            assert_eq!(looks_like(&pod, "kueue"), expected, "{pod}");
        }
    }
}
