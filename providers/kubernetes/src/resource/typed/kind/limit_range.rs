//! `kubernetes_limit_range`.

use super::Kind;
use crate::resource::typed::{
    field::{Field, Holds, Presence},
    metadata,
};

const LIMIT: &[Field] = &[
    Field::new("default", "default", Holds::Quantities, "The limit of what names none."),
    Field::new("default_request", "defaultRequest", Holds::Quantities, "The request of what names none.")
        .optional_computed(),
    Field::new("max", "max", Holds::Quantities, "The most."),
    Field::new(
        "max_limit_request_ratio",
        "maxLimitRequestRatio",
        Holds::Quantities,
        "The most that a limit may be of its request.",
    ),
    Field::new("min", "min", Holds::Quantities, "The least."),
    Field::new("type", "type", Holds::Text, "What it applies to: `Container`, `Pod`, `PersistentVolumeClaim`."),
];

const SPEC: &[Field] =
    &[Field::new("limit", "limits", Holds::Many(LIMIT, Presence::Optional), "The limits of one kind of object.")];

const FIELDS: &[Field] =
    &[metadata::OF_NAMESPACE, Field::new("spec", "spec", Holds::One(SPEC, Presence::Optional), "What is limited.")];

/// `kubernetes_limit_range`.
pub(super) const KIND: Kind = Kind::new(
    &["kubernetes_limit_range", "kubernetes_limit_range_v1"],
    "v1",
    "LimitRange",
    FIELDS,
    "What single objects of a namespace may use.",
);
