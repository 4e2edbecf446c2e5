//! Data sources with HashiCorp's schemas. What they have is written as types; names and values follow from those.
//!
//! That there is no such object is no error: as with HashiCorp's provider, its content is null. Modules ask so whether
//! something is there.

use engine_diag::sentence;
use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue};
use serde_json::Value as Json;

use super::{
    kind::{self, secret},
    name,
};
use crate::{
    cluster::{Cluster, discovery::Lookup},
    resource::issue::failed,
};

/// One object, as the resource type of the same name has it.
struct Source {
    types: &'static [&'static str],
    /// Attributes beside `metadata` and `id`, with whether they are secret.
    attributes: fn() -> Vec<(&'static str, Type, bool)>,
    description: &'static str,
}

const SOURCES: &[Source] = &[
    Source {
        types: &["kubernetes_config_map", "kubernetes_config_map_v1"],
        attributes: || {
            let texts = || Type::map(Type::String);
            vec![("binary_data", texts(), false), ("data", texts(), false), ("immutable", Type::Bool, false)]
        },
        description: "A ConfigMap.",
    },
    Source {
        types: &["kubernetes_namespace", "kubernetes_namespace_v1"],
        attributes: || vec![("spec", Type::list(Type::object([("finalizers", Type::list(Type::String))])), false)],
        description: "A namespace.",
    },
    Source {
        types: &["kubernetes_secret", "kubernetes_secret_v1"],
        attributes: || {
            let texts = || Type::map(Type::String);
            vec![
                ("binary_data", texts(), true),
                ("data", texts(), true),
                ("immutable", Type::Bool, false),
                ("type", Type::String, false),
            ]
        },
        description: "A Secret. Content that is not text is in `binary_data`, in base64.",
    },
    Source {
        types: &["kubernetes_service_account", "kubernetes_service_account_v1"],
        attributes: || {
            let named = || Type::list(Type::object([("name", Type::String)]));
            vec![
                ("automount_service_account_token", Type::Bool, false),
                ("default_secret_name", Type::String, false),
                ("image_pull_secret", named(), false),
                ("secret", named(), false),
            ]
        },
        description: "A service account.",
    },
];

/// The names of all namespaces.
const ALL_NAMESPACES: &str = "kubernetes_all_namespaces";
/// Nodes, by their labels.
const NODES: &str = "kubernetes_nodes";

/// Every type with its schema.
pub(crate) fn schemas() -> impl Iterator<Item = (&'static str, Schema)> {
    let objects = SOURCES.iter().flat_map(|source| source.types.iter().map(|ty| (*ty, schema(ty, source))));
    objects.chain([(ALL_NAMESPACES, all_namespaces_schema()), (NODES, nodes_schema())])
}

/// Is it one of these?
pub(crate) fn has(ty: &str) -> bool {
    matches!(ty, ALL_NAMESPACES | NODES) || source(ty).is_some()
}

fn source(ty: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.types.contains(&ty))
}

fn computed(ty: Type) -> Attribute {
    Attribute::new(ty, Usage::Computed, "")
}

fn id() -> (&'static str, Attribute) {
    ("id", Attribute::new(Type::String, Usage::OptionalComputed, "What names it."))
}

fn schema(ty: &str, source: &Source) -> Schema {
    let either = |ty: Type, description: &str| Attribute::new(ty, Usage::OptionalComputed, description);
    let mut metadata = Block::new(
        [
            ("annotations", either(Type::map(Type::String), "Annotations.")),
            ("generation", computed(Type::Number)),
            ("labels", either(Type::map(Type::String), "Labels.")),
            ("name", either(Type::String, "Its name.")),
            ("resource_version", computed(Type::String)),
            ("uid", computed(Type::String)),
        ],
        "What names it.",
    );
    let is_namespaced = kind::of(ty).is_some_and(|kind| kind.namespaced);
    if is_namespaced {
        let namespace = Attribute::new(Type::String, Usage::Optional, "Its namespace.").with_default("default".into());
        metadata.attributes.insert("namespace".into(), namespace);
    }
    if kind::of(ty).is_some_and(|kind| kind.kind == secret::KIND.kind) {
        metadata.attributes.insert("generate_name".into(), either(Type::String, "Without effect."));
    }
    let attributes = (source.attributes)().into_iter().map(|(name, ty, is_secret)| {
        let usage = match name {
            // Arguments to HashiCorp's provider; here they are read like the rest.
            "immutable" => Usage::OptionalComputed,
            "binary_data" if is_secret => Usage::OptionalComputed,
            _ => Usage::Computed,
        };
        let attribute = Attribute::new(ty, usage, "");
        (name, if is_secret { attribute.sensitive() } else { attribute })
    });
    let block = Block::new(attributes.chain([id()]), source.description)
        .with_block("metadata", NestedBlock { nesting: Nesting::List, block: metadata, min_items: 1, max_items: 1 });
    Schema { version: 0, block }
}

