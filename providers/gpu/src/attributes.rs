//! Reads attributes of objects whose type the schema has already settled.
//!
//! What is null, unknown or absent reads as `None`: whoever must tell these apart asks the value itself.

use engine_value::{Type, Value};

/// An attribute; `None` where it is absent, null or unknown.
pub(crate) fn known<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| value.is_known() && !value.is_null())
}

/// Text.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    known(object, name)?.as_str()
}

/// The entries of a map of text, in order. Entries that are not known are left out.
pub(crate) fn texts(object: &Value, name: &str) -> impl Iterator<Item = (String, String)> {
    let entries = known(object, name).and_then(Value::as_map).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned())))
}

/// The elements of a list or set of text. Elements that are not known are left out.
pub(crate) fn list(object: &Value, name: &str) -> Vec<String> {
    let elements = known(object, name).and_then(Value::as_sequence).unwrap_or_default();
    elements.iter().filter_map(|element| Some(element.as_str()?.to_owned())).collect()
}

/// Text, or null.
pub(crate) fn optional(text: Option<impl AsRef<str>>) -> Value {
    text.map_or_else(|| Value::null(Type::String), Value::string)
}

/// The object with one attribute replaced; anything else than a known object stays as it is.
pub(crate) fn with(object: &Value, name: &str, value: Value) -> Value {
    let Some(attributes) = object.as_map() else { return object.clone() };
    let others = attributes.iter().filter(|(key, _)| &***key != name);
    let all = others.map(|(key, value)| (key.clone(), value.clone())).chain([(name.into(), value)]);
    Value::object(all).mark(object.marks)
}
