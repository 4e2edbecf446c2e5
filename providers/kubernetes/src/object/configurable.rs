//! What a configuration of a live object would say: what somebody wanted, without what the server and its controllers
//! filled in. Applied under another manager's name it changes nothing, since every value is the one that is there.
//!
//! `metadata.managedFields` tells it: a field that nobody owns is a default or was computed, and a field that only a
//! controller of Kubernetes owns is its business. Fields that an unknown controller owns cannot be told from a user's.

use serde_json::{Map, Value as Json, json};

/// Managers whose fields nobody configures.
const CONTROLLERS: &[&str] = &[
    "cloud-controller-manager",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubelet",
];

/// Fields of `metadata` that a configuration has.
const METADATA: &[&str] = &["name", "namespace", "labels", "annotations"];

/// Annotations that tools keep their own books in. `kubectl` repeats the whole object there, the data of a Secret too.
const BOOKS: &[&str] = &["kubectl.kubernetes.io/last-applied-configuration"];

/// What a configuration of the object says. The data of a Secret is not in it.
pub(crate) fn configurable(live: &Json) -> Json {
    let fields = wanted(live);
    let kept = fields.map_or_else(|| live.clone(), |fields| part(live, &fields));
    let mut object = match without_nulls(kept) {
        Json::Object(object) => object,
        _ => Map::new(),
    };
    object.remove("status");
    for name in ["apiVersion", "kind"] {
        object.extend(live.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    if is_secret(live) {
        object.remove("data");
        object.remove("stringData");
    }
    let mut metadata = match object.remove("metadata") {
        Some(Json::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    metadata.retain(|name, _| METADATA.contains(&name.as_str()));
    for name in ["name", "namespace"] {
        metadata.extend(live.pointer(&format!("/metadata/{name}")).map(|value| (name.to_owned(), value.clone())));
    }
    if let Some(Json::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|name, _| !BOOKS.contains(&name.as_str()));
    }
    metadata.retain(|_, value| value.as_object().is_none_or(|fields| !fields.is_empty()));
    object.insert("metadata".to_owned(), Json::Object(metadata));
    Json::Object(object)
}

/// Is it a Secret with data?
pub(crate) fn is_secret(live: &Json) -> bool {
    live.get("apiVersion") == Some(&json!("v1")) && live.get("kind") == Some(&json!("Secret"))
}

/// The fields that users own, of all managers together; those of controllers where there are no others. `None`: nothing
/// is known about owners.
fn wanted(live: &Json) -> Option<Map<String, Json>> {
    let entries = live.pointer("/metadata/managedFields")?.as_array()?;
    let text = |entry: &Json, name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    // What is written through a subresource is a status, a scale, a binding.
    let of_object = || entries.iter().filter(|entry| text(entry, "subresource").is_empty());
    let together = |entries: &mut dyn Iterator<Item = &Json>| {
        let mut all = Map::new();
        entries.filter_map(|entry| entry.get("fieldsV1")?.as_object()).for_each(|fields| merge(&mut all, fields));
        all
    };
    let says_something =
        |fields: &Map<String, Json>| fields.keys().any(|name| name != "f:metadata" && name != "f:status");
    let of_users = together(&mut of_object().filter(|entry| !CONTROLLERS.contains(&text(entry, "manager").as_str())));
    if says_something(&of_users) {
        return Some(of_users);
    }
    let of_all = together(&mut of_object());
    (!of_all.is_empty()).then_some(of_all)
}

/// A field that one owns as a whole and another in parts is owned in parts.
fn merge(all: &mut Map<String, Json>, more: &Map<String, Json>) {
    for (element, inside) in more {
        let into = all.entry(element.clone()).or_insert_with(|| json!({}));
        if let (Json::Object(into), Json::Object(inside)) = (into, inside) {
            merge(into, inside);
        }
    }
}

/// Of a live value what is owned.
fn part(live: &Json, owned: &Map<String, Json>) -> Json {
    if owned.is_empty() {
        return live.clone();
    }
    let nothing = Map::new();
    let inside = |value: &'_ Json| value.as_object().cloned().unwrap_or_default();
    match live {
        Json::Object(fields) => {
            let kept = fields.iter().filter_map(|(name, value)| {
                Some((name.clone(), part(value, owned.get(&format!("f:{name}"))?.as_object().unwrap_or(&nothing))))
            });
            Json::Object(kept.collect())
        }
        Json::Array(items) => {
            // Each item belongs to the first element that names it, so that this is linear in what is owned.
            let by_keys: Vec<(Map<String, Json>, Map<String, Json>)> = owned
                .iter()
                .filter_map(|(element, value)| {
                    let keys: Json = serde_json::from_str(element.strip_prefix("k:")?).ok()?;
                    Some((keys.as_object()?.clone(), inside(value)))
                })
                .collect();
            let index: std::collections::BTreeMap<String, &Map<String, Json>> =
                by_keys.iter().map(|(keys, value)| (Json::Object(keys.clone()).to_string(), value)).collect();
            let names: Vec<&String> = by_keys.first().map(|(keys, _)| keys.keys().collect()).unwrap_or_default();
            let values: std::collections::BTreeSet<String> = owned
                .keys()
                .filter_map(|element| serde_json::from_str::<Json>(element.strip_prefix("v:")?).ok())
                .map(|value| value.to_string())
                .collect();
            let kept = items.iter().enumerate().filter_map(|(at, item)| {
                if owned.contains_key(&format!("i:{at}")) || values.contains(&item.to_string()) {
                    return Some(item.clone());
                }
                let keys: Map<String, Json> =
                    names.iter().filter_map(|name| Some(((*name).clone(), item.get(*name)?.clone()))).collect();
                if keys.is_empty() {
                    return None;
                }
                let owned = index.get(&Json::Object(keys.clone()).to_string())?;
                let mut kept = part(item, owned);
                if let Json::Object(kept) = &mut kept {
                    kept.extend(keys);
                }
                Some(kept)
            });
            Json::Array(kept.collect())
        }
        other => other.clone(),
    }
}

fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_or_only_a_controller_wanted_is_left_out() {
        let live = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "a", "uid": "u", "generation": 2, "creationTimestamp": "t",
                "labels": {"app": "web", "other": "x"}, "finalizers": ["f"],
                "annotations": {"deployment.kubernetes.io/revision": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
                "managedFields": [
                    {"manager": "kubectl", "operation": "Update", "fieldsV1": {
                        "f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:finalizers": {},
                            "f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
                        "f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {
                            "f:metadata": {"f:creationTimestamp": {}},
                            "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {},
                                "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}}}}}}}}}},
                    {"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": {
                        "f:metadata": {"f:annotations": {"f:deployment.kubernetes.io/revision": {}}}}},
                    {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status",
                        "fieldsV1": {"f:status": {"f:replicas": {}}}},
                ],
            },
            "spec": {
                "replicas": 2, "paused": false, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"creationTimestamp": null}, "spec": {"dnsPolicy": "ClusterFirst", "containers": [
                    {"name": "sidecar", "image": "s"},
                    {"name": "web", "image": "w", "tty": false, "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                ]}},
            },
            "status": {"replicas": 2},
        });
        let expected = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "a", "labels": {"app": "web"}},
            "spec": {
                "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {}, "spec": {"containers": [
                    {"name": "web", "image": "w", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                ]}},
            },
        });
        assert_eq!(configurable(&live), expected);
    }

    #[test]
    fn what_only_the_control_plane_made_is_whole_and_secrets_say_nothing() {
        let by = |manager: &str, fields: Json| json!([{"manager": manager, "operation": "Update", "fieldsV1": fields}]);
        let class = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x",
            "managedFields": by("kube-apiserver", json!({"f:value": {}}))}, "value": 1, "default": 2});
        let expected = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "value": 1});
        assert_eq!(configurable(&class), expected);
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x",
            "managedFields": by("kubectl", json!({"f:data": {"f:token": {}}, "f:type": {}}))},
            "data": {"token": "canary"}, "type": "Opaque"});
        let expected = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "type": "Opaque"});
        assert_eq!(configurable(&secret), expected);
        let unknown =
            json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "uid": "u"}, "list": [{"a": null}]});
        let expected = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "list": [{}]});
        assert_eq!(configurable(&unknown), expected);
    }

    #[test]
    fn members_of_sets_are_kept_by_their_owners() {
        let live = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "managedFields": [
            {"manager": "a", "operation": "Apply", "fieldsV1": {"f:spec": {"f:set": {"v:\"x\"": {}, "v:3": {}}, "f:atomic": {}}}},
        ]}, "spec": {"set": ["w", "x", 3], "atomic": [{"q": 1}], "rest": true}});
        assert_eq!(configurable(&live)["spec"], json!({"set": ["x", 3], "atomic": [{"q": 1}]}));
    }
}
