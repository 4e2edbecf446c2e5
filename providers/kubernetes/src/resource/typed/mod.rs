//! Resource types with HashiCorp's schemas. Configurations and states that were made for HashiCorp's provider go on with
//! these; what differs is in `docs/differences.md`.
//!
//! A type is a table of [`field`]s in [`kind`]: its schema, what is sent, what is read back, what is compared and what makes
//! another object all follow from it. Labels, annotations and keys that the configuration does not name belong to
//! others, and are neither read nor changed. `resource_version` and `generation` are those of the last apply, since others
//! change them all the time.

mod apply;
mod body;
mod check;
pub(crate) mod data;
mod equal;
mod field;
mod import;
mod kind;
mod merge;
mod metadata;
mod name;
mod part;
mod plan;
mod read;
mod schema;
mod send;
mod wait;

use engine_model::schema::Schema;
use engine_value::Value;
use providers_api::{
    Applied, ApplyRequest, Call, Imported, Issue, Outcome, PlanRequest, Planned, ProviderError, ReadObject,
};
use serde_json::Value as Json;

use crate::{
    cluster::Cluster,
    object::key::ObjectKey,
    resource::object::{Desired, plan::Around},
};
use kind::Kind;
use part::Part;

/// A resource type of this family.
#[derive(Clone, Copy)]
pub(crate) enum Typed {
    /// It makes objects.
    Object(&'static Kind),
    /// It looks after a part of an object that others have made.
    Part(&'static Part),
}

impl Typed {
    /// The type of this name; `None`: it is none of these.
    pub(crate) fn of(ty: &str) -> Option<Self> {
        kind::of(ty).map(Self::Object).or_else(|| part::of(ty).map(Self::Part))
    }

    /// Every type with its schema.
    pub(crate) fn schemas() -> impl Iterator<Item = (&'static str, Schema)> {
        let objects = kind::KINDS.iter().flat_map(|kind| kind.types.iter().map(|ty| (*ty, schema::of(kind))));
        objects.chain(part::schemas())
    }

    /// Does the object end with the resource?
    pub(crate) fn makes_object(self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// What is wrong with a block. Unknown values are not checked.
    pub(crate) fn validate(self, config: &Value) -> Vec<Issue> {
        match self {
            Self::Object(kind) => check::check(kind, config),
            Self::Part(part) => part::validate(part, config),
        }
    }

    /// The same where no cluster can be asked: by the schema of the kind.
    pub(crate) fn validate_alone(self, config: &Value) -> Vec<Issue> {
        match self {
            Self::Object(kind) => plan::validate_alone(kind, config),
            Self::Part(_) => Vec::new(),
        }
    }

    /// The object that a block wants; `None`: it wants only a part of one.
    pub(crate) fn desired(self, object: &Value) -> Option<Desired> {
        match self {
            Self::Object(kind) => Some(body::desired(kind, object)),
            Self::Part(_) => None,
        }
    }

    /// What names an object of the state.
    pub(crate) fn key_of(self, object: &Value) -> Option<ObjectKey> {
        match self {
            Self::Object(kind) => name::key_of(kind, object),
            Self::Part(part) => part::key_of(part, object),
        }
    }

    /// An object of the state as it is now.
    pub(crate) fn refreshed(self, stored: Value, live: &Json) -> ReadObject {
        match self {
            Self::Object(kind) => body::refreshed(kind, stored, live),
            Self::Part(part) => part::refreshed(part, stored, live),
        }
    }

    /// Plans one object. See the crate's contract.
    pub(crate) async fn plan(
        self,
        cluster: &Cluster,
        request: PlanRequest,
        around: &Around,
        call: Call<'_>,
    ) -> Result<Planned, Vec<Issue>> {
        if request.config.is_null() {
            return Ok(Planned::object(request.config));
        }
        match self {
            Self::Object(kind) => plan::plan(cluster, kind, request, around, call).await,
            Self::Part(part) => part::plan(cluster, part, request, call).await,
        }
    }

    /// Carries out one change. See the crate's contract.
    pub(crate) async fn apply(self, cluster: &Cluster, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        match self {
            Self::Object(kind) => apply::apply(cluster, kind, request, call).await,
            Self::Part(part) => part::apply(cluster, part, request, call).await,
        }
    }

    /// Finds an object by HashiCorp's identifier.
    pub(crate) async fn import(
        self,
        cluster: &Cluster,
        ty: &str,
        id: &str,
        call: Call<'_>,
    ) -> Result<Imported, ProviderError> {
        match self {
            Self::Object(kind) => import::import(cluster, kind, ty, id, call).await,
            Self::Part(_) => Err(ProviderError::permanent(format!("a {ty} cannot be imported"))
                .hint("Write its block and apply: it takes over what is there with the same value.")),
        }
    }
}
