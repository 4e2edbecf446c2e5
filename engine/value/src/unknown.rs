//! Values that are not known yet, and what is known of them all the same.

use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::{Number, Type};

/// What an unknown value waits for: an index into a table that the plan keeps. Ignored by equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin(pub u32);

/// A value that is not known yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unknown {
    /// Its type; [`Type::Dynamic`] where that is not known either.
    pub ty: Type,
    /// What is known of it.
    pub refinements: Refinements,
    /// What it waits for.
    pub origin: Option<Origin>,
}

/// What is known of an unknown value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Refinements {
    /// It will not be null.
    pub not_null: bool,
    /// A string that will begin so.
    pub prefix: Option<Arc<str>>,
    /// A number that will not be below (value, may it be equal?).
    pub min: Option<(Number, bool)>,
    /// A number that will not be above (value, may it be equal?).
    pub max: Option<(Number, bool)>,
    /// A collection that will have at least so many elements.
    pub min_length: Option<usize>,
    /// A collection that will have at most so many elements.
    pub max_length: Option<usize>,
}

impl Unknown {
    fn comparable(&self) -> (&Type, &Refinements) {
        (&self.ty, &self.refinements)
    }
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Self) -> bool {
        self.comparable() == other.comparable()
    }
}

impl Eq for Unknown {}

impl PartialOrd for Unknown {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Unknown {
    fn cmp(&self, other: &Self) -> Ordering {
        self.comparable().cmp(&other.comparable())
    }
}

impl Hash for Unknown {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.comparable().hash(state);
    }
}
