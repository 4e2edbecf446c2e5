//! Merging an applied configuration into an object, and taking fields out of one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::compare::{is_atomic, is_atomic_list, item_element};
use super::fields::{Element, FieldSet};
use super::schema::Type;

/// `live` with everything that `config` says.
pub(super) fn merge(live: &Value, config: &Value, schema: Type<'_>) -> Value {
    merge_at(Some(live), config, Some(schema))
}

fn merge_at(live: Option<&Value>, config: &Value, schema: Option<Type<'_>>) -> Value {
    match (live, config) {
        (Some(Value::Object(live)), Value::Object(config)) if !is_atomic(schema) => {
            let mut merged = live.clone();
            for (name, value) in config {
                let child = schema.and_then(|schema| schema.field(name));
                let value = merge_at(live.get(name), value, child);
                merged.insert(name.clone(), value);
            }
            Value::Object(merged)
        }
        (Some(Value::Array(live)), Value::Array(config)) if !is_atomic_list(schema) => {
            merge_lists(live, config, schema.expect("a list that is not atomic has a schema"))
        }
        _ => config.clone(),
    }
}

/// Items of `config` in their order. Items that only `live` has keep their place before the next item that both have, and
/// come before what is new; so a merged list does not depend on what was merged into it before.
fn merge_lists(live: &[Value], config: &[Value], schema: Type<'_>) -> Value {
    let keyed =
        |list: &[Value]| -> Vec<Option<Element>> { list.iter().map(|item| item_element(schema, item)).collect() };
    let (live_keys, config_keys) = (keyed(live), keyed(config));
    let by_key: BTreeMap<&Element, &Value> =
        live_keys.iter().zip(live).filter_map(|(key, item)| Some((key.as_ref()?, item))).collect();
    let wanted: BTreeSet<&Element> = config_keys.iter().flatten().collect();
    let is_wanted = |key: &Option<Element>| key.as_ref().is_some_and(|key| wanted.contains(key));
    // The shared items that are still to come, in the configuration's order.
    let mut shared = config_keys.iter().flatten().filter(|key| by_key.contains_key(key)).peekable();
    let mut merged = Vec::with_capacity(live.len().max(config.len()));
    let mut rest = live_keys.iter().zip(live).peekable();
    for (key, item) in config_keys.iter().zip(config) {
        let is_shared = key.as_ref().is_some_and(|key| by_key.contains_key(key));
        while let Some((live_key, live_item)) = rest.peek() {
            if !is_wanted(live_key) {
                merged.push((*live_item).clone());
            } else if live_key.as_ref() == shared.peek().copied() {
                // The next shared item stays where it is until the configuration comes to it.
                break;
            }
            rest.next();
        }
        if is_shared {
            if rest.peek().is_some_and(|(live_key, _)| *live_key == key) {
                rest.next();
            }
            shared.next();
        }
        let before = key.as_ref().and_then(|key| by_key.get(key)).copied();
        merged.push(merge_at(before, item, schema.items()));
    }
    merged.extend(rest.filter(|(key, _)| !is_wanted(key)).map(|(_, item)| item.clone()));
    Value::Array(merged)
}

/// `value` without the fields and items in `set`. None when nothing remains of a map or list that had something.
pub(super) fn remove(value: &Value, set: &FieldSet, schema: Option<Type<'_>>) -> Option<Value> {
    match value {
        Value::Object(map) if !map.is_empty() && !is_atomic(schema) => {
            let mut kept = Map::new();
            for (name, value) in map {
                let element = Element::field(name);
                if set.has(&element) {
                    continue;
                }
                let below = set.children.get(&element).filter(|below| !below.is_empty());
                let value = match below {
                    Some(below) => {
                        let child = schema.and_then(|schema| schema.field(name));
                        // What became empty by this is gone, too.
                        let Some(value) = remove(value, below, child) else { continue };
                        value
                    }
                    None => value.clone(),
                };
                kept.insert(name.clone(), value);
            }
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(list) if !list.is_empty() && !is_atomic_list(schema) => {
            let schema = schema.expect("a list that is not atomic has a schema");
            let mut kept = Vec::new();
            for item in list {
                let Some(element) = item_element(schema, item) else {
                    kept.push(item.clone());
                    continue;
                };
                if set.has(&element) {
                    continue;
                }
                match set.children.get(&element) {
                    Some(below) => kept.extend(remove(item, below, schema.items())),
                    None => kept.push(item.clone()),
                }
            }
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        _ => Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::kinds;

    #[test]
    fn lists_keep_an_order_that_suits_both_sides() {
        let pod = kinds::resources().iter().find(|resource| resource.kind == "Pod").unwrap();
        let spec = |names: &str| {
            let items: Vec<Value> = names.chars().map(|name| json!({"name": name.to_string()})).collect();
            json!({"spec": {"containers": items}})
        };
        for (live, config, merged) in [
            ("ab", "c", "abc"),
            ("ab", "ab", "ab"),
            ("ab", "ba", "ba"),
            ("axb", "ab", "axb"),
            ("axb", "ba", "xba"),
            ("abc", "bd", "abcd"),
            ("xay", "a", "xay"),
            ("", "ab", "ab"),
            ("ab", "", "ab"),
        ] {
            assert_eq!(merge(&spec(live), &spec(config), pod.schema()), spec(merged), "{live} + {config}");
        }
    }
}
