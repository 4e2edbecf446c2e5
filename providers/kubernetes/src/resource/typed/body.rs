//! Between blocks and bodies of the API: what is sent, where a field of it stands in the block, what of a live object the
//! state holds.

use engine_value::{Path, Step, Value};
use providers_api::ReadObject;
use serde_json::Value as Json;

use super::{
    field::Field,
    kind::{Kind, secret},
    name::{self, get, set},
    read::observed,
    send::sent,
};
use crate::{
    cluster::DEFAULT_MANAGER,
    object::{convert::to_json, project::project},
    resource::object::{Conflicts, Desired, read::MADE_ANEW},
};

/// What an object is to be, from what its block (or the state) says. The name is the block's.
pub(super) fn desired(kind: &Kind, object: &Value) -> Desired {
    let mut body = sent(kind.fields, object);
    for left in (kind.left_alone)(object) {
        if let Some(field) = kind.fields.iter().find(|field| field.name == *left) {
            body.remove(field.json);
        }
    }
    body.insert("apiVersion".into(), kind.api_version.into());
    body.insert("kind".into(), kind.kind.into());
    // No type of this family has a way to ask for force: HashiCorp's provider writes whatever the configuration says.
    Desired::new(Value::object(body), DEFAULT_MANAGER, Conflicts::TakenAndTold)
}

/// The place in a block of a field that the API names: `spec.hard.cpu` is `spec[0].hard["cpu"]`.
pub(super) fn place(fields: &[Field], block: &Value, field: &Path) -> Path {
    let mut path = Path::root();
    let mut rest = field.0.as_slice();
    let mut table = Some(fields);
    while let Some((step, after)) = rest.split_first() {
        rest = after;
        match (table, step) {
            (Some(fields), Step::Attr(json)) => {
                // Two attributes may fill one map: the one that has the entry.
                let has_next = |field: &&Field| match (rest.first(), path.clone().attr(field.name).get(block)) {
                    (Some(Step::Attr(key)), Some(map)) => map.step(&Step::Key(key.clone())).is_some(),
                    _ => false,
                };
                let named = || fields.iter().filter(|field| *field.json == **json);
                let Some(field) = named().find(has_next).or_else(|| named().next()) else { return path };
                path = path.attr(field.name);
                table = None;
                if let Some((inside, _)) = field.nested() {
                    table = Some(inside);
                    // One block is one object; of many, the place is the list's.
                    if !matches!(rest.first(), Some(Step::Index(_))) {
                        path = path.index(0);
                    }
                }
            }
            (_, Step::Index(index)) => path = path.index(*index),
            (None, Step::Attr(key)) => path = path.key(key.clone()),
            _ => return path,
        }
    }
    path
}

/// An object of the state as it is now.
pub(super) fn refreshed(kind: &Kind, stored: Value, live: &Json) -> ReadObject {
    let mut object = compared(kind, &stored, live);
    let mut notes = Vec::new();
    let uid = live.pointer("/metadata/uid").and_then(Json::as_str);
    if let (Some(before), Some(now)) = (get(&stored, "uid"), uid)
        && before.as_str().is_some_and(|before| before != now)
    {
        notes.push(MADE_ANEW.to_owned());
        object = set(&object, "uid", now.into());
    }
    ReadObject { object, private: Vec::new(), notes }
}

/// Of a live object what `object` says, with the live values, where they do not mean the same.
pub(super) fn compared(kind: &Kind, object: &Value, live: &Json) -> Value {
    let Some(body) = desired(kind, object).json else { return object.clone() };
    let found = project(&body, live, DEFAULT_MANAGER);
    let mut now = observed(kind.fields, object, &found);
    for left in (kind.left_alone)(object) {
        let path = Path::root().attr(*left);
        now = path.get(object).and_then(|part| path.set(&now, part)).unwrap_or(now);
    }
    secret::with_token(object, now, live)
}

/// A planned object with everything that was still unknown as the server gave it.
pub(super) fn settled(kind: &Kind, planned: &Value, live: &Json) -> Value {
    let object = filled(planned, &compared(kind, planned, live));
    let text = |name: &str| live.pointer(&format!("/metadata/{name}")).and_then(Json::as_str).unwrap_or_default();
    let generation = live.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
    let given = [
        ("name", text("name").into()),
        ("uid", text("uid").into()),
        ("resource_version", text("resourceVersion").into()),
        ("generation", Value::int(generation)),
    ];
    let object = given.into_iter().fold(object, |object, (name, value)| match get(&object, name) {
        Some(there) if there.is_known() && !there.is_null() => object,
        _ => set(&object, name, value),
    });
    with_id(kind, object)
}

/// The object with what only we decide: its identifier, where its name is known.
pub(super) fn with_id(kind: &Kind, object: Value) -> Value {
    let id = Path::root().attr("id");
    let known = id.get(&object).is_some_and(|id| id.is_known() && !id.is_null());
    match name::key_of(kind, &object).filter(|_| !known) {
        Some(key) => id.set(&object, name::id(&key).into()).unwrap_or(object),
        None => object,
    }
}

/// What is unknown in the one, from the other.
pub(super) fn filled(planned: &Value, found: &Value) -> Value {
    if !planned.is_known() {
        return found.clone();
    }
    if planned.is_wholly_known() {
        return planned.clone();
    }
    planned.map_parts(|step, part| match found.step(&step) {
        Some(found) => filled(part, found),
        None => part.clone(),
    })
}

/// A body as JSON, without its metadata, which may not be known yet.
pub(super) fn content(object: &Value) -> Option<Json> {
    let parts = object.as_map()?.iter().filter(|(name, _)| &***name != "metadata");
    to_json(&Value::object(parts.map(|(name, value)| (name.clone(), value.clone())))).ok().flatten()
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;

    #[test]
    fn fields_of_the_api_have_their_places_in_blocks() {
        let quota = super::super::kind::of("kubernetes_resource_quota").unwrap();
        let secret = super::super::kind::of("kubernetes_secret").unwrap();
        let entries = |name: &str| Value::map(Type::String, [(name, Value::from("x"))]);
        let block = Value::object([("binary_data", entries("raw")), ("data", entries("token"))]);
        let attr = |names: &[&str]| names.iter().fold(Path::root(), |path, name| path.attr(*name));
        for (kind, field, expected) in [
            (quota, attr(&["spec", "hard", "requests.cpu"]), "spec[0].hard[\"requests.cpu\"]"),
            (quota, attr(&["metadata", "labels", "a"]), "metadata[0].labels[\"a\"]"),
            (
                quota,
                attr(&["spec", "scopeSelector", "matchExpressions"]).index(1),
                "spec[0].scope_selector[0].match_expression[1]",
            ),
            (quota, attr(&["status"]), ""),
            (secret, attr(&["data", "token"]), "data[\"token\"]"),
            (secret, attr(&["data", "raw"]), "binary_data[\"raw\"]"),
        ] {
            assert_eq!(place(kind.fields, &block, &field).to_string(), expected);
        }
    }
}
