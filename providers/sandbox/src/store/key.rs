//! Names of stored objects and of moments in the store's history.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The place of one object: resource (`pods`, `gpunodes.sliceform.io`), namespace and name.
///
/// Keys sort by resource, then namespace, then name; so one resource, and one namespace of it, is a contiguous range.
/// The namespace of a cluster-scoped object is empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The plural name, with `.group` for all groups but the core group.
    pub resource: Arc<str>,
    /// Empty for cluster-scoped objects.
    pub namespace: Arc<str>,
    /// The object's name.
    pub name: Arc<str>,
}

impl Key {
    /// The key of `name` in `namespace` (empty for cluster-scoped resources).
    pub fn new(resource: &str, namespace: &str, name: &str) -> Key {
        Key { resource: resource.into(), namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_ref() {
            "" => write!(f, "{}/{}", self.resource, self.name),
            namespace => write!(f, "{}/{namespace}/{}", self.resource, self.name),
        }
    }
}

/// A moment of the store's logical clock: it grows by one with every written object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl Revision {
    /// The next moment.
    pub fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
