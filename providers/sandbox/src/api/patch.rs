//! Patches other than apply: JSON merge patch (RFC 7396), JSON patch (RFC 6902), strategic merge patch.

use std::sync::Arc;

use serde_json::Value;

use super::body::Body;
use super::conform::Flavour;
use super::object;
use super::request::Request;
use super::resource::Resource;
use super::schema::Type;
use super::status::{Cause, Failure};
use super::strategic;
use super::write;

/// `PATCH` on an object or a subresource.
pub(super) fn patch(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Arc<Value>, Failure> {
    let mut store = request.begin();
    let live = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    let mut new = (*resource.present(&live)).clone();
    change(request, resource, &mut new, body, Some(resource.schema()))?;
    write::check_type(resource, &new)?;
    write::conform(request, resource, &mut new, object::name(&live)).map_err(|failure| match resource.flavour {
        // What comes out of the patch is decoded again, and found wrong as a whole.
        Flavour::BuiltIn => {
            let why = failure.message.split_once(": ").map_or(failure.message.as_str(), |(_, why)| why);
            let cause = Cause::invalid("patch", &Value::String(new.to_string()), why);
            Failure::invalid("", "", "", &[cause])
        }
        Flavour::Custom => failure,
    })?;
    if object::name(&new) != object::name(&live) {
        return Err(Failure::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            object::name(&new),
            request.name()
        )));
    }
    write::check_version(resource, &live, &new)?;
    let patched = write::replace(request, &mut store, resource, &live, new, None)?;
    write::finish(request, store)?;
    Ok(patched)
}

/// Changes a value as the body says; `schema` is that of the value, for strategic merges.
pub(super) fn change(
    request: &Request<'_>,
    resource: &Resource,
    new: &mut Value,
    body: &Body,
    schema: Option<Type<'_>>,
) -> Result<(), Failure> {
    match (body.content_type.as_str(), resource.flavour) {
        ("application/merge-patch+json", _) => merge(new, &body.object()?),
        ("application/strategic-merge-patch+json", Flavour::BuiltIn) => {
            strategic::patch(new, &body.object()?, schema)?;
        }
        ("application/json-patch+json", _) => {
            let operations: Vec<Value> = serde_json::from_slice(&body.bytes)
                .map_err(|error| Failure::bad_request(format!("error decoding the patch: {error}")))?;
            for operation in &operations {
                operate(new, operation).map_err(|why| {
                    let cause = Cause { reason: "FieldValueInvalid", message: why, field: "patch".to_owned() };
                    Failure::invalid(&resource.group, &resource.kind, request.name(), &[cause])
                })?;
            }
        }
        (other, _) => {
            return Err(Failure::unsupported_media_type(format!(
                "the body of the request was in an unknown format ({other:?}) - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
            )));
        }
    }
    Ok(())
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    let target = object::ensure_map(target);
    for (name, change) in changes {
        if change.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

/// One operation of RFC 6902.
fn operate(target: &mut Value, operation: &Value) -> Result<(), String> {
    let path = object::text(operation, "/path");
    let value = || operation.get("value").cloned().ok_or_else(|| format!("{path}: the operation has no value"));
    let from = object::text(operation, "/from");
    let get = |target: &Value, path: &str| {
        target.pointer(path).cloned().ok_or_else(|| format!("{path}: there is no such value"))
    };
    match object::text(operation, "/op") {
        "add" => add(target, path, value()?),
        "remove" => remove(target, path).map(drop),
        "replace" => {
            let value = value()?;
            let slot = target.pointer_mut(path).ok_or_else(|| format!("{path}: there is no such value"))?;
            *slot = value;
            Ok(())
        }
        "test" if get(target, path)? == value()? => Ok(()),
        "test" => Err(format!("{path}: testing value failed")),
        "copy" => {
            let value = get(target, from)?;
            add(target, path, value)
        }
        "move" => {
            let value = remove(target, from)?;
            add(target, path, value)
        }
        other => Err(format!("{path}: unknown operation {other:?}")),
    }
}

fn split(path: &str) -> Result<(&str, String), String> {
    let (parent, last) = path.rsplit_once('/').ok_or_else(|| format!("{path:?} is not a JSON pointer"))?;
    Ok((parent, last.replace("~1", "/").replace("~0", "~")))
}

fn add(target: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        *target = value;
        return Ok(());
    }
    let (parent, last) = split(path)?;
    match target.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.insert(last, value)),
        Some(Value::Array(list)) if last == "-" => list.push(value),
        Some(Value::Array(list)) => match last.parse() {
            Ok(index) if index <= list.len() => list.insert(index, value),
            _ => return Err(format!("{path}: there is no such index")),
        },
        _ => return Err(format!("{parent}: there is no such object or list")),
    }
    Ok(())
}

fn remove(target: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, last) = split(path)?;
    let removed = match target.pointer_mut(parent) {
        Some(Value::Object(map)) => map.remove(&last),
        Some(Value::Array(list)) => match last.parse::<usize>() {
            Ok(index) if index < list.len() => Some(list.remove(index)),
            _ => None,
        },
        _ => None,
    };
    removed.ok_or_else(|| format!("{path}: there is no such value"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_patch_operations() {
        let start = json!({"a": {"b/c": 1}, "list": [1, 2]});
        for (operation, result) in [
            (json!({"op": "add", "path": "/a/d", "value": 2}), Ok(json!({"a": {"b/c": 1, "d": 2}, "list": [1, 2]}))),
            (json!({"op": "add", "path": "/list/-", "value": 3}), Ok(json!({"a": {"b/c": 1}, "list": [1, 2, 3]}))),
            (json!({"op": "add", "path": "/list/0", "value": 0}), Ok(json!({"a": {"b/c": 1}, "list": [0, 1, 2]}))),
            (json!({"op": "remove", "path": "/a/b~1c"}), Ok(json!({"a": {}, "list": [1, 2]}))),
            (json!({"op": "move", "from": "/list/0", "path": "/x"}), Ok(json!({"a": {"b/c": 1}, "list": [2], "x": 1}))),
            (json!({"op": "test", "path": "/list", "value": [1, 2]}), Ok(start.clone())),
            (json!({"op": "test", "path": "/list", "value": []}), Err("/list: testing value failed")),
            (json!({"op": "replace", "path": "/y", "value": 1}), Err("/y: there is no such value")),
        ] {
            let mut target = start.clone();
            let outcome = operate(&mut target, &operation).map(|()| target);
            assert_eq!(outcome, result.map_err(str::to_owned), "{operation}");
        }
    }
}
