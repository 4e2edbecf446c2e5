//! Reading and writing the fields that all Kubernetes objects have.

use serde_json::{Map, Value};

/// A string at a JSON pointer; empty when it is not there.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of the array at a JSON pointer.
pub(super) fn items<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// The entries of the object at a JSON pointer.
pub(super) fn entries<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    object.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
}

/// `metadata.name`.
pub(super) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// `metadata.namespace`.
pub(super) fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

/// `metadata.uid`.
pub(super) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

/// `metadata.resourceVersion`.
pub(super) fn resource_version(object: &Value) -> &str {
    text(object, "/metadata/resourceVersion")
}

/// Whether a deletion has begun.
pub(super) fn is_terminating(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// `metadata.finalizers`.
pub(super) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    items(object, "/metadata/finalizers").filter_map(Value::as_str)
}

/// The metadata, created when it is missing.
pub(super) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_mut(object, "metadata")
}

/// The object under `field`, created when it is missing or something else.
pub(super) fn map_mut<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    let value = ensure_map(object).entry(field).or_insert_with(|| Value::Object(Map::new()));
    ensure_map(value)
}

/// The value as an object; anything else is replaced by an empty one.
pub(super) fn ensure_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("just made an object")
}

/// Copies `field` from `from`, or removes it where `from` has none.
pub(super) fn copy_field(to: &mut Map<String, Value>, from: Option<&Map<String, Value>>, field: &str) {
    match from.and_then(|from| from.get(field)) {
        Some(value) => to.insert(field.to_owned(), value.clone()),
        None => to.remove(field),
    };
}

/// Sets `field` unless it has a value.
pub(super) fn default_field(map: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if map.get(field).is_none_or(Value::is_null) {
        map.insert(field.to_owned(), value.into());
    }
}
