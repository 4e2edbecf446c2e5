//! What the API server fills in for built-in kinds, as far as clients see it in the answers of dry runs.

use serde_json::{Map, Value, json};

use super::object::{default_field, ensure_map, map_mut, text};

/// For kinds without defaults.
pub(super) fn nothing(_: &mut Value) {}

/// The label by which network policies and selectors name a namespace, and the finaliser that empties it.
pub(super) fn namespace(object: &mut Value) {
    let name = text(object, "/metadata/name").to_owned();
    if !name.is_empty() {
        let metadata = map_mut(object, "metadata");
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        ensure_map(labels).insert("kubernetes.io/metadata.name".to_owned(), name.into());
    }
}

/// A namespace begins active, with the finaliser that empties it.
pub(super) fn begin_namespace(object: &mut Value) {
    map_mut(object, "spec").insert("finalizers".to_owned(), json!(["kubernetes"]));
    object["status"] = json!({"phase": "Active"});
}

/// Go does not write a false `unschedulable`.
pub(super) fn node(object: &mut Value) {
    let spec = map_mut(object, "spec");
    if spec.get("unschedulable") == Some(&Value::Bool(false)) {
        spec.remove("unschedulable");
    }
    let capacity = object.pointer("/status/capacity").cloned();
    if let Some(capacity) = capacity {
        default_field(map_mut(object, "status"), "allocatable", capacity);
    }
}

/// Write-only `stringData` becomes `data`; the type is `Opaque` unless said.
pub(super) fn secret(object: &mut Value) {
    use base64::Engine as _;
    let object = ensure_map(object);
    if let Some(Value::Object(texts)) = object.remove("stringData") {
        let data = ensure_map(object.entry("data").or_insert_with(|| json!({})));
        for (key, value) in texts {
            let encoded = base64::engine::general_purpose::STANDARD.encode(value.as_str().unwrap_or_default());
            data.insert(key, encoded.into());
        }
    }
    default_field(object, "type", "Opaque");
}

/// References are to the RBAC group, subjects to the one of their kind.
pub(super) fn role_binding(object: &mut Value) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let object = ensure_map(object);
    if let Some(Value::Object(reference)) = object.get_mut("roleRef") {
        default_field(reference, "apiGroup", GROUP);
    }
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if text(subject, "/kind") != "ServiceAccount" {
            default_field(ensure_map(subject), "apiGroup", GROUP);
        }
    }
}

/// Pods of a class preempt others unless said.
pub(super) fn priority_class(object: &mut Value) {
    let object = ensure_map(object);
    default_field(object, "value", 0);
    default_field(object, "preemptionPolicy", "PreemptLowerPriority");
    if object.get("globalDefault") == Some(&Value::Bool(false)) {
        object.remove("globalDefault");
    }
}

/// A pod's own defaults.
pub(super) fn pod(object: &mut Value) {
    let spec = map_mut(object, "spec");
    pod_spec(spec);
    // A pod template leaves these to its pods.
    default_field(spec, "enableServiceLinks", true);
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            requests_from_limits(map_mut(container, "resources"));
        }
    }
}

/// A pod waits for a node.
pub(super) fn begin_pod(object: &mut Value) {
    let class = quality_of_service(object);
    object["status"] = json!({"phase": "Pending", "qosClass": class});
}

fn pod_spec(spec: &mut Map<String, Value>) {
    default_field(spec, "restartPolicy", "Always");
    default_field(spec, "terminationGracePeriodSeconds", 30);
    default_field(spec, "dnsPolicy", "ClusterFirst");
    default_field(spec, "schedulerName", "default-scheduler");
    default_field(spec, "securityContext", json!({}));
    if let Some(account) = spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount")).cloned() {
        default_field(spec, "serviceAccount", account.clone());
        default_field(spec, "serviceAccountName", account);
    }
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            container_defaults(ensure_map(container));
        }
    }
}

