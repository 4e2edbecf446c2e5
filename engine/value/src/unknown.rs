//! Values that are not known yet, and what is known of them all the same.

use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::Arc,
};

use unicode_normalization::char::is_combining_mark;

use crate::{Data, Number, Type, Value, value::normalize};

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

impl Refinements {
    /// Nothing but that it is not null.
    pub fn not_null() -> Self {
        Self { not_null: true, ..Self::default() }
    }

    /// A string, not null, that begins with this text and goes on in an unknown way.
    pub fn begins_with(text: &str) -> Self {
        let text = normalize(text);
        let safe = safe_prefix(&text);
        Self { prefix: (!safe.is_empty()).then(|| Arc::from(safe)), ..Self::not_null() }
    }

    /// A collection, not null, whose length lies between these.
    pub fn length(min: usize, max: Option<usize>) -> Self {
        Self { min_length: Some(min), max_length: max, ..Self::not_null() }
    }

    /// A number, not null, that is not below this.
    pub fn at_least(min: impl Into<Number>) -> Self {
        Self { min: Some((min.into(), true)), ..Self::not_null() }
    }

    /// What is known of a value that is one of two: what both have in common.
    #[must_use]
    pub fn either(&self, other: &Self) -> Self {
        fn bound<T: Clone>(a: &Option<T>, b: &Option<T>, pick: impl Fn(&T, &T) -> bool) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(if pick(a, b) { a.clone() } else { b.clone() }),
                _ => None,
            }
        }
        let prefix = match (&self.prefix, &other.prefix) {
            (Some(a), Some(b)) => {
                let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
                let common: usize = common;
                (common > 0).then(|| Arc::from(&a[..common]))
            }
            _ => None,
        };
        Self {
            not_null: self.not_null && other.not_null,
            prefix,
            min: bound(&self.min, &other.min, |a, b| a.0 < b.0 || a.0 == b.0 && a.1),
            max: bound(&self.max, &other.max, |a, b| a.0 > b.0 || a.0 == b.0 && a.1),
            min_length: bound(&self.min_length, &other.min_length, |a, b| a < b),
            max_length: bound(&self.max_length, &other.max_length, |a, b| a > b),
        }
    }

    /// What is known of a value that the language has already seen: the same in words of refinements.
    pub fn of(value: &Value) -> Self {
        let known = Self::not_null();
        match &value.data {
            Data::Null(_) => Self::default(),
            Data::Unknown(unknown) => unknown.refinements.clone(),
            Data::Number(number) => {
                Self { min: Some((number.clone(), true)), max: Some((number.clone(), true)), ..known }
            }
            Data::String(text) => Self { prefix: Some(Arc::clone(text)), ..known },
            Data::List(_, elements) => {
                Self { min_length: Some(elements.len()), max_length: Some(elements.len()), ..known }
            }
            Data::Map(_, elements) => {
                Self { min_length: Some(elements.len()), max_length: Some(elements.len()), ..known }
            }
            Data::Set(_, elements) => {
                // Unknown elements may turn out to be equal to others.
                let unknown = elements.iter().filter(|e| e.has_unknown()).count();
                let least = (elements.len() - unknown).max(usize::from(!elements.is_empty()));
                Self { min_length: Some(least), max_length: Some(elements.len()), ..known }
            }
            Data::Bool(_) | Data::Tuple(_) | Data::Object(_) => known,
        }
    }
}

impl Unknown {
    /// An unknown value of a type that will not be null.
    pub fn never_null(ty: Type) -> Self {
        Self { ty, refinements: Refinements::not_null(), origin: None }
    }

    /// The same, waiting for that.
    #[must_use]
    pub fn from_origin(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    /// The value; known if only one is possible.
    pub(crate) fn into_value(mut self) -> Value {
        let refinements = &mut self.refinements;
        if refinements.min_length == Some(0) {
            refinements.min_length = None;
        }
        if refinements.not_null {
            match (&self.ty, refinements.max_length) {
                (Type::List(element), Some(0)) => return Value::list(element.as_ref().clone(), Vec::new()),
                (Type::Set(element), Some(0)) => return Value::set(element.as_ref().clone(), Vec::new()),
                (Type::Map(element), Some(0)) => {
                    return Value::map(element.as_ref().clone(), std::iter::empty::<(&str, Value)>());
                }
                _ => {}
            }
            // The elements of a list whose length is known are there, only not known themselves; up to a length that no
            // configuration has by hand.
            const LONGEST: usize = 1024;
            if let (Type::List(element), Some(length)) = (&self.ty, refinements.max_length)
                && refinements.min_length == Some(length)
                && length <= LONGEST
            {
                let element =
                    Unknown { ty: element.as_ref().clone(), refinements: Refinements::default(), origin: self.origin };
                let elements = vec![Value::from(Data::Unknown(Arc::new(element.clone()))); length];
                return Value::list(element.ty, elements);
            }
            if let (Type::Number, Some((min, true)), Some((max, true))) = (&self.ty, &refinements.min, &refinements.max)
                && min == max
            {
                return Value::number(min.clone());
            }
        }
        Data::Unknown(Arc::new(self)).into()
    }
}

/// The part of a text that stays as it is whatever follows.
///
/// A combining mark may follow and, in normalisation form C, make another character of the last one; so that one is
/// dropped, unless it is one of those at which names are usually cut and with which nothing composes.
fn safe_prefix(text: &str) -> &str {
    const NEVER_COMPOSES: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";
    if text.ends_with(|last| NEVER_COMPOSES.contains(last)) {
        return text;
    }
    let without_marks = text.trim_end_matches(is_combining_mark);
    match without_marks.char_indices().next_back() {
        Some((at, _)) => &text[..at],
        None => "",
    }
}
