//! Between values of the language and JSON of the API, and which parts of them are secret.

use engine_value::{
    Marks, Path, Value,
    json::{self, JsonError},
};
use serde_json::Value as Json;

use super::body::is_secret;

/// The JSON of a value; `None` where a part of it is not known.
pub(crate) fn to_json(value: &Value) -> Result<Option<Json>, String> {
    match json::to_tree(value, None) {
        Ok(tree) => Ok(Some(Json::from(&tree))),
        Err(JsonError::Unknown(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The value that JSON implies.
pub(crate) fn from_json(json: &Json) -> Value {
    json::infer_tree(&json::Json::from(json))
}

/// The value, with the content of a Secret marked sensitive.
pub(crate) fn mark_secret(value: Value) -> Value {
    if !is_secret(&value) {
        return value;
    }
    let present = ["data", "stringData"].into_iter().filter(|name| value.get(name).is_some());
    let places: Vec<(Path, Marks)> = present.map(|name| (Path::root().attr(name), Marks::SENSITIVE)).collect();
    value.mark_paths(&places)
}

#[cfg(test)]
mod tests {
    use engine_value::Type;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_becomes_json_and_back() {
        let value = Value::object([("a", Value::int(1)), ("b", Value::tuple([Value::from("x")]))]);
        let found = to_json(&value).unwrap().unwrap();
        assert_eq!(found, json!({"a": 1, "b": ["x"]}));
        assert_eq!(from_json(&found), value);
        let unknown = Value::object([("a", Value::unknown(Type::String))]);
        assert_eq!(to_json(&unknown), Ok(None));
    }

    #[test]
    fn secrets_are_marked() {
        let secret = from_json(&json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "b"}, "type": "Opaque"}));
        let marked = mark_secret(secret);
        assert!(marked.get("data").unwrap().contains_sensitive());
        assert!(!marked.get("type").unwrap().contains_sensitive());
        let map = from_json(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}));
        assert!(!mark_secret(map).contains_sensitive());
    }
}
