//! Functions: `provider::kubernetes::manifest_decode`, `manifest_decode_multi`, `manifest_encode`, under HashiCorp's names.

use std::{collections::BTreeMap, fmt, sync::Arc};

use engine_model::schema::Function;
use engine_value::{Type, Value};
use serde_json::Value as Json;

use crate::{
    object::convert::{from_json, to_json},
    yaml::{self, Document, YamlError},
};

/// What a manifest always has.
const PARTS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The signatures.
pub(crate) fn signatures() -> BTreeMap<Arc<str>, Function> {
    let one = |parameter: Type, returns: Type, description: &str| Function {
        parameters: vec![("manifest".into(), parameter)],
        variadic: None,
        returns,
        description: description.to_owned(),
    };
    [
        ("manifest_decode".into(), one(Type::String, Type::Dynamic, "The object that a YAML text of one document says.")),
        (
            "manifest_decode_multi".into(),
            one(
                Type::String,
                Type::Dynamic,
                "The objects that a YAML text of any number of documents says, as a tuple. Empty documents are left out, and \
                 the items of a `List` stand in its place.",
            ),
        ),
        (
            "manifest_encode".into(),
            one(Type::Dynamic, Type::String, "The YAML text of an object; of a list of them, one document each."),
        ),
    ]
    .into()
}

/// Calls a function.
pub(crate) fn call(function: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
    let argument = arguments.first().ok_or_else(|| (None, "there is no argument".to_owned()))?;
    if argument.is_null() {
        return Err((Some(0), "argument must not be null".to_owned()));
    }
    let text = argument.as_str().unwrap_or_default();
    let found = match function {
        "manifest_decode" => decode(text).map(|object| from_json(&object)).map_err(|error| match error {
            DecodeError::Several(..) => format!("{error}: provider::kubernetes::manifest_decode_multi takes several"),
            DecodeError::Wrong(what) => what,
        }),
        "manifest_decode_multi" => decode_multi(text)
            .map(|objects| Value::tuple(objects.iter().map(from_json)))
            .map_err(|error| error.to_string()),
        "manifest_encode" => encode(argument).map(Value::from),
        other => return Err((None, format!("there is no function {other:?}"))),
    };
    found.map_err(|why| (Some(0), why))
}

/// Why a text is not one manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// There are several documents: how many, and where the second begins.
    Several(usize, usize),
    /// It is none, and why.
    Wrong(String),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Several(many, line) => {
                write!(f, "it has {many} documents (the second begins on line {line}), and one manifest is needed")
            }
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl From<YamlError> for DecodeError {
    fn from(error: YamlError) -> Self {
        Self::Wrong(error.to_string())
    }
}

/// The one manifest in a text.
///
/// # Errors
/// What is wrong, with document and line; that there is none, or more than one.
pub(crate) fn decode(text: &str) -> Result<Json, DecodeError> {
    let mut documents = filled(text)?;
    match documents.len() {
        0 => Err(DecodeError::Wrong("it has no document, and one manifest is needed".to_owned())),
        1 => {
            let document = documents.remove(0);
            if items(&document)?.is_none() {
                checked(&document)?;
            }
            Ok(document.body)
        }
        many => Err(DecodeError::Several(many, documents[1].line)),
    }
}

/// All manifests in a text.
fn decode_multi(text: &str) -> Result<Vec<Json>, YamlError> {
    let mut objects = Vec::new();
    for document in filled(text)? {
        match items(&document)? {
            Some(items) => objects.extend(items),
            None => {
                checked(&document)?;
                objects.push(document.body);
            }
        }
    }
    Ok(objects)
}

/// The documents that say something.
fn filled(text: &str) -> Result<Vec<Document>, YamlError> {
    let is_empty = |body: &Json| body.is_null() || body.as_object().is_some_and(serde_json::Map::is_empty);
    Ok(yaml::documents(text)?.into_iter().filter(|document| !is_empty(&document.body)).collect())
}

/// The items of a `List`, as `kubectl get -o yaml` writes them; `None` where it is none.
fn items(document: &Document) -> Result<Option<Vec<Json>>, YamlError> {
    let text = |name: &str| document.body.get(name).and_then(Json::as_str);
    if text("apiVersion") != Some("v1") || text("kind") != Some("List") {
        return Ok(None);
    }
    let items = match document.body.get("items") {
        None | Some(Json::Null) => return Ok(Some(Vec::new())),
        Some(Json::Array(items)) => items,
        Some(_) => return Err(document.wrong("the items of a List must be a list")),
    };
    for (at, item) in items.iter().enumerate() {
        if let Some(what) = incomplete(item) {
            return Err(document.wrong(format!("items[{at}]: {what}")));
        }
    }
    Ok(Some(items.clone()))
}

