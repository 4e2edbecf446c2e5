//! `kubernetes_role_binding` and `kubernetes_cluster_role_binding`.

use super::{Kind, Names};
use crate::resource::typed::{
    field::{Field, Holds, Presence},
    metadata,
};

const GROUP: &str = "rbac.authorization.k8s.io";

const ROLE_REF: &[Field] = &[
    Field::new("api_group", "apiGroup", Holds::Text, "`rbac.authorization.k8s.io`.")
        .required()
        .allowed(&[GROUP])
        .replaces(),
    Field::new("kind", "kind", Holds::Text, "`Role` or `ClusterRole`.")
        .required()
        .allowed(&["Role", "ClusterRole"])
        .replaces(),
    Field::new("name", "name", Holds::Text, "Its name.").required().replaces(),
];

const SUBJECT: &[Field] = &[
    Field::new("api_group", "apiGroup", Holds::Text, "The group of the kind; Kubernetes knows it.").optional_computed(),
    Field::new("kind", "kind", Holds::Text, "`User`, `Group` or `ServiceAccount`.").required(),
    Field::new("name", "name", Holds::Text, "Who.").required(),
    Field::new("namespace", "namespace", Holds::Text, "The namespace of an account.").or_text("default"),
];

const REF: Field = Field::new(
    "role_ref",
    "roleRef",
    Holds::One(ROLE_REF, Presence::Required),
    "The role that is given. Cannot be changed.",
)
.replaces();
const SUBJECTS: Field =
    Field::new("subject", "subjects", Holds::Many(SUBJECT, Presence::Required), "Whom it is given to.");

const FIELDS: &[Field] = &[metadata::OF_NAMESPACE, REF, SUBJECTS];
const CLUSTER_FIELDS: &[Field] = &[metadata::OF_CLUSTER, REF, SUBJECTS];

/// `kubernetes_role_binding`.
pub(super) const KIND: Kind = Kind {
    names: Names::PathSegment,
    ..Kind::new(
        &["kubernetes_role_binding", "kubernetes_role_binding_v1"],
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        FIELDS,
        "Whom a role is given to in a namespace.",
    )
};

/// `kubernetes_cluster_role_binding`.
pub(super) const CLUSTER_KIND: Kind = Kind {
    namespaced: false,
    names: Names::PathSegment,
    ..Kind::new(
        &["kubernetes_cluster_role_binding", "kubernetes_cluster_role_binding_v1"],
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        CLUSTER_FIELDS,
        "Whom a cluster role is given to everywhere.",
    )
};
