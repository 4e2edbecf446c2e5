//! What is sent for an object: its table of fields, with the values of a configuration.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_model::schema::Usage;
use engine_value::{Data, Type, Value};

use super::field::{Field, Holds};

/// The fields of an object as the API names them; what is not known stays unknown. What is null or empty is left out, as
/// the API itself leaves it out.
pub(super) fn sent(fields: &[Field], object: &Value) -> BTreeMap<Arc<str>, Value> {
    let mut made: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for field in fields.iter().filter(|field| !field.json.is_empty() && field.usage != Usage::Computed) {
        let null = Value::null(Type::Dynamic);
        let given = object.get(field.name).unwrap_or(&null);
        let default = field.default.filter(|_| given.is_null()).map(|default| default.value());
        let Some(part) = of_field(field, default.as_ref().unwrap_or(given)) else { continue };
        // Two attributes may fill one map: `data` and `binary_data` of a Secret.
        let there = made.remove(field.json);
        let part = match (there.as_ref().and_then(Value::as_map), part.as_map()) {
            (Some(there), Some(more)) => Value::object(there.clone().into_iter().chain(more.clone())),
            (Some(_), None) => Value::unknown(Type::Dynamic),
            (None, _) if there.is_some() => Value::unknown(Type::Dynamic),
            (None, _) => part,
        };
        made.insert(field.json.into(), part);
    }
    made
}

/// `None`: it is empty, and left out.
fn of_field(field: &Field, given: &Value) -> Option<Value> {
    if !given.is_known() {
        // What only the provider decides is not sent.
        return (field.usage != Usage::OptionalComputed).then(|| Value::unknown(Type::Dynamic));
    }
    match field.holds {
        Holds::Text => given.as_str().filter(|text| !text.is_empty()).map(Value::from),
        Holds::Bool => given.as_bool().map(Value::from),
        Holds::Int => given.as_number().map(|_| given.clone().unmark().0),
        Holds::Texts | Holds::Quantities => texts(given, |text| text.to_owned()),
        Holds::Encoded => texts(given, |text| STANDARD.encode(text)),
        // An empty text may stand there as null.
        Holds::List | Holds::Set => tuple(given, |item| match item.is_known() {
            true => item.as_str().unwrap_or_default().into(),
            false => Value::unknown(Type::String),
        }),
        Holds::One(fields, _) => given.as_sequence().and_then(<[Value]>::first).map(|block| nested(fields, block)),
        Holds::Many(fields, _) | Holds::SetOf(fields) => tuple(given, |block| nested(fields, block)),
    }
}

fn nested(fields: &[Field], block: &Value) -> Value {
    if block.is_known() { Value::object(sent(fields, block)) } else { Value::unknown(Type::Dynamic) }
}

fn tuple(given: &Value, part: impl Fn(&Value) -> Value) -> Option<Value> {
    let items = given.as_sequence().filter(|items| !items.is_empty())?;
    // A set of which members are unknown may have fewer than it seems.
    if matches!(given.data, Data::Set(..)) && given.has_unknown() {
        return Some(Value::unknown(Type::Dynamic));
    }
    Some(Value::tuple(items.iter().map(part)))
}

fn texts(given: &Value, text: impl Fn(&str) -> String) -> Option<Value> {
    let entries: Vec<_> = given.as_map()?.iter().filter(|(_, value)| !value.is_null()).collect();
    if entries.is_empty() {
        return None;
    }
    let entries = entries.into_iter().map(|(name, value)| {
        let known = value.is_known().then(|| Value::from(text(value.as_str().unwrap_or_default())));
        ((*name).clone(), known.unwrap_or_else(|| Value::unknown(Type::String)))
    });
    Some(Value::object(entries))
}
