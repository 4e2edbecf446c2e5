//! `kubernetes_priority_class`.

use super::Kind;
use crate::resource::typed::{
    field::{Field, Holds},
    metadata,
};

const FIELDS: &[Field] = &[
    metadata::OF_CLUSTER,
    Field::new("description", "description", Holds::Text, "When it should be used.").or_text(""),
    Field::new(
        "global_default",
        "globalDefault",
        Holds::Bool,
        "Whether pods that name no class have this one. Only one class may.",
    )
    .or_bool(false),
    Field::new(
        "preemption_policy",
        "preemptionPolicy",
        Holds::Text,
        "Whether pods of it push out others of lower priority. Cannot be changed.",
    )
    .or_text("PreemptLowerPriority")
    .allowed(&["Never", "PreemptLowerPriority"])
    .replaces(),
    Field::new("value", "value", Holds::Int, "The priority of its pods. Cannot be changed.").required().replaces(),
];

/// `kubernetes_priority_class`.
pub(super) const KIND: Kind = Kind {
    namespaced: false,
    ..Kind::new(
        &["kubernetes_priority_class", "kubernetes_priority_class_v1"],
        "scheduling.k8s.io/v1",
        "PriorityClass",
        FIELDS,
        "A priority of pods, by name.",
    )
};
