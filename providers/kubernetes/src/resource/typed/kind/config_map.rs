//! `kubernetes_config_map`.

use engine_value::{Path, Value};

use super::Kind;
use crate::resource::typed::{
    check::base64_texts,
    field::{Field, Holds},
    metadata,
};

const FIELDS: &[Field] = &[
    metadata::OF_NAMESPACE,
    Field::new("binary_data", "binaryData", Holds::Texts, "Content that is not text, in base64, by name."),
    Field::new("data", "data", Holds::Texts, "Texts by name. Those of others are left alone."),
    IMMUTABLE,
];

/// May its content never change?
pub(super) const IMMUTABLE: Field = Field::new(
    "immutable",
    "immutable",
    Holds::Bool,
    "Whether its content can never be changed: a change makes another object.",
);

/// `kubernetes_config_map`.
pub(super) const KIND: Kind = Kind {
    check: |config| base64_texts(config, "binary_data"),
    replaced: content_of_immutable,
    ..Kind::new(
        &["kubernetes_config_map", "kubernetes_config_map_v1"],
        "v1",
        "ConfigMap",
        FIELDS,
        "A map of texts for pods to read.",
    )
};

/// Of the changes of an immutable object those that it does not allow.
pub(super) fn content_of_immutable(prior: &Value, changed: &[Path]) -> Vec<Path> {
    if prior.get("immutable").and_then(Value::as_bool) != Some(true) {
        return Vec::new();
    }
    let content = ["data", "binary_data", "data_wo_revision", "binary_data_wo_revision", "immutable"]
        .map(|name| Path::root().attr(name));
    changed.iter().filter(|path| content.contains(path)).cloned().collect()
}