fn all_namespaces_schema() -> Schema {
    let block = Block::new([id(), ("namespaces", computed(Type::list(Type::String)))], "The names of all namespaces.");
    Schema { version: 0, block }
}

fn nodes_schema() -> Schema {
    let labels = Attribute::new(Type::map(Type::String), Usage::Required, "Only nodes with these labels.");
    let metadata = Block::new([("labels", labels)], "Which nodes.");
    let block = Block::new([id(), ("nodes", computed(Type::list(node_type())))], "Nodes.")
        .with_block("metadata", NestedBlock { nesting: Nesting::List, block: metadata, min_items: 0, max_items: 1 });
    Schema { version: 0, block }
}

/// A node, in HashiCorp's words.
fn node_type() -> Type {
    let texts = || Type::map(Type::String);
    let one = |fields: Vec<(&'static str, Type)>| Type::list(Type::object(fields));
    let of_text = |names: &[&'static str]| one(names.iter().map(|name| (*name, Type::String)).collect());
    Type::object([
        (
            "metadata",
            one(vec![
                ("annotations", texts()),
                ("generation", Type::Number),
                ("labels", texts()),
                ("name", Type::String),
                ("resource_version", Type::String),
                ("uid", Type::String),
            ]),
        ),
        (
            "spec",
            one(vec![
                ("pod_cidr", Type::String),
                ("pod_cidrs", Type::list(Type::String)),
                ("provider_id", Type::String),
                ("taints", of_text(&["effect", "key", "value"])),
                ("unschedulable", Type::Bool),
            ]),
        ),
        (
            "status",
            one(vec![
                ("addresses", of_text(&["address", "type"])),
                ("allocatable", texts()),
                ("capacity", texts()),
                (
                    "conditions",
                    of_text(&["last_heartbeat_time", "last_transition_time", "message", "reason", "status", "type"]),
                ),
                (
                    "node_info",
                    of_text(&[
                        "architecture",
                        "boot_id",
                        "container_runtime_version",
                        "kernel_version",
                        "kube_proxy_version",
                        "kubelet_version",
                        "machine_id",
                        "operating_system",
                        "os_image",
                        "system_uuid",
                    ]),
                ),
            ]),
        ),
    ])
}

/// What is wrong with a block. Unknown values are not checked.
pub(crate) fn validate(ty: &str, config: &Value) -> Vec<Issue> {
    let given = config.get("binary_data").is_some_and(|data| !data.is_null());
    if source(ty).is_none() || !given {
        return Vec::new();
    }
    let detail = "Which content is not text is found out by itself.";
    vec![Issue::error(Path::root().attr("binary_data"), "Unsupported argument", detail).hint("Remove it.")]
}

/// Reads one.
pub(crate) async fn read(cluster: &Cluster, ty: &str, config: Value, call: Call<'_>) -> Result<Value, Vec<Issue>> {
    match ty {
        ALL_NAMESPACES => {
            let found = list(cluster, "Namespace", &[], call).await?;
            let names = found.iter().map(|live| text(live, "/metadata/name").into()).collect();
            let config = with(&config, "namespaces", Value::list(Type::String, names));
            Ok(with(&config, "id", "all".into()))
        }
        NODES => {
            let labels = Path::root().attr("metadata").index(0).attr("labels").get(&config);
            let labels = labels.as_ref().and_then(Value::as_map).into_iter().flatten();
            let selector: Vec<String> =
                labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
            let selector = selector.join(",");
            let query = if selector.is_empty() { Vec::new() } else { vec![("labelSelector", selector.clone())] };
            let found = list(cluster, "Node", &query, call).await?;
            let nodes = found.iter().map(|live| shaped(Some(live), &node_type())).collect();
            let config = with(&config, "nodes", Value::list(node_type(), nodes));
            Ok(with(&config, "id", if selector.is_empty() { "all".into() } else { selector.into() }))
        }
        _ => one(cluster, ty, config, call).await,
    }
}

async fn one(cluster: &Cluster, ty: &str, config: Value, call: Call<'_>) -> Result<Value, Vec<Issue>> {
    let (Some(source), Some(kind)) = (source(ty), kind::of(ty)) else {
        return Err(vec![Issue::error(Path::root(), "Unknown type", format!("This provider has no {ty}."))]);
    };
    let Some(key) = name::key_of(kind, &config) else {
        return Err(vec![Issue::error(name::metadata(), "Missing name", "`name` must be set.")]);
    };
    let summary = format!("Cannot read {key}");
    let failed = |error| vec![failed(Path::root(), &summary, &error)];
    let live = match cluster.kind_of(&key, call).await.map_err(failed)? {
        Some(kind) => cluster.get(&kind, &key, call).await.map_err(failed)?,
        None => None,
    };
    let mut object = with(&config, "id", name::id(&key).into());
    let metadata = name::metadata();
    for (attribute, ty, _) in (source.attributes)() {
        let value = match &live {
            Some(live) => content(kind.kind, attribute, &ty, live),
            None => Value::null(ty),
        };
        object = with(&object, attribute, value);
    }
    let Some(block) = metadata.get(&object) else { return Ok(object) };
    let block = block.map_parts(|step, given| match &step {
        engine_value::Step::Attr(name) if !matches!(&**name, "name" | "namespace") && given.is_null() => {
            let metadata = live.as_ref().and_then(|live| live.get("metadata"));
            shaped(metadata.and_then(|metadata| metadata.get(camel(name))), &given.type_of())
        }
        // The namespace that is meant where none is named.
        engine_value::Step::Attr(name) if &**name == "namespace" && given.is_null() => "default".into(),
        _ => given.clone(),
    });
    Ok(metadata.set(&object, block).unwrap_or(object))
}

/// An attribute of an object that is there.
fn content(kind: &str, attribute: &str, ty: &Type, live: &Json) -> Value {
    if kind == secret::KIND.kind && matches!(attribute, "data" | "binary_data") {
        let (texts, binary) = secret::content(live);
        return match attribute {
            "binary_data" if binary.is_empty() => Value::null(ty.clone()),
            "binary_data" => Value::map(Type::String, binary),
            _ => Value::map(Type::String, texts),
        };
    }
    let name = match attribute {
        "image_pull_secret" => "imagePullSecrets".to_owned(),
        "secret" => "secrets".to_owned(),
        other => camel(other),
    };
    shaped(live.get(name), ty)
}

/// JSON as a value of a type: objects are lists of one, names are in HashiCorp's spelling, and what is not there is
/// empty.
fn shaped(json: Option<&Json>, ty: &Type) -> Value {
    match ty {
        Type::Bool => json.and_then(Json::as_bool).unwrap_or_default().into(),
        Type::Number => Value::int(json.and_then(Json::as_i64).unwrap_or_default()),
        Type::Map(inside) => {
            let entries = json.and_then(Json::as_object).into_iter().flatten();
            Value::map(inside.as_ref().clone(), entries.map(|(name, json)| (name, shaped(Some(json), inside))))
        }
        Type::List(inside) => {
            let items = match json {
                Some(Json::Array(items)) => items.iter().map(|json| shaped(Some(json), inside)).collect(),
                Some(object @ Json::Object(_)) => vec![shaped(Some(object), inside)],
                _ => Vec::new(),
            };
            Value::list(inside.as_ref().clone(), items)
        }
        Type::Object(attributes) => {
            let parts = attributes.iter().map(|(name, attr)| {
                let json = json.and_then(|json| json.get(camel(name)));
                (name.to_string(), shaped(json, &attr.ty))
            });
            Value::object(parts)
        }
        _ => match json {
            Some(Json::String(text)) => text.as_str().into(),
            Some(Json::Null) | None => "".into(),
            Some(other) => other.to_string().into(),
        },
    }
}

/// `pod_cidrs` as the API spells it: `podCIDRs`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part {
            "cidr" => made.push_str("CIDR"),
            "cidrs" => made.push_str("CIDRs"),
            "id" => made.push_str("ID"),
            "uuid" => made.push_str("UUID"),
            part => {
                let mut letters = part.chars();
                made.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                made.push_str(letters.as_str());
            }
        }
    }
    made
}

