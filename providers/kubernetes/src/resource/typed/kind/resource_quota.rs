//! `kubernetes_resource_quota`.

use std::time::Duration;

use super::{Kind, Wait};
use crate::resource::typed::{
    field::{Field, Holds, Presence},
    metadata,
};

/// The scopes that HashiCorp's provider knows, and those that Kubernetes has got since.
const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

const MATCH_EXPRESSION: &[Field] = &[
    Field::new("operator", "operator", Holds::Text, "How the scope relates to the values.").required().allowed(&[
        "In",
        "NotIn",
        "Exists",
        "DoesNotExist",
    ]),
    Field::new("scope_name", "scopeName", Holds::Text, "The scope.").required().allowed(SCOPES),
    Field::new("values", "values", Holds::Set, "The values."),
];

const SCOPE_SELECTOR: &[Field] = &[Field::new(
    "match_expression",
    "matchExpressions",
    Holds::Many(MATCH_EXPRESSION, Presence::Optional),
    "One condition.",
)];

const SPEC: &[Field] = &[
    Field::new("hard", "hard", Holds::Quantities, "The most of each resource, by its name."),
    Field::new(
        "scope_selector",
        "scopeSelector",
        Holds::One(SCOPE_SELECTOR, Presence::Optional),
        "Count only objects that meet all conditions.",
    ),
    Field::new("scopes", "scopes", Holds::Set, "Count only objects of all these scopes. Cannot be changed.")
        .replaces()
        .allowed(SCOPES),
];

const FIELDS: &[Field] =
    &[metadata::OF_NAMESPACE, Field::new("spec", "spec", Holds::One(SPEC, Presence::Optional), "What is limited.")];

/// `kubernetes_resource_quota`.
pub(super) const KIND: Kind = Kind {
    timeouts: &[("create", Duration::from_secs(60)), ("update", Duration::from_secs(60))],
    wait: Wait::Counted,
    ..Kind::new(
        &["kubernetes_resource_quota", "kubernetes_resource_quota_v1"],
        "v1",
        "ResourceQuota",
        FIELDS,
        "What a namespace may use at most.",
    )
};
