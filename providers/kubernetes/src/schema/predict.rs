//! What the API server would make of a body, as far as its schema tells: the part of the live object that the body says,
//! which is what is stored and compared.
//!
//! Unknown is what the schema cannot promise: values that the server spells in its own way, pieces that it fills with
//! defaults that no schema names, and objects with fields that Go leaves out when they are empty.

use engine_value::{Data, Type as ValueType, Value};
use serde_json::Value as Json;

use super::{
    Schema,
    node::{Field, ListType, Node, Type},
};
use crate::object::{
    body::is_hollow,
    convert::{from_json, to_json},
    quantity::Quantity,
};

/// What would become of a body. Its `status` and empty parts at the top are not in it: they say nothing. Unknown as a whole
/// where a field at the top may be left out.
pub(crate) fn predict(schema: &Schema, body: &Value) -> Value {
    let (Some(node), Some(fields)) = (schema.node(), body.as_map()) else { return unknown() };
    let mut parts: Vec<(String, Value)> = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| &***name != "status") {
        let part = match node.field(name) {
            Field::Declared(field) if &**name == "metadata" => metadata(&field, value),
            Field::Declared(field) => match whole(&field, value) {
                // What is left out inside may leave it empty.
                Some(part) if !part.is_known() && is_hollow(value) => return unknown(),
                Some(part) => part,
                None if is_empty(value) => continue,
                None => return unknown(),
            },
            Field::Free | Field::Unknown => value.clone(),
        };
        if !is_empty(&part) {
            parts.push((name.to_string(), part));
        }
    }
    Value::object(parts)
}

fn metadata(node: &Node<'_>, value: &Value) -> Value {
    let Some(fields) = value.as_map() else { return unknown() };
    let parts = fields.iter().filter(|(_, value)| !is_empty(value)).map(|(name, value)| {
        let part = match node.field(name) {
            Field::Declared(field) => whole(&field, value).unwrap_or_else(unknown),
            _ => value.clone(),
        };
        (name.to_string(), part)
    });
    Value::object(parts.filter(|(_, value)| !is_empty(value)))
}

fn unknown() -> Value {
    Value::unknown(ValueType::Dynamic)
}

fn is_empty(value: &Value) -> bool {
    match &value.data {
        Data::Object(fields) | Data::Map(_, fields) => fields.is_empty(),
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => items.is_empty(),
        _ => false,
    }
}

/// A part; `None`: the server may leave it out, so that nothing can be said of what it is in either.
fn whole(node: &Node<'_>, value: &Value) -> Option<Value> {
    if !value.is_known() {
        return Some(value.clone());
    }
    let is_definition = node.is_of_definition();
    match &value.data {
        // An empty map of Go's is left out; an empty structure is there.
        Data::Object(fields) | Data::Map(_, fields)
            if fields.is_empty() && !is_definition && node.keyword("additionalProperties").is_some() =>
        {
            None
        }
        Data::Object(fields) | Data::Map(_, fields) => {
            if node.is_atomic() && !fields.is_empty() {
                return Some(as_one_piece(node, value));
            }
            let mut parts = Vec::with_capacity(fields.len());
            for (name, value) in fields.iter() {
                let part = match node.field(name) {
                    Field::Declared(field) if field.is_metadata() => metadata(&field, value),
                    Field::Declared(field) => match whole(&field, value) {
                        Some(part) => part,
                        // Where a map has the entry, it stays; a field of Go's may go.
                        None if node.keyword("additionalProperties").is_some() => value.clone(),
                        None => return Some(unknown()),
                    },
                    Field::Free => value.clone(),
                    Field::Unknown if is_definition => continue,
                    Field::Unknown => return Some(unknown()),
                };
                parts.push((name.to_string(), part));
            }
            Some(Value::object(parts))
        }
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
            if items.is_empty() {
                return is_definition.then(|| value.clone());
            }
            match (node.list_type(), node.items()) {
                (ListType::Map(_), Some(item)) => {
                    Some(Value::tuple(items.iter().map(|value| whole(&item, value).unwrap_or_else(unknown))))
                }
                (ListType::Set, _) => Some(value.clone()),
                _ => Some(as_one_piece(node, value)),
            }
        }
        _ if is_definition => Some(value.clone()),
        _ => scalar(node, value),
    }
}

/// A scalar as a built-in kind keeps it; `None`: it may be left out.
fn scalar(node: &Node<'_>, value: &Value) -> Option<Value> {
    let says_nothing = match &value.data {
        Data::Bool(value) => !value,
        Data::Number(number) => number.is_zero(),
        Data::String(text) => text.is_empty(),
        _ => false,
    };
    match node.ty() {
        Type::Quantity => {
            let json = to_json(value).ok().flatten()?;
            Some(Quantity::parse(&json).map_or_else(unknown, |quantity| quantity.to_string().into()))
        }
        _ if says_nothing => None,
        Type::String if node.keyword("format").and_then(Json::as_str) == Some("date-time") => Some(unknown()),
        _ => Some(value.clone()),
    }
}

