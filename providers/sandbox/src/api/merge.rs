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
        (Some(Value::Object(live)), Value::Object(config))
            if !is_atomic(schema) && !(live.is_empty() && config.is_empty()) =>
        {
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

/// Items of `config` in their order; items that only `live` has keep their place relative to their neighbours.
fn merge_lists(live: &[Value], config: &[Value], schema: Type<'_>) -> Value {
    let element = |item: &Value| item_element(schema, item);
    let by_element: BTreeMap<Element, &Value> = live.iter().filter_map(|item| Some((element(item)?, item))).collect();
    let wanted: BTreeSet<Element> = config.iter().filter_map(element).collect();
    let mut merged = Vec::with_capacity(live.len().max(config.len()));
    // Live-only items are taken up to the next shared item, each time a shared item of the configuration comes.
    let mut rest = live.iter().peekable();
    let mut placed = BTreeSet::new();
    for item in config {
        let key = element(item);
        let shared = key.as_ref().and_then(|key| by_element.get(key));
        if shared.is_some() && !key.as_ref().is_some_and(|key| placed.contains(key)) {
            while let Some(next) = rest.peek() {
                let next_key = element(next);
                let Some(next_key) = next_key.filter(|key| wanted.contains(key)) else {
                    merged.push((*next).clone());
                    rest.next();
                    continue;
                };
                if Some(&next_key) == key.as_ref() {
                    rest.next();
                    break;
                }
                if placed.contains(&next_key) {
                    rest.next();
                    continue;
                }
                break;
            }
        }
        merged.push(merge_at(shared.copied(), item, schema.items()));
        placed.extend(key);
    }
    merged.extend(rest.filter(|item| element(item).is_none_or(|key| !wanted.contains(&key))).cloned());
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
