//! The types whose objects are made here, one file each: HashiCorp's two names for it, the kind of the API, its fields.

mod config_map;
mod limit_range;
mod namespace;
mod priority_class;
mod resource_quota;
mod role;
mod role_binding;
pub(super) mod secret;
mod service_account;

use std::time::Duration;

use engine_value::{Path, Value};
use providers_api::Issue;

use super::field::Field;
use crate::resource::duration;

/// For what has no entry of its own in `timeouts`: nothing but a finalizer keeps such an object longer.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// A type whose objects are made here.
pub(crate) struct Kind {
    /// HashiCorp's names for it; each has the same schema.
    pub(super) types: &'static [&'static str],
    /// `v1`.
    pub(super) api_version: &'static str,
    /// `ConfigMap`.
    pub(super) kind: &'static str,
    /// Does it lie in a namespace?
    pub(super) namespaced: bool,
    /// Everything that it has but `id` and `timeouts`.
    pub(super) fields: &'static [Field],
    /// What its `timeouts` block has, with HashiCorp's defaults.
    pub(super) timeouts: &'static [(&'static str, Duration)],
    /// For the reference documentation.
    pub(super) description: &'static str,
    /// How its names may be spelled.
    pub(super) names: Names,
    /// What is wrong with a block beyond what its fields say. Unknown values are not checked.
    pub(super) check: fn(&Value) -> Vec<Issue>,
    /// What makes another object of it beyond what its fields say, from what it is, what it will be, and what of that
    /// is a change.
    pub(super) replaced: fn(&Value, &[Path]) -> Vec<Path>,
    /// Fields that somebody else fills, given what a block or an object says: neither sent nor compared.
    pub(super) left_alone: fn(&Value) -> &'static [&'static str],
    /// What is waited for after it was applied.
    pub(super) wait: Wait,
}

/// How names may be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Labels of RFC 1123: of namespaces.
    Label,
    /// Names of RFC 1123: of most objects.
    Subdomain,
    /// A part of a path: of roles and bindings.
    PathSegment,
}

/// What is waited for after an object was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing.
    Nothing,
    /// The namespace's account `default`, where the block asks for it.
    DefaultAccount,
    /// The token of a Secret for a service account.
    Token,
    /// The quota's status is of its specification.
    Counted,
}

impl Kind {
    /// Its default, or what a `timeouts` block says.
    pub(super) fn timeout(&self, object: &Value, name: &str) -> Duration {
        let default = self.timeouts.iter().find(|(known, _)| *known == name).map_or(TIMEOUT, |(_, default)| *default);
        duration::timeout(object.get("timeouts"), name, default)
    }

    /// One that has nothing special.
    const fn new(
        types: &'static [&'static str],
        api_version: &'static str,
        kind: &'static str,
        fields: &'static [Field],
        description: &'static str,
    ) -> Self {
        Self {
            types,
            api_version,
            kind,
            namespaced: true,
            fields,
            timeouts: &[],
            description,
            names: Names::Subdomain,
            check: |_| Vec::new(),
            replaced: |_, _| Vec::new(),
            left_alone: |_| &[],
            wait: Wait::Nothing,
        }
    }
}

/// All of them.
pub(super) const KINDS: &[&Kind] = &[
    &config_map::KIND,
    &limit_range::KIND,
    &namespace::KIND,
    &priority_class::KIND,
    &resource_quota::KIND,
    &role::KIND,
    &role::CLUSTER_KIND,
    &role_binding::KIND,
    &role_binding::CLUSTER_KIND,
    &secret::KIND,
    &service_account::KIND,
];

/// The kind of a type.
pub(super) fn of(ty: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.types.contains(&ty)).copied()
}
