//! What the client wants to read: the `Accept` header.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::resource::Resource;
use super::table::{Include, partial, table};

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The objects themselves.
    Plain,
    /// A table.
    Table(Include),
    /// Metadata only.
    Partial,
}

impl Form {
    /// The first form in the header that is known; plain JSON without one.
    pub(super) fn parse(accept: &str, include: &str) -> Form {
        for part in accept.split(',') {
            let parameter = |name: &str| {
                part.split(';')
                    .filter_map(|parameter| parameter.trim().split_once('='))
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value)
            };
            match (parameter("as"), parameter("v")) {
                (None, _) if part.contains("json") || part.contains("*/*") => return Form::Plain,
                (Some("Table"), Some("v1")) => {
                    return Form::Table(match include {
                        "None" => Include::None,
                        "Object" => Include::Object,
                        _ => Include::Metadata,
                    });
                }
                (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), Some("v1")) => return Form::Partial,
                _ => {}
            }
        }
        Form::Plain
    }

    /// One object.
    pub(super) fn one(self, resource: &Resource, object: &Arc<Value>, now: Timestamp) -> Arc<Value> {
        let object = resource.present(object);
        match self {
            Form::Plain => object,
            Form::Partial => Arc::new(partial(&object)),
            Form::Table(include) => {
                let metadata = json!({"resourceVersion": super::object::resource_version(&object)});
                Arc::new(table(resource, &[object], metadata, include, now))
            }
        }
    }

    /// A list.
    pub(super) fn list(self, resource: &Resource, objects: Vec<Arc<Value>>, metadata: Value, now: Timestamp) -> Value {
        let objects: Vec<Arc<Value>> = objects.iter().map(|object| resource.present(object)).collect();
        match self {
            Form::Table(include) => table(resource, &objects, metadata, include, now),
            Form::Partial => {
                let items: Vec<Value> = objects.iter().map(|object| partial(object)).collect();
                json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items})
            }
            Form::Plain => {
                let items: Vec<Value> = objects
                    .iter()
                    .map(|object| {
                        let mut item = (**object).clone();
                        // Go's typed lists leave out what the list's own type says.
                        if let (Some(map), Some(_)) = (item.as_object_mut(), resource.builtin) {
                            map.remove("apiVersion");
                            map.remove("kind");
                        }
                        item
                    })
                    .collect();
                json!({"kind": resource.list_kind, "apiVersion": resource.api_version(), "metadata": metadata, "items": items})
            }
        }
    }
}