async fn list(
    cluster: &Cluster,
    kind: &str,
    query: &[(&str, String)],
    call: Call<'_>,
) -> Result<Vec<Json>, Vec<Issue>> {
    let summary = format!("Cannot list objects of kind {kind}");
    let failed = |error| vec![failed(Path::root(), &summary, &error)];
    let Lookup::Served(kind) = cluster.kind("v1", kind, call).await.map_err(failed)? else {
        return Err(vec![Issue::error(Path::root(), summary, "The API server does not serve it.")]);
    };
    match cluster.list(&kind, None, query, call).await.map_err(failed)? {
        Ok(items) => Ok(items),
        Err(status) => Err(vec![Issue::error(Path::root(), summary.clone(), sentence(&status.message))]),
    }
}

fn text(live: &Json, pointer: &str) -> String {
    live.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn with(config: &Value, name: &str, value: Value) -> Value {
    Path::root().attr(name).set(config, value).unwrap_or_else(|| config.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_spelled_as_the_api_does() {
        for (name, expected) in [
            ("name", "name"),
            ("resource_version", "resourceVersion"),
            ("pod_cidrs", "podCIDRs"),
            ("provider_id", "providerID"),
            ("system_uuid", "systemUUID"),
            ("os_image", "osImage"),
        ] {
            assert_eq!(camel(name), expected);
        }
    }

    #[test]
    fn objects_are_lists_of_one() {
        let ty = Type::list(Type::object([("pod_cidr", Type::String), ("unschedulable", Type::Bool)]));
        let spec = shaped(Some(&json!({"podCIDR": "10.0.0.0/24"})), &ty);
        let expected = Value::object([("pod_cidr", "10.0.0.0/24".into()), ("unschedulable", false.into())]);
        assert_eq!(spec.as_sequence().unwrap(), [expected]);
        assert_eq!(shaped(None, &ty).as_sequence().unwrap(), []);
    }
}
