//! One object of the API, as a resource type wants it: planned, applied, read. Every resource type is a conversion between
//! its schema and a body, and this.
//!
//! Nothing here knows a schema of the language: bodies are as the API has them, and [`Places`] tells where a field of one
//! stands in a block.

pub(crate) mod announced;
pub(crate) mod apply;
mod ask;
pub(crate) mod invalid;
pub(crate) mod plan;
pub(crate) mod read;

use engine_value::{Data, Path, Value};
use serde_json::Value as Json;

use crate::{
    cluster::FieldManager,
    object::{body::normalized, convert::to_json, key::ObjectKey, place::place},
};

/// From the place of a field in a body (`spec.replicas`) to its place in the block that says it.
pub(crate) type Places<'a> = &'a (dyn Fn(&Path) -> Path + Send + Sync);

/// What is kept with a planned change that the API server was not asked about: apply asks before it writes.
pub(crate) const UNVERIFIED: &[u8] = b"unverified";

/// What happens to fields that other managers own with other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflicts {
    /// The plan is refused.
    Refused,
    /// They are taken.
    Taken,
    /// They are taken, and the plan says from whom: for types without a way to ask for it.
    TakenAndTold,
}

/// An object as a resource wants it to be.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    /// What is sent, without nulls; parts may be unknown.
    pub(crate) body: Value,
    /// The same as JSON, where all of it is known.
    pub(crate) json: Option<Json>,
    /// Under which name its fields are owned.
    pub(crate) manager: String,
    /// What happens to fields that others own.
    pub(crate) conflicts: Conflicts,
    /// Fields that are applied, but neither compared nor exported, as names of nested fields.
    pub(crate) left_out: Vec<Vec<String>>,
}

impl Desired {
    /// An object with this body, in which nulls say nothing.
    pub(crate) fn new(body: Value, manager: impl Into<String>, conflicts: Conflicts) -> Self {
        let body = normalized(body);
        let json = to_json(&body).ok().flatten().filter(Json::is_object);
        Self { body, json, manager: manager.into(), conflicts, left_out: Vec::new() }
    }

    /// What names the object, where that is known.
    pub(crate) fn key(&self) -> Option<ObjectKey> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let metadata = self.body.get("metadata")?;
        let namespace = metadata.get("namespace");
        if namespace.is_some_and(|namespace| !namespace.is_known()) {
            return None;
        }
        Some(ObjectKey {
            api_version: text(self.body.get("apiVersion"))?,
            kind: text(self.body.get("kind"))?,
            namespace: text(namespace).filter(|namespace| !namespace.is_empty()),
            name: text(metadata.get("name"))?,
        })
    }

    /// Group version and kind, where they are known.
    pub(crate) fn kind(&self) -> Option<(&str, &str)> {
        Some((self.body.get("apiVersion")?.as_str()?, self.body.get("kind")?.as_str()?))
    }

    /// Who applies it.
    fn manager(&self) -> FieldManager {
        FieldManager { name: self.manager.clone(), force: self.conflicts != Conflicts::Refused }
    }

    /// The place of a field, as the API server names it, in the body; where the body has no such field, the nearest place
    /// around it that it has.
    fn place(&self, field: &str) -> Path {
        self.json.as_ref().map_or_else(Path::root, |json| place(field, json))
    }
}

/// Is it null, or empty but for nulls? Then a live object does not have it either.
fn says_nothing(value: &Value) -> bool {
    match &value.data {
        Data::Null(_) => true,
        Data::Object(parts) | Data::Map(_, parts) => parts.values().all(Value::is_null),
        Data::List(_, parts) | Data::Set(_, parts) | Data::Tuple(parts) => parts.is_empty(),
        _ => false,
    }
}
