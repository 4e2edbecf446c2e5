//! What an object is named, in blocks and in identifiers.

use engine_model::host::Host;
use engine_value::{Path, Type, Value};

use super::kind::Kind;
use crate::object::key::ObjectKey;

/// Where the metadata are.
pub(super) fn metadata() -> Path {
    Path::root().attr("metadata").index(0)
}

/// An attribute of the metadata.
pub(super) fn get(object: &Value, name: &str) -> Option<Value> {
    metadata().attr(name).get(object)
}

/// The object with an attribute of its metadata replaced; as it is, where it has no such attribute.
pub(super) fn set(object: &Value, name: &str, value: Value) -> Value {
    metadata().attr(name).set(object, value).unwrap_or_else(|| object.clone())
}

/// What names an object of the state; `None` where it holds nothing that could.
pub(super) fn key_of(kind: &Kind, object: &Value) -> Option<ObjectKey> {
    let name = get(object, "name")?.as_str()?.to_owned();
    let namespace = get(object, "namespace").and_then(|namespace| namespace.as_str().map(str::to_owned));
    Some(key(kind, namespace.filter(|namespace| !namespace.is_empty()), name))
}

/// The key of an object of this kind.
pub(super) fn key(kind: &Kind, namespace: Option<String>, name: String) -> ObjectKey {
    let namespace = kind.namespaced.then(|| namespace.unwrap_or_else(|| "default".to_owned()));
    ObjectKey { api_version: kind.api_version.to_owned(), kind: kind.kind.to_owned(), namespace, name }
}

/// As `import` takes it: `namespace/name`, or the name where there is no namespace.
pub(super) fn id(key: &ObjectKey) -> String {
    match &key.namespace {
        Some(namespace) => format!("{namespace}/{}", key.name),
        None => key.name.clone(),
    }
}

/// The reverse.
pub(super) fn from_id(kind: &Kind, id: &str) -> Result<ObjectKey, String> {
    let is_part = |part: &str| !part.is_empty() && !part.contains('/');
    match (kind.namespaced, id.split_once('/')) {
        (true, Some((namespace, name))) if is_part(namespace) && is_part(name) => {
            Ok(key(kind, Some(namespace.to_owned()), name.to_owned()))
        }
        (true, _) => Err("namespace/name".to_owned()),
        (false, None) if is_part(id) => Ok(key(kind, None, id.to_owned())),
        (false, _) => Err("its name alone".to_owned()),
    }
}

/// The name of an object that is made: configured, or made up now, so that the plan tells it and an interrupted apply
/// finds it again.
pub(super) fn made(config: &Value, host: &dyn Host) -> Value {
    if let Some(name) = get(config, "name").filter(|name| !name.is_null()) {
        return name;
    }
    match get(config, "generate_name").as_ref().and_then(Value::as_str) {
        Some(prefix) => Value::from(format!("{prefix}{}", suffix(host))),
        None => Value::unknown(Type::String),
    }
}

/// Five characters of the alphabet that Kubernetes takes for generated names: no vowels, so no words.
fn suffix(host: &dyn Host) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut bytes = [0; 5];
    host.random(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect()
}
