//! The `Table` form of objects, which `kubectl get` asks for.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::cell;
use super::resource::Resource;

/// How much of each object a row carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Include {
    None,
    Metadata,
    Object,
}

/// Rows for objects, in order. `metadata` is that of the list (or of the one object).
pub(super) fn table(
    resource: &Resource,
    objects: &[Arc<Value>],
    metadata: Value,
    include: Include,
    now: Timestamp,
) -> Value {
    let columns: Vec<Value> = resource
        .columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name, "type": column.kind, "format": column.format,
                "description": column.description, "priority": column.priority,
            })
        })
        .collect();
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| {
            let cells: Vec<Value> = resource.columns.iter().map(|column| cell(column, object, now)).collect();
            match include {
                Include::None => json!({"cells": cells}),
                Include::Metadata => json!({"cells": cells, "object": partial(object)}),
                Include::Object => json!({"cells": cells, "object": **object}),
            }
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": columns, "rows": rows,
    })
}

/// An object's metadata alone.
pub(super) fn partial(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object.get("metadata")})
}
