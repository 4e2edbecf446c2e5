//! What the state holds of an object: its table of fields, with the values that the cluster has.
//!
//! Only what the state has already is looked at: labels, keys and items of others are theirs. What means the same as
//! before keeps its spelling.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Data, Step, Type, Value};
use serde_json::Value as Json;

use super::{
    equal::{is_nothing, same_meaning},
    field::{Field, Holds},
};

/// The object of the state (or of a plan, with unknown values) with what `live` has of it.
pub(super) fn observed(fields: &[Field], stored: &Value, live: &Json) -> Value {
    stored.map_parts(|step, stored| {
        let engine_value::Step::Attr(name) = &step else { return stored.clone() };
        match fields.iter().find(|field| *field.name == **name) {
            Some(field) if !field.json.is_empty() && !field.write_only => of_field(field, stored, live.get(field.json)),
            _ => stored.clone(),
        }
    })
}

fn of_field(field: &Field, stored: &Value, live: Option<&Json>) -> Value {
    let live = live.filter(|live| !live.is_null());
    let read = match (field.holds, live) {
        (_, None) if is_nothing(stored) => return stored.clone(),
        // The API's own defaults, or another attribute's entries of the same map.
        (Holds::Texts | Holds::Encoded | Holds::Quantities, _) if stored.is_null() => return stored.clone(),
        (Holds::Text, live) => live.and_then(Json::as_str).unwrap_or_default().into(),
        (Holds::Bool, live) => live.and_then(Json::as_bool).unwrap_or_default().into(),
        (Holds::Int, live) => Value::int(live.and_then(Json::as_i64).unwrap_or_default()),
        (Holds::Texts, live) => texts(stored, live, |text| Some(text.to_owned())),
        (Holds::Encoded, live) => texts(stored, live, decoded),
        (Holds::Quantities, live) => quantities(stored, live),
        (Holds::List, live) => Value::list(Type::String, items(live).map(text).collect()),
        (Holds::Set, live) => Value::set(Type::String, items(live).map(text).collect()),
        (Holds::One(fields, _), live) => {
            let ty = super::schema::block(fields, "").value_type();
            let blocks: Vec<Value> = live.map(|live| one(fields, stored, 0, live)).into_iter().collect();
            Value::list(ty, blocks)
        }
        (Holds::Many(fields, _), live) => {
            let ty = super::schema::block(fields, "").value_type();
            Value::list(ty, items(live).enumerate().map(|(at, live)| one(fields, stored, at, live)).collect())
        }
        (Holds::SetOf(fields), live) => {
            let ty = super::schema::block(fields, "").value_type();
            Value::set(ty, items(live).map(|live| observed(fields, &undecided(fields), live)).collect())
        }
    };
    if stored.is_wholly_known() && same_meaning(field.holds, stored, &read) { stored.clone() } else { read }
}

/// One block, which may have been there at this place before.
fn one(fields: &[Field], stored: &Value, at: usize, live: &Json) -> Value {
    let before = stored.as_sequence().and_then(|blocks| blocks.get(at));
    match before {
        Some(before) if before.is_known() => observed(fields, before, live),
        _ => observed(fields, &undecided(fields), live),
    }
}

/// A block of which nothing is known yet.
pub(super) fn undecided(fields: &[Field]) -> Value {
    Value::object(fields.iter().map(|field| (field.name, Value::unknown(none(field).type_of()))))
}

/// A block that says nothing.
pub(super) fn nothing(fields: &[Field]) -> Value {
    Value::object(fields.iter().map(|field| (field.name, none(field))))
}

/// The value of an attribute or block that is not given.
pub(super) fn none(field: &Field) -> Value {
    match field.holds {
        Holds::Text => Value::null(Type::String),
        Holds::Bool => Value::null(Type::Bool),
        Holds::Int => Value::null(Type::Number),
        Holds::Texts | Holds::Encoded | Holds::Quantities => Value::null(Type::map(Type::String)),
        Holds::List => Value::null(Type::list(Type::String)),
        Holds::Set => Value::null(Type::set(Type::String)),
        Holds::One(fields, _) | Holds::Many(fields, _) => {
            Value::list(super::schema::block(fields, "").value_type(), Vec::new())
        }
        Holds::SetOf(fields) => Value::set(super::schema::block(fields, "").value_type(), Vec::new()),
    }
}

/// The object with null wherever something is still unknown, and for attributes that say nothing. What is empty in a list
/// or a map says something: the core group is `""`.
pub(super) fn without_unknown(object: Value) -> Value {
    object.transform(&mut |path, part| {
        let is_attribute = matches!(path.0.last(), None | Some(Step::Attr(_)));
        let is_empty = part.as_str() == Some("") || matches!(&part.data, Data::Map(_, parts) if parts.is_empty());
        if part.is_known() && !(is_attribute && is_empty) { part } else { Value::null(part.type_of()) }
    })
}

fn items(live: Option<&Json>) -> impl Iterator<Item = &Json> {
    live.and_then(Json::as_array).into_iter().flatten()
}

fn text(item: &Json) -> Value {
    item.as_str().unwrap_or_default().into()
}

/// The text behind base64; `None`: it is none.
pub(super) fn decoded(encoded: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

/// Of a live map the entries that the stored one has too; all of it where that is not known or not there.
fn texts(stored: &Value, live: Option<&Json>, read: impl Fn(&str) -> Option<String>) -> Value {
    let wanted =
        |name: &str| stored.as_map().is_none_or(|stored| stored.get(name).is_some_and(|stored| !stored.is_null()));
    let entries = live.and_then(Json::as_object).into_iter().flatten().filter(|(name, _)| wanted(name));
    let entries: BTreeMap<Arc<str>, Value> =
        entries.filter_map(|(name, value)| Some((name.as_str().into(), Value::from(read(value.as_str()?)?)))).collect();
    Value::map(Type::String, entries)
}

fn quantities(stored: &Value, live: Option<&Json>) -> Value {
    let read = texts(stored, live, |text| Some(text.to_owned()));
    read.map_parts(|step, now| match stored.step(&step) {
        Some(before) if super::equal::same_quantity(before, now) => before.clone(),
        _ => now.clone(),
    })
}
