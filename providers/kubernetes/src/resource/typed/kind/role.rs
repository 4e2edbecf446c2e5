//! `kubernetes_role` and `kubernetes_cluster_role`.

use engine_value::Value;

use super::{Kind, Names};
use crate::resource::typed::{
    field::{Field, Holds, Presence},
    metadata,
};

const RULE: &[Field] = &[
    Field::new("api_groups", "apiGroups", Holds::Set, "The groups of the resources; `\"\"` is the core group.")
        .required(),
    Field::new("resource_names", "resourceNames", Holds::Set, "Only objects of these names."),
    Field::new("resources", "resources", Holds::Set, "The resources: `pods`, `pods/log`, `*`.").required(),
    Field::new("verbs", "verbs", Holds::Set, "What is allowed: `get`, `list`, `*`.").required(),
];

const FIELDS: &[Field] =
    &[metadata::OF_NAMESPACE, Field::new("rule", "rules", Holds::Many(RULE, Presence::Required), "What is allowed.")];

/// `kubernetes_role`.
pub(super) const KIND: Kind = Kind {
    names: Names::PathSegment,
    ..Kind::new(
        &["kubernetes_role", "kubernetes_role_v1"],
        "rbac.authorization.k8s.io/v1",
        "Role",
        FIELDS,
        "What is allowed in a namespace.",
    )
};

const CLUSTER_RULE: &[Field] = &[
    Field::new("api_groups", "apiGroups", Holds::List, "The groups of the resources; `\"\"` is the core group."),
    Field::new("non_resource_urls", "nonResourceURLs", Holds::List, "Paths that are no resources: `/healthz`."),
    Field::new("resource_names", "resourceNames", Holds::List, "Only objects of these names."),
    Field::new("resources", "resources", Holds::List, "The resources: `pods`, `pods/log`, `*`."),
    Field::new("verbs", "verbs", Holds::List, "What is allowed: `get`, `list`, `*`.").required(),
];

const EXPRESSION: &[Field] = &[
    Field::new("key", "key", Holds::Text, "The label."),
    Field::new("operator", "operator", Holds::Text, "How the label relates to the values.").allowed(&[
        "In",
        "NotIn",
        "Exists",
        "DoesNotExist",
    ]),
    Field::new("values", "values", Holds::Set, "The values."),
];

const SELECTOR: &[Field] = &[
    Field::new("match_expressions", "matchExpressions", Holds::Many(EXPRESSION, Presence::Optional), "One condition."),
    Field::new("match_labels", "matchLabels", Holds::Texts, "Labels that must be there."),
];

const AGGREGATION: &[Field] = &[Field::new(
    "cluster_role_selectors",
    "clusterRoleSelectors",
    Holds::Many(SELECTOR, Presence::Optional),
    "The rules of all cluster roles with these labels are its rules.",
)];

const CLUSTER_FIELDS: &[Field] = &[
    Field::new(
        "aggregation_rule",
        "aggregationRule",
        Holds::One(AGGREGATION, Presence::Optional),
        "Take the rules from other cluster roles: Kubernetes fills them in.",
    ),
    metadata::OF_CLUSTER,
    Field::new("rule", "rules", Holds::Many(CLUSTER_RULE, Presence::Optional), "What is allowed."),
];

/// `kubernetes_cluster_role`.
pub(super) const CLUSTER_KIND: Kind = Kind {
    namespaced: false,
    names: Names::PathSegment,
    left_alone: aggregated,
    ..Kind::new(
        &["kubernetes_cluster_role", "kubernetes_cluster_role_v1"],
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        CLUSTER_FIELDS,
        "What is allowed in every namespace, and outside of them.",
    )
};

/// The rules of a role that takes them from others are Kubernetes'.
fn aggregated(object: &Value) -> &'static [&'static str] {
    let rule = object.get("aggregation_rule").and_then(Value::as_sequence).unwrap_or_default();
    if rule.is_empty() { &[] } else { &["rule"] }
}
