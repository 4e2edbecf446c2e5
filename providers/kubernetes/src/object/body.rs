//! A body as it is sent. Parts of it may be unknown.

use engine_value::{Data, Type, Value};

/// The body as it is sent: without nulls, and with a Secret's `stringData` in `data`, so that who owns what, and what has
/// drifted, can be told of it too.
pub(crate) fn normalized(body: Value) -> Value {
    let body = without_nulls(body);
    match body.as_map() {
        Some(fields) if is_secret(&body) => {
            let Some(clear) = fields.get("stringData") else { return body };
            let rest = fields.iter().filter(|(name, _)| !matches!(&***name, "stringData" | "data"));
            let rest = rest.map(|(name, value)| (name.to_string(), value.clone()));
            let data = merged(fields.get("data"), clear);
            Value::object(rest.chain([("data".to_owned(), data)]))
        }
        _ => body,
    }
}

/// Is it a `v1` Secret, whose content is never shown?
pub(crate) fn is_secret(body: &Value) -> bool {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    text("kind") == Some("Secret") && text("apiVersion") == Some("v1")
}

/// Has it containers alone, without anything in them? The API server may keep such a part, or leave it out.
pub(crate) fn is_hollow(value: &Value) -> bool {
    let is_container = value.as_map().is_some() || value.as_sequence().is_some();
    value.is_null() || (is_container && value.parts().all(is_hollow))
}

/// What is given in clear wins, as it does in the API server.
fn merged(data: Option<&Value>, clear: &Value) -> Value {
    let Some(clear) = clear.as_map() else { return Value::unknown(Type::Dynamic) };
    let given = match data {
        Some(data) => match data.as_map() {
            Some(data) => data.clone(),
            None => return Value::unknown(Type::Dynamic),
        },
        None => Default::default(),
    };
    let clear = clear.iter().map(|(name, value)| (name.to_string(), encoded(value)));
    Value::object(given.iter().map(|(name, value)| (name.to_string(), value.clone())).chain(clear))
}

fn encoded(value: &Value) -> Value {
    use base64::Engine;
    let text = match &value.data {
        Data::Unknown(_) => return Value::unknown(Type::String).mark(value.marks),
        Data::String(text) => text.to_string(),
        _ => engine_value::json::encode(value).unwrap_or_default(),
    };
    Value::from(base64::engine::general_purpose::STANDARD.encode(text)).mark(value.marks)
}

fn without_nulls(value: Value) -> Value {
    let marks = value.marks;
    let value = match &value.data {
        Data::Object(fields) | Data::Map(_, fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            Value::object(kept.map(|(name, value)| (name.to_string(), without_nulls(value.clone()))))
        }
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
            Value::tuple(items.iter().cloned().map(without_nulls))
        }
        _ => return value,
    };
    value.mark(marks)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::convert::{from_json, to_json};

    #[test]
    fn what_is_sent_has_no_nulls_and_no_string_data() {
        for (manifest, expected) in [
            (json!({"a": null, "b": [{"c": null, "d": 1}]}), json!({"b": [{"d": 1}]})),
            (
                json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "QQ=="}, "stringData": {"b": "B"}}),
                json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "QQ==", "b": "Qg=="}}),
            ),
        ] {
            assert_eq!(to_json(&normalized(from_json(&manifest))), Ok(Some(expected)));
        }
    }

    #[test]
    fn what_is_not_known_stays_so() {
        let clear = Value::object([("a", Value::unknown(Type::String)), ("b", "B".into())]);
        let secret = Value::object([("apiVersion", "v1".into()), ("kind", "Secret".into()), ("stringData", clear)]);
        let data = normalized(secret).get("data").cloned().unwrap();
        assert!(!data.get("a").unwrap().is_known());
        assert_eq!(data.get("b"), Some(&"Qg==".into()));
    }
}
