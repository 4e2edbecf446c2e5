//! What has become of an object, and objects that are taken into the state.

use engine_value::{Marks, Path, Secrets, Type, Value};
use providers_api::{Call, Imported, ProviderError, ReadObject};
use serde_json::Value as Json;

use super::{
    TYPE,
    config::{Config, decoded},
};
use crate::{
    cluster::Cluster,
    object::{
        configurable::{configurable, is_secret},
        convert::{from_json, mark_secret, to_json},
        key::ObjectKey,
    },
    resource::object::read,
};

/// What names an object of the state; `None` where the state holds nothing that could.
pub(crate) fn key_of(stored: &Value) -> Option<ObjectKey> {
    let part = |name: &str| stored.get(name).and_then(|part| to_json(part).ok().flatten());
    part("object").as_ref().and_then(ObjectKey::of).or_else(|| Config::of(stored).desired.key())
}

/// An object of the state as it is now: what its manifest says, with the live values.
pub(crate) fn refreshed(stored: Value, live: &Json) -> ReadObject {
    let object = observed(&Config::of(&stored), live);
    let uid = Path::root().attr("object").attr("metadata").attr("uid");
    let is_other = match (uid.get(&stored), live.pointer("/metadata/uid").and_then(Json::as_str)) {
        (Some(before), Some(now)) => before.as_str().is_some_and(|before| before != now),
        _ => false,
    };
    let notes = if is_other { vec![read::MADE_ANEW.to_owned()] } else { Vec::new() };
    ReadObject { object: with_object(&stored, object), private: Vec::new(), notes }
}

/// The whole with `object` replaced, and what is secret in it marked: every answer marks the same.
pub(super) fn with_object(whole: &Value, object: Value) -> Value {
    let manifest = whole.get("manifest").cloned().unwrap_or_else(|| Value::null(Type::Dynamic));
    let (manifest, object) = if is_secret_text(&manifest) {
        // What is sensitive in `manifest` is so in `object`: in a text the secret parts cannot be told from the others.
        (manifest.mark(Marks::SENSITIVE), object.mark(Marks::SENSITIVE))
    } else {
        (mark_secret(manifest), mark_secret(object))
    };
    let whole = Path::root().attr("object").set(whole, object);
    let whole = whole.and_then(|whole| Path::root().attr("manifest").set(&whole, manifest));
    whole.expect("it is of the schema's type, which has these attributes")
}

/// What a block says that must not be told: the content of a Secret. None of another type's block.
pub(crate) fn secrets(block: &Value) -> Secrets {
    let manifest = block.get("manifest").cloned().map(|manifest| mark_secret(decoded(manifest)));
    Secrets::of(&manifest)
}

/// Is it a YAML text with the content of a Secret?
fn is_secret_text(manifest: &Value) -> bool {
    manifest.as_str().is_some() && mark_secret(decoded(manifest.clone())).contains_sensitive()
}

/// `object`: of the live object what the manifest says, and its UID.
pub(super) fn observed(config: &Config, live: &Json) -> Value {
    read::observed(&config.desired, live).unwrap_or_else(|| Value::null(Type::Dynamic))
}

/// Finds an object by `apiVersion=…,kind=…,namespace=…,name=…`.
pub(crate) async fn import(cluster: &Cluster, id: &str, call: Call<'_>) -> Result<Imported, ProviderError> {
    let key = ObjectKey::from_id(id).map_err(|why| {
        ProviderError::permanent(format!("{id:?} is no identifier of a {TYPE}: {why}"))
            .hint("Write it as apiVersion=apps/v1,kind=Deployment,namespace=team-a,name=web.")
    })?;
    let live = read::existing(cluster, &key, call).await?;
    let manifest = from_json(&configurable(&live));
    let schema = super::schema().block;
    let blocks = schema
        .blocks
        .iter()
        .map(|(name, nested)| (name.to_string(), Value::list(nested.block.value_type(), Vec::new())));
    let attributes =
        schema.attributes.iter().map(|(name, attribute)| (name.to_string(), Value::null(attribute.value_type())));
    let object = Value::object(attributes.chain(blocks));
    let object = Path::root().attr("manifest").set(&object, manifest).unwrap_or(object);
    let imported = Imported::new(TYPE, refreshed(object.clone(), &live).object, Vec::new());
    let notes = is_secret(&live).then(|| (Path::root().attr("manifest").attr("data"), NO_DATA.to_owned()));
    Ok(Imported { config: Some(object), notes: notes.into_iter().collect(), ..imported })
}

/// What is said about the configuration of a Secret.
const NO_DATA: &str = "The data of this Secret is left out, since it is secret: it stays as it is, and nothing manages it.\n\
                       To manage it, set `data` from a sensitive variable.";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_manifest_says_is_read_back() {
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}});
        let stored_object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u1"}, "data": {"x": "1"}});
        let stored = Value::object([("manifest", from_json(&manifest)), ("object", from_json(&stored_object))]);
        assert_eq!(key_of(&stored).unwrap().to_string(), "ConfigMap a");
        let mut live = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1", "foreign": "2"},
            "metadata": {"name": "a", "uid": "u1", "resourceVersion": "7", "labels": {"other": "x"}}});
        let same = refreshed(stored.clone(), &live);
        assert_eq!(same.object, stored);
        live["data"]["x"] = "2".into();
        live["metadata"]["uid"] = "u2".into();
        let other = refreshed(stored, &live);
        assert_eq!(other.object.get("object").unwrap().get("data").unwrap().get("x"), Some(&Value::from("2")));
        assert_eq!(other.notes.len(), 1);
    }
}