/// What is owned and kept as a whole, with what is left out in it.
fn as_one_piece(node: &Node<'_>, value: &Value) -> Value {
    if node.is_of_definition() {
        return match to_json(value) {
            Ok(Some(json)) => from_json(&defaulted(node, json)),
            _ => unknown(),
        };
    }
    // The defaults of built-in kinds are code of the API server: only pieces without fields have none.
    let has_fields = |node: &Node<'_>| node.names().next().is_some();
    let has_defaults = match node.items() {
        Some(item) => has_fields(&item) || item.ty() == Type::Quantity,
        None => node.names().any(|name| matches!(name.as_str(), "fieldPath" | "resource")),
    };
    if has_defaults { unknown() } else { value.clone() }
}

fn defaulted(node: &Node<'_>, json: Json) -> Json {
    match json {
        Json::Object(fields) => {
            let mut kept = serde_json::Map::new();
            for (name, value) in fields {
                match node.field(&name) {
                    Field::Declared(field) => _ = kept.insert(name, defaulted(&field, value)),
                    Field::Free => _ = kept.insert(name, value),
                    Field::Unknown => {}
                }
            }
            for name in node.names().filter(|name| !kept.contains_key(*name)).collect::<Vec<_>>() {
                if let Field::Declared(field) = node.field(name)
                    && let Some(default) = field.default()
                {
                    kept.insert(name.clone(), defaulted(&field, default.clone()));
                }
            }
            Json::Object(kept)
        }
        Json::Array(items) => match node.items() {
            Some(item) => Json::Array(items.into_iter().map(|value| defaulted(&item, value)).collect()),
            None => Json::Array(items),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Unknown parts as "?".
    fn shown(value: &Value) -> Json {
        let known = value.transform(&mut |_, part| if part.is_known() { part } else { "?".into() });
        to_json(&known).unwrap().unwrap()
    }

    #[test]
    fn a_built_in_kind_is_promised_where_its_schema_tells() {
        let schema = Schema::of_builtin("apps/v1", "Deployment").unwrap();
        let body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "labels": {"a": "", "b": "c"}, "annotations": {}},
            "status": {"replicas": 1},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "paused": true, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"name": "web", "args": ["a"], "ports": [{"containerPort": 80}],
                        "resources": {"requests": {"cpu": "1000m"}, "limits": {"cpu": 2}},
                        "env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}],
                    "securityContext": {"runAsNonRoot": false},
                    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}],
                },
            }},
        });
        let expected = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "", "b": "c"}},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "paused": true, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"name": "web", "args": ["a"], "ports": [{"containerPort": 80}],
                        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
                        "env": [{"name": "a", "valueFrom": {"fieldRef": "?"}}]}],
                    "securityContext": "?",
                    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}],
                },
            }},
        });
        assert_eq!(shown(&predict(&schema, &from_json(&body))), expected);
    }

    #[test]
    fn what_may_be_left_out_is_not_promised() {
        for (api_version, kind, body) in [
            ("node.k8s.io/v1", "RuntimeClass", json!({"handler": "a", "overhead": {"podFixed": {}}})),
            ("v1", "ResourceQuota", json!({"spec": {"hard": {}}})),
        ] {
            let schema = Schema::of_builtin(api_version, kind).unwrap();
            assert_eq!(shown(&predict(&schema, &from_json(&body))), json!("?"), "{kind}");
        }
    }

    #[test]
    fn a_definition_is_kept_to_the_letter_with_its_defaults_in_what_is_one_piece() {
        let item = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string", "default": "x"}}});
        let definition = json!({"spec": {"versions": [{"name": "v1", "served": true, "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "off": {"type": "boolean"},
                "cpu": {"x-kubernetes-int-or-string": true},
                "left": {"type": "string", "default": "y"},
                "list": {"type": "array", "items": item}}}}}}}]}});
        let schema = Schema::of_definition(&definition, "v1").unwrap();
        let body = json!({"apiVersion": "e/v1", "kind": "W", "metadata": {"name": "w"},
            "spec": {"off": false, "cpu": "1000m", "list": [{"a": 0}]}});
        let expected = json!({"apiVersion": "e/v1", "kind": "W", "metadata": {"name": "w"},
            "spec": {"off": false, "cpu": "1000m", "list": [{"a": 0, "b": "x"}]}});
        assert_eq!(shown(&predict(&schema, &from_json(&body))), expected);
    }
}
