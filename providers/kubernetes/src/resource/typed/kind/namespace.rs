//! `kubernetes_namespace`.

use std::time::Duration;

use super::{Kind, Names, Wait};
use crate::resource::typed::{
    field::{Field, Holds},
    metadata,
};

const FIELDS: &[Field] = &[
    metadata::OF_CLUSTER,
    Field::new(
        "wait_for_default_service_account",
        "",
        Holds::Bool,
        "Wait until pods can start there without naming an account.",
    )
    .or_bool(false),
];

/// `kubernetes_namespace`.
pub(super) const KIND: Kind = Kind {
    namespaced: false,
    timeouts: &[("delete", Duration::from_secs(5 * 60))],
    names: Names::Label,
    wait: Wait::DefaultAccount,
    ..Kind::new(&["kubernetes_namespace", "kubernetes_namespace_v1"], "v1", "Namespace", FIELDS, "A namespace.")
};
