//! Types, and type constraints with optional attributes.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

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

    /// An attribute that may be absent.
    pub fn optional(ty: Type) -> Self {
        Self { ty, optional: true }
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

    /// List, set or map?
    pub fn is_collection(&self) -> bool {
        matches!(self, Self::List(_) | Self::Set(_) | Self::Map(_))
    }

    /// The type of the elements of a list, set or map.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Self::List(element) | Self::Set(element) | Self::Map(element) => Some(element),
            _ => None,
        }
    }

    /// The attributes of an object type.
    pub fn attributes(&self) -> Option<&BTreeMap<Arc<str>, Attr>> {
        match self {
            Self::Object(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// Is any part of it not decided?
    pub fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Tuple(elements) => elements.iter().any(Self::has_dynamic),
            Self::Object(attributes) => attributes.values().any(|attr| attr.ty.has_dynamic()),
        }
    }

    /// Is any attribute in it optional?
    fn has_optional(&self) -> bool {
        match self {
            Self::Dynamic | Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_optional(),
            Self::Tuple(elements) => elements.iter().any(Self::has_optional),
            Self::Object(attributes) => attributes.values().any(|attr| attr.optional || attr.ty.has_optional()),
        }
    }

    /// The type that values of this constraint have: no attribute is optional in it.
    #[must_use]
    pub fn without_optional(&self) -> Self {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Self::Dynamic | Self::Bool | Self::Number | Self::String => self.clone(),
            Self::List(element) => Self::list(element.without_optional()),
            Self::Set(element) => Self::set(element.without_optional()),
            Self::Map(element) => Self::map(element.without_optional()),
            Self::Tuple(elements) => Self::tuple(elements.iter().map(Self::without_optional)),
            Self::Object(attributes) => {
                Self::object(attributes.iter().map(|(name, attr)| (name.clone(), attr.ty.without_optional())))
            }
        }
    }

    /// What it is called in a sentence: `list of string`, `object`.
    pub fn friendly(&self) -> String {
        self.named("dynamic")
    }

    /// What it is called where it says what is wanted: `list of any single type`.
    pub fn friendly_constraint(&self) -> String {
        self.named("any single type")
    }

    fn named(&self, dynamic: &str) -> String {
        match self {
            Self::Dynamic => dynamic.to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Number => "number".to_owned(),
            Self::String => "string".to_owned(),
            Self::List(element) => format!("list of {}", element.named(dynamic)),
            Self::Set(element) => format!("set of {}", element.named(dynamic)),
            Self::Map(element) => format!("map of {}", element.named(dynamic)),
            Self::Tuple(_) => "tuple".to_owned(),
            Self::Object(_) => "object".to_owned(),
        }
    }
}

impl fmt::Display for Type {
    /// As a type constraint is written: `map(object({a = optional(string)}))`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dynamic => f.write_str("any"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Set(element) => write!(f, "set({element})"),
            Self::Map(element) => write!(f, "map({element})"),
            Self::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("])")
            }
            Self::Object(attributes) => {
                f.write_str("object({")?;
                for (at, (name, attr)) in attributes.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    if attr.optional {
                        write!(f, "{comma}{name} = optional({})", attr.ty)?;
                    } else {
                        write!(f, "{comma}{name} = {}", attr.ty)?;
                    }
                }
                f.write_str("})")
            }
        }
    }
}
