//! Objects that are taken into the state.

use engine_value::{Type, Value};
use providers_api::{Call, Imported, ProviderError};
use serde_json::Value as Json;

use super::{
    body::{settled, with_id},
    kind::{Kind, secret},
    name::from_id,
    read::{nothing, observed},
};
use crate::{cluster::Cluster, resource::object::read::existing};

/// Finds an object by `namespace/name`, or by its name where it lies in no namespace.
pub(super) async fn import(
    cluster: &Cluster,
    kind: &Kind,
    ty: &str,
    id: &str,
    call: Call<'_>,
) -> Result<Imported, ProviderError> {
    let key = from_id(kind, id).map_err(|wanted| {
        ProviderError::permanent(format!("{id:?} is no identifier of a {ty}")).hint(format!("Write it as {wanted}."))
    })?;
    let live = existing(cluster, &key, call).await?;
    Ok(Imported::new(ty, taken(kind, &live), Vec::new()))
}

/// A live object as the state has one: everything that a configuration could say of it.
fn taken(kind: &Kind, live: &Json) -> Value {
    let live = configurable(live);
    let unknown = nothing(kind.fields).map_parts(|step, part| {
        let engine_value::Step::Attr(name) = &step else { return part.clone() };
        match kind.fields.iter().find(|field| *field.name == **name) {
            Some(field) if field.is_local() => field.default.map_or(part.clone(), |default| default.value()),
            Some(field) if field.json.is_empty() || field.write_only => part.clone(),
            _ => Value::unknown(part.type_of()),
        }
    });
    let object = super::read::without_unknown(observed(kind.fields, &unknown, &live));
    let object = secret::split(kind, object, &live);
    let timeouts = super::schema::timeouts(kind).map(|ty| ("timeouts".to_owned(), Value::null(ty)));
    let parts = object.as_map().into_iter().flatten().map(|(name, value)| (name.to_string(), value.clone()));
    let id = ("id".to_owned(), Value::unknown(Type::String));
    let object = Value::object(parts.chain([id]).chain(timeouts));
    with_id(kind, settled(kind, &object, &live))
}

/// Without labels and annotations of Kubernetes itself, which are in nobody's configuration.
fn configurable(live: &Json) -> Json {
    let mut live = live.clone();
    for field in ["labels", "annotations"] {
        if let Some(Json::Object(entries)) = live.pointer_mut(&format!("/metadata/{field}")) {
            entries.retain(|name, _| !is_internal(name));
        }
    }
    live
}

/// The rule of HashiCorp's provider: names under kubernetes.io, but for two that people set.
fn is_internal(name: &str) -> bool {
    let Some((domain, _)) = name.split_once('/') else { return false };
    domain.ends_with("kubernetes.io") && !matches!(domain, "app.kubernetes.io" | "service.beta.kubernetes.io")
}

#[cfg(test)]
mod tests {
    use engine_value::Path;

    use super::*;

    #[test]
    fn names_of_kubernetes_itself_are_internal() {
        for (name, expected) in [
            ("team", false),
            ("app.kubernetes.io/name", false),
            ("service.beta.kubernetes.io/x", false),
            ("kubernetes.io/metadata.name", true),
            ("pod-security.kubernetes.io/enforce", true),
            ("kubectl.kubernetes.io/last-applied-configuration", true),
            ("example.com/kubernetes.io", false),
        ] {
            assert_eq!(is_internal(name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_empty_in_a_list_or_a_map_is_kept() {
        let role = super::super::kind::of("kubernetes_role").unwrap();
        let rule = serde_json::json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
        let live = serde_json::json!({"metadata": {"name": "a", "namespace": "b"}, "rules": [rule]});
        let groups = Path::root().attr("rule").index(0).attr("api_groups").get(&taken(role, &live));
        assert_eq!(groups, Some(Value::set(Type::String, vec!["".into()])));
        let map = super::super::kind::of("kubernetes_config_map").unwrap();
        let live = serde_json::json!({"metadata": {"name": "a", "namespace": "b"}, "data": {"empty": "", "x": "1"}});
        let data = Path::root().attr("data").get(&taken(map, &live));
        assert_eq!(data, Some(Value::map(Type::String, [("empty", Value::from("")), ("x", "1".into())])));
    }

    #[test]
    fn everything_that_could_be_configured_is_taken() {
        let kind = super::super::kind::of("kubernetes_secret").unwrap();
        let live = serde_json::json!({
            "metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "3",
                "labels": {"x": "y", "kubernetes.io/z": "1"}},
            "type": "Opaque", "data": {"text": "dGV4dA==", "binary": "/w=="},
        });
        let object = taken(kind, &live);
        let at = |path: Path| path.get(&object).unwrap();
        assert_eq!(at(Path::root().attr("id")), "b/a".into());
        assert_eq!(at(Path::root().attr("data")), Value::map(Type::String, [("text", Value::from("text"))]));
        assert_eq!(at(Path::root().attr("binary_data")), Value::map(Type::String, [("binary", Value::from("/w=="))]));
        assert_eq!(at(Path::root().attr("wait_for_service_account_token")), true.into());
        let metadata = Path::root().attr("metadata").index(0);
        assert_eq!(at(metadata.clone().attr("labels")), Value::map(Type::String, [("x", Value::from("y"))]));
        assert!(at(metadata.attr("generate_name")).is_null());
        assert!(object.is_wholly_known());
    }
}
