//! Strategic merge patch: like a JSON merge patch, but lists of built-in kinds are merged by their keys. kubectl sends it
//! for built-in kinds.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::schema::{ListKind, Shape, Type};
use super::status::Failure;

/// Patches `target`.
pub(super) fn patch(target: &mut Value, patch: &Value, schema: Option<Type<'_>>) -> Result<(), Failure> {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    if changes.get("$patch").is_some_and(|directive| directive == "replace") {
        *target = Value::Object(
            changes.iter().filter(|(name, _)| *name != "$patch").map(|(k, v)| (k.clone(), v.clone())).collect(),
        );
        return Ok(());
    }
    let target = super::object::ensure_map(target);
    if let Some(kept) = changes.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|name, _| kept.iter().any(|one| one == name));
    }
    let orders = || changes.iter().filter_map(|(name, order)| Some((name.strip_prefix("$setElementOrder/")?, order)));
    let list_of = |target: &Map<String, Value>, name: &str| target.get(name).and_then(Value::as_array).cloned();
    let former: Vec<Vec<Value>> = orders().map(|(name, _)| list_of(target, name).unwrap_or_default()).collect();
    for (name, change) in changes {
        if let Some(list) = name.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = change.as_array().map(Vec::as_slice).unwrap_or_default();
            if let Some(items) = target.get_mut(list).and_then(Value::as_array_mut) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        match (name.as_str(), change) {
            // `$setElementOrder` follows when the lists are complete; the rest are handled where they stand.
            (name, _) if name.starts_with('$') => {}
            (_, Value::Null) => drop(target.remove(name)),
            (_, Value::Object(_)) => {
                let child = schema.and_then(|schema| schema.field(name));
                self::patch(target.entry(name.clone()).or_insert_with(|| Value::Object(Map::new())), change, child)?;
            }
            (_, Value::Array(items)) => {
                let child = schema.and_then(|schema| schema.field(name));
                match child.map(Type::shape) {
                    Some(Shape::List { kind: ListKind::Map(keys), .. }) => {
                        let list = list_in(target, name);
                        let before = list.clone();
                        // Two of the list maps have a second key that strategic merge does not look at.
                        patch_items(list, items, &keys[0], child.and_then(Type::items))?;
                        arrange(list, items, &before, Some(&keys[0]));
                    }
                    Some(Shape::List { kind: ListKind::Set, .. }) => {
                        let list = list_in(target, name);
                        let before = list.clone();
                        for item in items {
                            if !list.contains(item) {
                                list.push(item.clone());
                            }
                        }
                        arrange(list, items, &before, None);
                    }
                    _ => drop(target.insert(name.clone(), change.clone())),
                }
            }
            _ => drop(target.insert(name.clone(), change.clone())),
        }
    }
    for ((name, order), before) in orders().zip(&former) {
        let key = match schema.and_then(|schema| schema.field(name)).map(Type::shape) {
            Some(Shape::List { kind: ListKind::Map(keys), .. }) => Some(keys[0].as_str()),
            _ => None,
        };
        if let (Some(list), Some(order)) = (target.get_mut(name).and_then(Value::as_array_mut), order.as_array()) {
            arrange(list, order, before, key);
        }
    }
    Ok(())
}

/// Orders a list after a patch, as a real server does: what the patch names is in the order of the patch, the rest in the
/// order that it had, and where the two meet, the former order decides. So what is new comes before what only the server
/// has.
fn arrange(list: &mut Vec<Value>, patch: &[Value], before: &[Value], key: Option<&str>) {
    let id = |item: &Value| key.map_or(Some(item), |key| item.get(key)).map(Value::to_string).unwrap_or_default();
    let places = |items: &[Value]| -> BTreeMap<String, usize> {
        items.iter().enumerate().map(|(place, item)| (id(item), place)).collect()
    };
    let (wanted, former) = (places(patch), places(before));
    let (mut named, rest): (Vec<Value>, Vec<Value>) = list.drain(..).partition(|item| wanted.contains_key(&id(item)));
    named.sort_by_key(|item| wanted.get(&id(item)).copied());
    let (mut named, mut rest) = (named.into_iter().peekable(), rest.into_iter().peekable());
    while let Some(other) = rest.peek() {
        let is_first = named.peek().is_none_or(|next| match (former.get(&id(other)), former.get(&id(next))) {
            (Some(other), Some(next)) => other < next,
            _ => false,
        });
        list.extend(if is_first { rest.next() } else { named.next() });
    }
    list.extend(named);
}

fn list_in<'t>(target: &'t mut Map<String, Value>, name: &str) -> &'t mut Vec<Value> {
    let list = target.entry(name).or_insert_with(|| Value::Array(Vec::new()));
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut().expect("just made a list")
}

fn patch_items(list: &mut Vec<Value>, changes: &[Value], key: &str, schema: Option<Type<'_>>) -> Result<(), Failure> {
    if changes.iter().any(|change| change.get("$patch").is_some_and(|directive| directive == "replace")) {
        let rest = changes.iter().filter(|change| change.get("$patch").is_none()).cloned();
        *list = rest.collect();
        return Ok(());
    }
    for change in changes {
        let Some(id) = change.get(key) else {
            return Err(Failure::bad_request(format!("map: {change} does not contain declared merge key: {key}")));
        };
        let found = list.iter().position(|item| item.get(key) == Some(id));
        match (found, change.get("$patch").and_then(Value::as_str)) {
            (Some(index), Some("delete")) => drop(list.remove(index)),
            (None, Some("delete")) => {}
            (Some(index), _) => patch(&mut list[index], change, schema)?,
            (None, _) => {
                let mut item = Value::Object(Map::new());
                patch(&mut item, change, schema)?;
                list.push(item);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::kinds;

    #[test]
    fn lists_merge_by_key_and_directives_are_followed() {
        let pod = kinds::resources().iter().find(|resource| resource.kind == "Pod").unwrap();
        let live = json!({
            "metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x/1"]},
            "spec": {"containers": [{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:2"}], "tolerations": [{"key": "k"}]},
        });
        for (change, expected) in [
            (json!({"metadata": {"labels": {"a": null, "c": "3"}}}), ("/metadata/labels", json!({"b": "2", "c": "3"}))),
            (
                json!({"spec": {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "b", "image": "i:3"}]}}),
                ("/spec/containers", json!([{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:3"}])),
            ),
            (
                json!({"spec": {
                    "$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}],
                    "containers": [{"name": "c", "image": "i:3"}],
                }}),
                (
                    "/spec/containers",
                    json!([
                        {"name": "b", "image": "i:2"}, {"name": "c", "image": "i:3"}, {"name": "a", "image": "i:1"},
                    ]),
                ),
            ),
            (
                json!({"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}),
                ("/spec/containers", json!([{"name": "b", "image": "i:2"}])),
            ),
            (json!({"spec": {"tolerations": []}}), ("/spec/tolerations", json!([]))),
            (json!({"metadata": {"finalizers": ["x/2"]}}), ("/metadata/finalizers", json!(["x/2", "x/1"]))),
            (
                json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/1"]}}),
                ("/metadata/finalizers", json!([])),
            ),
            (json!({"metadata": {"labels": {"$patch": "replace", "z": "1"}}}), ("/metadata/labels", json!({"z": "1"}))),
        ] {
            let mut patched = live.clone();
            patch(&mut patched, &change, Some(pod.schema())).unwrap();
            assert_eq!(patched.pointer(expected.0), Some(&expected.1), "{change}");
        }
    }
}