fn container_defaults(container: &mut Map<String, Value>) {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let tag = image.rsplit('/').next().unwrap_or(image).rsplit_once(':').map(|(_, tag)| tag);
    let policy = if image.contains('@') || tag.is_some_and(|tag| tag != "latest") { "IfNotPresent" } else { "Always" };
    default_field(container, "imagePullPolicy", policy);
    default_field(container, "terminationMessagePath", "/dev/termination-log");
    default_field(container, "terminationMessagePolicy", "File");
    default_field(container, "resources", json!({}));
}

/// What is limited and not requested is requested in that amount; for extended resources the two are always equal.
fn requests_from_limits(resources: &mut Map<String, Value>) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let requests = ensure_map(resources.entry("requests").or_insert_with(|| json!({})));
    for (name, amount) in limits {
        default_field(requests, &name, amount);
    }
}

fn quality_of_service(pod: &Value) -> &'static str {
    let (mut any, mut all_equal) = (false, true);
    for list in ["/spec/initContainers", "/spec/containers"] {
        for container in super::object::items(pod, list) {
            for name in ["cpu", "memory"] {
                let amount = |of: &str| container.pointer(&format!("/resources/{of}/{name}"));
                let (requested, limited) = (amount("requests"), amount("limits"));
                any |= requested.is_some() || limited.is_some();
                all_equal &= limited.is_some() && requested == limited;
            }
        }
    }
    match (any, all_equal) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn template(object: &mut Value) {
    let spec = map_mut(object, "spec");
    if let Some(template) = spec.get_mut("template") {
        let template = ensure_map(template);
        template.entry("metadata").or_insert_with(|| json!({}));
        pod_spec(ensure_map(template.entry("spec").or_insert_with(|| json!({}))));
    }
}

/// A deployment rolls by a quarter.
pub(super) fn deployment(object: &mut Value) {
    template(object);
    let spec = map_mut(object, "spec");
    default_field(spec, "replicas", 1);
    default_field(spec, "revisionHistoryLimit", 10);
    default_field(spec, "progressDeadlineSeconds", 600);
    let strategy = ensure_map(spec.entry("strategy").or_insert_with(|| json!({})));
    default_field(strategy, "type", "RollingUpdate");
    if strategy.get("type").and_then(Value::as_str) == Some("RollingUpdate") {
        let rolling = ensure_map(strategy.entry("rollingUpdate").or_insert_with(|| json!({})));
        default_field(rolling, "maxUnavailable", "25%");
        default_field(rolling, "maxSurge", "25%");
    }
}

/// One replica.
pub(super) fn replica_set(object: &mut Value) {
    template(object);
    default_field(map_mut(object, "spec"), "replicas", 1);
}

/// `replicas` is required in a replica set's status.
pub(super) fn begin_replica_set(object: &mut Value) {
    object["status"] = json!({"replicas": 0});
}

/// Unless somebody chooses them, a job's pods are found by the job's UID.
pub(super) fn begin_job(object: &mut Value) {
    if object.pointer("/spec/manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let (name, uid) = (text(object, "/metadata/name").to_owned(), text(object, "/metadata/uid").to_owned());
    let spec = map_mut(object, "spec");
    default_field(spec, "selector", json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}));
    let template = ensure_map(spec.entry("template").or_insert_with(|| json!({})));
    let metadata = ensure_map(template.entry("metadata").or_insert_with(|| json!({})));
    let labels = ensure_map(metadata.entry("labels").or_insert_with(|| json!({})));
    for prefix in ["", "batch.kubernetes.io/"] {
        labels.insert(format!("{prefix}controller-uid"), uid.as_str().into());
        labels.insert(format!("{prefix}job-name"), name.as_str().into());
    }
}

/// One run of one pod.
pub(super) fn job(object: &mut Value) {
    template(object);
    let spec = map_mut(object, "spec");
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        spec.insert("completions".to_owned(), 1.into());
    }
    default_field(spec, "parallelism", 1);
    default_field(spec, "backoffLimit", 6);
    default_field(spec, "completionMode", "NonIndexed");
    default_field(spec, "suspend", false);
    default_field(spec, "manualSelector", false);
    default_field(spec, "podReplacementPolicy", "TerminatingOrFailed");
}
