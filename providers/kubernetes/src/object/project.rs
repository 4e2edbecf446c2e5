//! A live object, reduced to what a manifest says of it: what is compared, stored and shown.
//!
//! Both sides of every comparison are projections, and both come from the server: so its defaults, its spelling, the
//! fields of other managers and the order of lists that are maps or sets are never a difference.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::shape::{Shape, applied_field};

/// Of a live object, the parts that the manifest has too, with the live values. Absent: the manifest has it and the
/// object has not.
///
/// The status counts only where this manager may write it, and empty maps at the top say nothing. Linear in the size of both.
pub(crate) fn project(manifest: &Json, live: &Json, manager: &str) -> Json {
    let shape = Shape::of(live);
    let mut projected = part(manifest, live, Some(&shape));
    if let Json::Object(fields) = &mut projected {
        if !applied_field(live, manager, "status") {
            fields.remove("status");
        }
        // Whether an empty map comes back depends on the kind, and on what others put into it; so it is in all metadata.
        fields.retain(|_, value| !is_empty(value));
    }
    projected
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Object(fields) => fields.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn part(manifest: &Json, live: &Json, shape: Option<&Shape>) -> Json {
    match (manifest, live) {
        (Json::Object(wanted), Json::Object(found)) => {
            if !wanted.is_empty() && shape.is_some_and(Shape::is_leaf) {
                return live.clone();
            }
            let fields = wanted.iter().filter_map(|(name, wanted)| {
                let found = found.get(name)?;
                let mut found = part(wanted, found, shape.and_then(|shape| shape.field(name)));
                if let (true, Json::Object(metadata)) = (name == "metadata", &mut found) {
                    metadata.retain(|_, value| !is_empty(value));
                }
                Some((name.clone(), found))
            });
            Json::Object(fields.collect())
        }
        (Json::Array(wanted), Json::Array(found)) => match shape {
            Some(shape) if shape.is_set() => {
                Json::Array(wanted.iter().filter(|item| found.contains(item)).cloned().collect())
            }
            Some(shape) => match shape.key_names() {
                Some(names) => Json::Array(items(wanted, found, &names, shape)),
                None => live.clone(),
            },
            None => live.clone(),
        },
        _ => live.clone(),
    }
}

/// Items of a list that is a map, in the manifest's order.
fn items(wanted: &[Json], found: &[Json], names: &[String], shape: &Shape) -> Vec<Json> {
    let mut by_key: BTreeMap<String, &Json> = BTreeMap::new();
    for item in found {
        by_key.insert(Json::Object(keys(item, names)).to_string(), item);
    }
    // Items that leave out a key get its default from the server, which is not known here: they take what the others,
    // which spell out all their keys, leave over.
    let complete = |item: &Json| names.iter().all(|name| item.get(name).is_some());
    let mut matched: Vec<Option<&Json>> = wanted
        .iter()
        .map(|item| if complete(item) { by_key.remove(&Json::Object(keys(item, names)).to_string()) } else { None })
        .collect();
    for (item, matched) in wanted.iter().zip(&mut matched).filter(|(item, _)| !complete(item)) {
        let given = keys(item, names);
        let fits = |found: &Json| given.iter().all(|(name, value)| found.get(name) == Some(value));
        let key = by_key.iter().find(|(_, found)| fits(found)).map(|(key, _)| key.clone());
        *matched = key.and_then(|key| by_key.remove(&key));
    }
    let pairs = wanted.iter().zip(matched).filter_map(|(wanted, found)| Some((wanted, found?)));
    pairs.map(|(wanted, found)| part(wanted, found, shape.item(&keys(found, names)))).collect()
}

fn keys(item: &Json, names: &[String]) -> Map<String, Json> {
    names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect()
}

/// The manifest without the fields at these paths.
pub(crate) fn without(mut manifest: Json, paths: &[Vec<String>]) -> Json {
    for path in paths {
        let Some((last, before)) = path.split_last() else { continue };
        let around = before.iter().try_fold(&mut manifest, |at, name| at.get_mut(name));
        if let Some(Json::Object(fields)) = around {
            fields.remove(last);
        }
    }
    manifest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(fields: &Json, rest: Json) -> Json {
        let mut live = rest;
        live["metadata"]["managedFields"] = json!([{"manager": "sliceform", "operation": "Apply", "fieldsV1": fields}]);
        live
    }

    #[test]
    fn only_what_the_manifest_says_is_compared() {
        let containers = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}}});
        let ports = json!({"f:spec": {"f:ports": {
            "k:{\"port\":53,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}},
            "k:{\"port\":53,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}}}}});
        let cases = [
            (
                "defaults and fields of others are left out",
                json!({"spec": {"replicas": 2}}),
                live(&json!({"f:spec": {"f:replicas": {}}}), json!({"spec": {"replicas": 3, "paused": false}})),
                json!({"spec": {"replicas": 3}}),
            ),
            (
                "a field that somebody removed is absent",
                json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
                live(&json!({}), json!({"metadata": {"labels": {"a": "1", "c": "3"}}})),
                json!({"metadata": {"labels": {"a": "1"}}}),
            ),
            (
                "a list that is a map: items of others are left out, and the manifest gives the order",
                json!({"spec": {"containers": [{"name": "b", "image": "x"}, {"name": "a", "image": "x"}]}}),
                live(
                    &containers,
                    json!({"spec": {"containers": [
                    {"name": "sidecar", "image": "z"}, {"name": "a", "image": "y", "tty": false}, {"name": "b", "image": "x"}]}}),
                ),
                json!({"spec": {"containers": [{"name": "b", "image": "x"}, {"name": "a", "image": "y"}]}}),
            ),
            (
                "a key that the manifest leaves out has the server's default",
                json!({"spec": {"ports": [{"port": 53}, {"port": 53, "protocol": "TCP"}]}}),
                live(
                    &ports,
                    json!({"spec": {"ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}),
                ),
                json!({"spec": {"ports": [{"port": 53}, {"port": 53, "protocol": "TCP"}]}}),
            ),
            (
                "a set keeps the manifest's order and leaves out members of others",
                json!({"metadata": {"finalizers": ["b", "a"]}}),
                live(
                    &json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}}}}),
                    json!({"metadata": {"finalizers": ["a", "b", "c"]}}),
                ),
                json!({"metadata": {"finalizers": ["b", "a"]}}),
            ),
            (
                "an atomic list is one piece",
                json!({"spec": {"args": ["a"]}}),
                live(&json!({"f:spec": {"f:args": {}}}), json!({"spec": {"args": ["a", "b"]}})),
                json!({"spec": {"args": ["a", "b"]}}),
            ),
            (
                "an atomic map is one piece",
                json!({"spec": {"selector": {"a": "1"}}}),
                live(&json!({"f:spec": {"f:selector": {}}}), json!({"spec": {"selector": {"a": "1", "b": "2"}}})),
                json!({"spec": {"selector": {"a": "1", "b": "2"}}}),
            ),
            (
                "an empty map says nothing about what others put into it",
                json!({"spec": {"resources": {}}}),
                live(&json!({"f:spec": {"f:resources": {}}}), json!({"spec": {"resources": {"limits": {"cpu": "1"}}}})),
                json!({"spec": {"resources": {}}}),
            ),
            (
                "an empty map at the top is the same as none",
                json!({"metadata": {"labels": {}}, "data": {}, "spec": {"a": {}}}),
                live(&json!({}), json!({"metadata": {"labels": {"x": "y"}}, "data": {"x": "y"}, "spec": {"a": {}}})),
                json!({"spec": {"a": {}}}),
            ),
            (
                "the status of a kind that has its own subresource for it is not ours",
                json!({"spec": {"a": 1}, "status": {"ready": true}}),
                live(&json!({"f:spec": {"f:a": {}}}), json!({"spec": {"a": 1}, "status": {"ready": false}})),
                json!({"spec": {"a": 1}}),
            ),
        ];
        for (what, manifest, live, expected) in cases {
            assert_eq!(project(&manifest, &live, "sliceform"), expected, "{what}");
        }
    }

    #[test]
    fn fields_can_be_left_out() {
        let manifest = json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {}});
        let paths = [vec!["metadata".to_owned(), "labels".to_owned()], vec!["spec".to_owned(), "none".to_owned()]];
        assert_eq!(without(manifest, &paths), json!({"metadata": {"name": "a"}, "spec": {}}));
    }
}
