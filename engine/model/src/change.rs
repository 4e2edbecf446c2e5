//! What happens to one object, to one output.

use engine_value::{Path, Value};
use serde::{Deserialize, Serialize};

use crate::{
    address::{Ancestor, DeposedKey, ProviderConfigAddr, ResourceAddr},
    reason::Reason,
};

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// It comes to be.
    Create,
    /// A data source is read during apply.
    Read,
    /// It is changed in place.
    Update,
    /// It is destroyed and created anew.
    Replace(ReplaceOrder),
    /// It is destroyed.
    Delete,
    /// It leaves the state and stays in the world.
    Forget,
}

/// Which half of a replacement comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReplaceOrder {
    /// The old object goes first.
    DestroyThenCreate,
    /// `create_before_destroy`.
    CreateThenDestroy,
}

impl Action {
    /// Terraform's `actions` in plan JSON.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Read => &["read"],
            Self::Update => &["update"],
            Self::Replace(ReplaceOrder::DestroyThenCreate) => &["delete", "create"],
            Self::Replace(ReplaceOrder::CreateThenDestroy) => &["create", "delete"],
            Self::Delete => &["delete"],
            Self::Forget => &["forget"],
        }
    }

    /// Is the old object destroyed and a new one made?
    pub fn is_replace(self) -> bool {
        matches!(self, Self::Replace(_))
    }
}

/// What happens to one object of the state or the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// Its address.
    pub addr: ResourceAddr,
    /// Its address in the state, where that is another.
    pub previous: Option<ResourceAddr>,
    /// Set where it is an object that was replaced earlier and is still to be destroyed.
    pub deposed: Option<DeposedKey>,
    /// Who carries it out.
    pub provider: ProviderConfigAddr,
    /// What happens.
    pub action: Action,
    /// Why; `None` only for [`Action::NoOp`].
    pub reason: Option<Reason>,
    /// The object now, as it was read; null where there is none.
    pub before: Value,
    /// The object afterwards, with unknown values; null where there will be none.
    pub after: Value,
    /// The configuration that this was planned from, with unknown values; null for deletions.
    pub config: Value,
    /// What the provider wants to see again when it applies this.
    #[serde(with = "crate::plan::base64")]
    pub private: Vec<u8>,
    /// Paths that cannot be changed in place.
    pub replace_paths: Vec<Path>,
    /// Version of the schema of `before` and `after`.
    pub schema_version: u64,
    /// Set where the plan could not be verified against the world, and why.
    pub unverified: Option<String>,
    /// Is the new object made before the old one is destroyed? Also true where a dependant asked for it.
    pub create_before_destroy: bool,
    /// What it needs: the nearest ancestors that have instances, ascending. The state keeps them.
    pub dependencies: Vec<Ancestor>,
}

/// An object of the state that is no longer as it was left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceDrift {
    /// Its address.
    pub addr: ResourceAddr,
    /// Who read it.
    pub provider: ProviderConfigAddr,
    /// As the state has it.
    pub before: Value,
    /// As it is; null where it is gone.
    pub after: Value,
    /// What drifted, in the provider's words, for people: "gpu-01 card 0: 1g.10gb at 4 is gone".
    pub notes: Vec<String>,
}

/// What happens to one output of the root module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputChange {
    /// [`Action::NoOp`], [`Action::Create`], [`Action::Update`] or [`Action::Delete`].
    pub action: Action,
    /// As the state has it; null where it has none.
    pub before: Value,
    /// As it will be, with unknown values; null where there will be none.
    pub after: Value,
    /// Never shown.
    pub sensitive: bool,
}