fn checked(document: &Document) -> Result<(), YamlError> {
    incomplete(&document.body).map_or(Ok(()), |what| Err(document.wrong(what)))
}

/// Why it is no manifest.
fn incomplete(object: &Json) -> Option<String> {
    let Json::Object(members) = object else { return Some("a manifest is a mapping".to_owned()) };
    let missing = PARTS.into_iter().find(|part| !members.contains_key(*part))?;
    Some(format!("{missing:?} is missing; a manifest has {}", PARTS.join(", ")))
}

fn encode(value: &Value) -> Result<String, String> {
    let manifest = to_json(value)?.ok_or("a part of it is not known")?;
    let one = |object: &Json| incomplete(object).map_or_else(|| Ok(yaml::write(object)), Err);
    match &manifest {
        Json::Array(objects) => {
            let each = objects.iter().enumerate().map(|(at, object)| {
                one(object).map(|text| format!("---\n{text}")).map_err(|what| format!("element {at}: {what}"))
            });
            each.collect()
        }
        object => one(object),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn called(function: &str, argument: Value) -> Result<Json, String> {
        let value = call(function, &[argument]).map_err(|(at, why)| {
            assert_eq!(at, Some(0));
            why
        })?;
        Ok(to_json(&value).unwrap().unwrap())
    }

    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: null}\ndata: {n: \"1\"}\n";

    #[test]
    fn one_document_is_one_object() {
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": null},
            "data": {"n": "1"}});
        // `n` without quotes is a boolean, and its text the key: so Kubernetes reads it.
        let mut odd = expected.clone();
        odd["data"] = json!({"false": "1"});
        assert_eq!(called("manifest_decode", MAP.into()), Ok(odd.clone()));
        let around = format!("---\n# nothing\n---\n{MAP}---\n{{}}\n");
        assert_eq!(called("manifest_decode", around.as_str().into()), Ok(odd.clone()));
        assert_eq!(called("manifest_decode_multi", around.as_str().into()), Ok(json!([odd])));
        assert_eq!(called("manifest_decode_multi", "".into()), Ok(json!([])));
    }

    #[test]
    fn a_list_is_its_items() {
        let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: x}}\n---\n\
                    apiVersion: v1\nkind: List\nmetadata: {}\n";
        let found = called("manifest_decode_multi", list.into());
        assert_eq!(found, Ok(json!([{"apiVersion": "v1", "kind": "A", "metadata": {"name": "x"}}])));
        let one = "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A, metadata: {}}]\n";
        assert_eq!(called("manifest_decode", one.into()).unwrap()["items"].as_array().map(Vec::len), Some(1));
        for function in ["manifest_decode", "manifest_decode_multi"] {
            assert_eq!(
                called(function, "apiVersion: v1\nkind: List\nitems: [1]\n".into()).unwrap_err(),
                "document 1, line 1: items[0]: a manifest is a mapping"
            );
        }
    }

    #[test]
    fn what_is_no_manifest_is_told_with_its_place() {
        for (function, text, expected) in [
            ("manifest_decode", "", "it has no document, and one manifest is needed"),
            (
                "manifest_decode",
                "apiVersion: v1\nkind: A\nmetadata: {}\n---\n\nkind: B\n",
                "it has 2 documents (the second begins on line 6), and one manifest is needed: \
                 provider::kubernetes::manifest_decode_multi takes several",
            ),
            ("manifest_decode", "- a\n", "document 1, line 1: a manifest is a mapping"),
            (
                "manifest_decode_multi",
                "apiVersion: v1\nkind: A\nmetadata: {}\n---\n\nkind: B\n",
                "document 2, line 6: \"apiVersion\" is missing; a manifest has apiVersion, kind, metadata",
            ),
        ] {
            assert_eq!(called(function, text.into()).unwrap_err(), expected);
        }
        assert_eq!(called("manifest_decode", Value::null(Type::String)).unwrap_err(), "argument must not be null");
    }

    #[test]
    fn objects_become_text_and_come_back() {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": null},
            "data": {"x": "on"}});
        let text = call("manifest_encode", &[from_json(&object)]).unwrap();
        let expected = "apiVersion: v1\ndata:\n  x: \"on\"\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: null\n";
        assert_eq!(text.as_str(), Some(expected));
        assert_eq!(called("manifest_decode", text), Ok(object.clone()));
        let two = call("manifest_encode", &[Value::tuple([from_json(&object), from_json(&object)])]).unwrap();
        assert_eq!(two.as_str().unwrap(), format!("---\n{expected}---\n{expected}"));
        assert_eq!(called("manifest_decode_multi", two), Ok(json!([object, object])));
        assert_eq!(called("manifest_encode", "x".into()).unwrap_err(), "a manifest is a mapping");
    }
}
