//! Values.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

use crate::{Number, Type, Unknown};

/// What must not happen to a value. Two flags; marks of parts are on the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Marks {
    /// Never shown.
    pub sensitive: bool,
    /// Never stored.
    pub ephemeral: bool,
}

impl Marks {
    /// No mark.
    pub const NONE: Self = Self { sensitive: false, ephemeral: false };
    /// Never shown.
    pub const SENSITIVE: Self = Self { sensitive: true, ephemeral: false };
    /// Never stored.
    pub const EPHEMERAL: Self = Self { sensitive: false, ephemeral: true };

    /// Both sets of marks.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { sensitive: self.sensitive | other.sensitive, ephemeral: self.ephemeral | other.ephemeral }
    }

    /// No mark at all?
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// A value with its marks. Cheap to clone: collections are shared.
///
/// `==` and the order are structural: types and marks count, the origin of an unknown does not. The language's own `==`
/// is another question with another answer (it may be unknown).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// What must not happen to it.
    pub marks: Marks,
}

/// What a value is, without its own marks (parts keep theirs).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Data {
    /// Null of a type.
    Null(Type),
    /// Not known yet.
    Unknown(Arc<Unknown>),
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Text in Unicode normalisation form C.
    String(Arc<str>),
    /// Element type, elements.
    List(Type, Arc<[Value]>),
    /// Element type, elements. Invariant: distinct, in cty's order (by the bytes of each element's textual key).
    Set(Type, Arc<[Value]>),
    /// Element type, elements by name.
    Map(Type, Arc<BTreeMap<Arc<str>, Value>>),
    /// Elements.
    Tuple(Arc<[Value]>),
    /// Attributes by name.
    Object(Arc<BTreeMap<Arc<str>, Value>>),
}
