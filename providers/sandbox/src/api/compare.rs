//! Which fields differ between two objects, and which fields one object has: the questions that field ownership asks.
//!
//! The rules are those of Kubernetes' structured merge: leaves are scalars, whatever changes as a whole, and empty
//! maps and lists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields::{Element, FieldSet};
use super::schema::{ListKind, Shape, Type};

/// The difference of two objects. No path is in two of the sets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Comparison {
    pub(super) added: FieldSet,
    pub(super) removed: FieldSet,
    pub(super) modified: FieldSet,
}

/// What changed from `old` to `new`.
pub(super) fn compare(old: &Value, new: &Value, schema: Type<'_>) -> Comparison {
    let mut comparison = Comparison::default();
    walk(&mut comparison, &mut Vec::new(), Some(schema), Some(old), Some(new));
    comparison
}

fn walk(
    result: &mut Comparison,
    path: &mut Vec<Element>,
    schema: Option<Type<'_>>,
    old: Option<&Value>,
    new: Option<&Value>,
) {
    let children = match (is_leaf(schema, old), is_leaf(schema, new)) {
        (true, true) => None,
        // Absent or empty on one side, filled on the other.
        _ if [old, new].into_iter().flatten().all(Value::is_object) => Some(object_children(schema, old, new)),
        _ if [old, new].into_iter().flatten().all(Value::is_array) => list_children(schema, old, new),
        _ => None,
    };
    match children {
        Some(children) => {
            for (element, schema, old, new) in children {
                path.push(element);
                walk(result, path, schema, old, new);
                path.pop();
            }
            match (old, new) {
                (None, Some(_)) => result.added.insert(path),
                (Some(_), None) => result.removed.insert(path),
                _ => {}
            }
        }
        None => match (old, new) {
            (None, Some(_)) => result.added.insert(path),
            (Some(_), None) => result.removed.insert(path),
            (Some(old), Some(new)) if old != new => result.modified.insert(path),
            _ => {}
        },
    }
}

type Child<'t, 'v> = (Element, Option<Type<'t>>, Option<&'v Value>, Option<&'v Value>);

fn object_children<'t, 'v>(
    schema: Option<Type<'t>>,
    old: Option<&'v Value>,
    new: Option<&'v Value>,
) -> Vec<Child<'t, 'v>> {
    let fields = |value: Option<&'v Value>| value.and_then(Value::as_object).into_iter().flatten();
    let names: BTreeSet<&str> = fields(old).chain(fields(new)).map(|(name, _)| name.as_str()).collect();
    names
        .into_iter()
        .map(|name| {
            let child = schema.and_then(|schema| schema.field(name));
            let get = |value: Option<&'v Value>| value.and_then(|value| value.get(name));
            (Element::field(name), child, get(old), get(new))
        })
        .collect()
}

fn list_children<'t, 'v>(
    schema: Option<Type<'t>>,
    old: Option<&'v Value>,
    new: Option<&'v Value>,
) -> Option<Vec<Child<'t, 'v>>> {
    let schema = schema?;
    let index = |value: Option<&'v Value>| -> Option<BTreeMap<Element, &'v Value>> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        let mut map = BTreeMap::new();
        for item in items {
            // Items with equal keys: the last one stands for them.
            map.insert(item_element(schema, item)?, item);
        }
        Some(map)
    };
    let (old, new) = (index(old)?, index(new)?);
    let elements: BTreeSet<&Element> = old.keys().chain(new.keys()).collect();
    let child =
        |element: &Element| (element.clone(), schema.items(), old.get(element).copied(), new.get(element).copied());
    Some(elements.into_iter().map(child).collect())
}

/// Whether ownership does not look inside this value. An absent or empty one has no inside.
pub(super) fn is_leaf(schema: Option<Type<'_>>, value: Option<&Value>) -> bool {
    match value {
        None => true,
        Some(Value::Object(map)) => map.is_empty() || is_atomic(schema),
        Some(Value::Array(list)) => list.is_empty() || is_atomic_list(schema),
        Some(_) => true,
    }
}

/// Whether an object of this type changes as a whole.
pub(super) fn is_atomic(schema: Option<Type<'_>>) -> bool {
    matches!(schema.map(Type::shape), Some(Shape::Map { atomic: true, .. }))
}

/// Whether a list of this type changes as a whole.
pub(super) fn is_atomic_list(schema: Option<Type<'_>>) -> bool {
    !matches!(schema.map(Type::shape), Some(Shape::List { kind: ListKind::Set | ListKind::Map(_), .. }))
}

/// The path element of a list's item. None when the list is atomic, or the item lacks a key without a default.
pub(super) fn item_element(list: Type<'_>, item: &Value) -> Option<Element> {
    let Shape::List { kind, .. } = list.shape() else { return None };
    match kind {
        ListKind::Atomic => None,
        ListKind::Set => Some(Element::value(item)),
        ListKind::Map(names) => {
            let mut keys = BTreeMap::new();
            for name in names {
                let default = || list.items()?.field(name)?.rules().default.as_ref();
                match item.get(name).or_else(default) {
                    Some(value) => keys.insert(name.as_str(), value),
                    // A key may be left out, as long as one is there.
                    None => continue,
                };
            }
            if keys.is_empty() { None } else { Some(Element::key(&keys)) }
        }
    }
}

/// The fields that an object sets.
pub(super) fn field_set(value: &Value, schema: Type<'_>) -> FieldSet {
    let mut set = FieldSet::default();
    collect(&mut set, &mut Vec::new(), Some(schema), value);
    set
}

fn collect(set: &mut FieldSet, path: &mut Vec<Element>, schema: Option<Type<'_>>, value: &Value) {
    match value {
        Value::Object(map) if !is_atomic(schema) => {
            for (name, value) in map {
                let child = schema.and_then(|schema| schema.field(name));
                path.push(Element::field(name));
                collect(set, path, child, value);
                let is_empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                if is_empty || !schema.is_some_and(|schema| schema.declares(name)) {
                    set.insert(path);
                }
                path.pop();
            }
        }
        Value::Array(list) if !is_atomic_list(schema) => {
            let schema = schema.expect("a list that is not atomic has a schema");
            for item in list {
                let Some(element) = item_element(schema, item) else { continue };
                path.push(element);
                collect(set, path, schema.items(), item);
                set.insert(path);
                path.pop();
            }
        }
        _ => set.insert(path),
    }
}
