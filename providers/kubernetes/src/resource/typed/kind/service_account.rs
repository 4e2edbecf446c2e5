//! `kubernetes_service_account`.

use std::time::Duration;

use super::Kind;
use crate::resource::typed::{
    field::{Field, Holds},
    metadata,
};

const NAMED: &[Field] = &[Field::new("name", "name", Holds::Text, "The name of a Secret in the same namespace.")];

const FIELDS: &[Field] = &[
    Field::new(
        "automount_service_account_token",
        "automountServiceAccountToken",
        Holds::Bool,
        "Whether its pods get a token of it.",
    )
    .or_bool(true),
    Field::new(
        "default_secret_name",
        "",
        Holds::Text,
        "Always empty: Kubernetes makes no tokens by itself since version 1.24.",
    )
    .computed(),
    Field::new("image_pull_secret", "imagePullSecrets", Holds::SetOf(NAMED), "A Secret for pulling images."),
    metadata::OF_NAMESPACE,
    Field::new("secret", "secrets", Holds::SetOf(NAMED), "A Secret that its pods may use."),
];

/// `kubernetes_service_account`.
pub(super) const KIND: Kind = Kind {
    // Nothing is waited for; the block is there for modules that set it.
    timeouts: &[("create", Duration::from_secs(30))],
    ..Kind::new(
        &["kubernetes_service_account", "kubernetes_service_account_v1"],
        "v1",
        "ServiceAccount",
        FIELDS,
        "An identity for pods.",
    )
};
