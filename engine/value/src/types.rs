//! Types, and type constraints with optional attributes.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// The type of a value, or a constraint on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Type {
    /// Any type, decided later (`any`); as the type of an unknown: not known yet.
    Dynamic,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// Text.
    String,
    /// An ordered sequence of values of one type.
    List(Arc<Type>),
    /// Distinct values of one type, in the order of their textual keys.
    Set(Arc<Type>),
    /// Values of one type by name.
    Map(Arc<Type>),
    /// A sequence with a type for each place.
    Tuple(Arc<[Type]>),
    /// Values by name, each of its own type.
    Object(Arc<BTreeMap<Arc<str>, Attr>>),
}

/// An attribute of an object type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attr {
    /// Its type.
    pub ty: Type,
    /// May it be absent? Only in constraints; the type of a value has none. Defaults (`optional(T, default)`) are
    /// kept by the language beside the type, as they are expressions there.
    pub optional: bool,
}

impl Attr {
    /// An attribute that must be there.
    pub fn required(ty: Type) -> Self {
        Self { ty, optional: false }
    }
}

impl Type {
    /// `list(element)`.
    pub fn list(element: Type) -> Self {
        Self::List(Arc::new(element))
    }

    /// `set(element)`.
    pub fn set(element: Type) -> Self {
        Self::Set(Arc::new(element))
    }

    /// `map(element)`.
    pub fn map(element: Type) -> Self {
        Self::Map(Arc::new(element))
    }

    /// `tuple([...])`.
    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// `object({...})` without optional attributes.
    pub fn object<K: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (K, Type)>) -> Self {
        Self::Object(Arc::new(attributes.into_iter().map(|(k, ty)| (k.into(), Attr::required(ty))).collect()))
    }

    /// `object({})`.
    pub fn empty_object() -> Self {
        Self::Object(Arc::default())
    }

    /// Bool, number or string?
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }
}
