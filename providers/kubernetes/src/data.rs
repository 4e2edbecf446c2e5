//! Data sources: one object, or many, of any kind.

use engine_diag::sentence;
use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue};
use serde_json::Value as Json;

use crate::{
    cluster::{Cluster, discovery::Kind, discovery::Lookup},
    object::{
        convert::{from_json, mark_secret},
        key::ObjectKey,
    },
    resource::issue::failed,
};

/// One object.
pub(crate) const RESOURCE: &str = "kubernetes_resource";
/// Objects by kind, namespace and selectors.
pub(crate) const RESOURCES: &str = "kubernetes_resources";

fn kind_attributes() -> [(&'static str, Attribute); 2] {
    [
        ("api_version", Attribute::new(Type::String, Usage::Required, "`apps/v1`.")),
        ("kind", Attribute::new(Type::String, Usage::Required, "`Deployment`.")),
    ]
}

/// The schema of `kubernetes_resource`.
pub(crate) fn resource_schema() -> Schema {
    let metadata = Block::new(
        [
            ("name", Attribute::new(Type::String, Usage::Required, "Its name.")),
            ("namespace", Attribute::new(Type::String, Usage::Optional, "Its namespace. Default: `default`.")),
        ],
        "What names it.",
    );
    let object = Attribute::new(Type::Dynamic, Usage::Computed, "The object, without `metadata.managedFields`.");
    let block = Block::new(kind_attributes().into_iter().chain([("object", object)]), "Any object.")
        .with_block("metadata", NestedBlock { nesting: Nesting::List, block: metadata, min_items: 1, max_items: 1 });
    Schema { version: 0, block }
}

/// The schema of `kubernetes_resources`.
pub(crate) fn resources_schema() -> Schema {
    let text = |description: &str| Attribute::new(Type::String, Usage::Optional, description);
    let own = [
        ("namespace", text("Only objects of this namespace.")),
        ("label_selector", text("Only objects with these labels: `a=b,c in (d,e)`.")),
        ("field_selector", text("Only objects with these fields: `metadata.name=a`.")),
        ("limit", Attribute::new(Type::Number, Usage::Optional, "At most so many.")),
        ("objects", Attribute::new(Type::Dynamic, Usage::Computed, "The objects, without `metadata.managedFields`.")),
    ];
    Schema { version: 0, block: Block::new(kind_attributes().into_iter().chain(own), "Objects of a kind.") }
}

/// Reads one object. That there is none is an error.
pub(crate) async fn resource(cluster: &Cluster, config: Value, call: Call<'_>) -> Result<Value, Vec<Issue>> {
    let metadata = Path::root().attr("metadata").index(0);
    let text = |path: Path| path.get(&config).and_then(|value| value.as_str().map(str::to_owned));
    let key = ObjectKey {
        api_version: text(Path::root().attr("api_version")).unwrap_or_default(),
        kind: text(Path::root().attr("kind")).unwrap_or_default(),
        namespace: text(metadata.clone().attr("namespace")),
        name: text(metadata.clone().attr("name")).unwrap_or_default(),
    };
    let kind = kind(cluster, &key.api_version, &key.kind, call).await?;
    let live = cluster.get(&kind, &key, call).await;
    let live = live.map_err(|error| vec![failed(Path::root(), &format!("Cannot read {key}"), &error)])?;
    let Some(live) = live else {
        let detail = format!("There is no {key}.");
        let hint = "Check name and namespace; `kubernetes_resources` gives an empty list where there is none.";
        return Err(vec![Issue::error(metadata.attr("name"), "No such object", detail).hint(hint)]);
    };
    Ok(with(&config, "object", object(live)))
}

/// Reads objects by kind, namespace and selectors, in the server's order.
pub(crate) async fn resources(cluster: &Cluster, config: Value, call: Call<'_>) -> Result<Value, Vec<Issue>> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = kind(cluster, &text("api_version"), &text("kind"), call).await?;
    let namespace = text("namespace");
    let mut query = Vec::new();
    for (name, parameter) in [("label_selector", "labelSelector"), ("field_selector", "fieldSelector")] {
        if !text(name).is_empty() {
            query.push((parameter, text(name)));
        }
    }
    let limit = config.get("limit").and_then(Value::as_i64).filter(|limit| *limit > 0);
    query.extend(limit.map(|limit| ("limit", limit.to_string())));
    // A page may be larger than what was asked for, and there may be several.
    let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let namespace = (!namespace.is_empty()).then_some(namespace.as_str());
    let summary = format!("Cannot list {}", kind.plural);
    let listed = cluster.list(&kind, namespace, &query, call).await;
    match listed.map_err(|error| vec![failed(Path::root(), &summary, &error)])? {
        Ok(items) => Ok(with(&config, "objects", Value::tuple(items.into_iter().take(most).map(object)))),
        Err(status) => Err(vec![Issue::error(Path::root(), summary, sentence(&status.message))]),
    }
}

async fn kind(
    cluster: &Cluster,
    api_version: &str,
    kind: &str,
    call: Call<'_>,
) -> Result<std::sync::Arc<Kind>, Vec<Issue>> {
    let lookup = cluster.kind(api_version, kind, call).await;
    match lookup.map_err(|error| vec![failed(Path::root(), "Cannot ask for the kind", &error)])? {
        Lookup::Served(kind) => Ok(kind),
        Lookup::Missing(missing) => {
            let at = Path::root().attr(if missing.version_served { "kind" } else { "api_version" });
            let issue = Issue::error(at, "Unknown kind", sentence(&missing.what()));
            Err(vec![if missing.hint.is_empty() { issue } else { issue.hint(missing.hint) }])
        }
    }
}

fn object(mut live: Json) -> Value {
    if let Some(Json::Object(metadata)) = live.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    mark_secret(from_json(&live))
}

fn with(config: &Value, name: &str, value: Value) -> Value {
    Path::root().attr(name).set(config, value).expect("the object is of the schema's type, which has this attribute")
}
