//! Paths into a value.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::Value;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Attribute of an object.
    Attr(Arc<str>),
    /// Element of a list or tuple.
    Index(usize),
    /// Element of a map.
    Key(Arc<str>),
    /// Element of a set, by the element itself.
    Element(Box<Value>),
}

/// A path into a value; empty is the value itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of an attribute of this.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Arc<str>>) -> Self {
        self.0.push(Step::Attr(name.into()));
        self
    }

    /// The path of an element of this list or tuple.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The path of an element of this map.
    #[must_use]
    pub fn key(mut self, key: impl Into<Arc<str>>) -> Self {
        self.0.push(Step::Key(key.into()));
        self
    }

    /// Does this path lie at or under the other?
    pub fn starts_with(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }
}
