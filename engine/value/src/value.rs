//! Values: what they are, how they are made, what they hold.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::{Marks, Number, Refinements, Type, Unknown, set};

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

/// Text in normalisation form C, in which all strings of the language are.
pub fn normalize(text: &str) -> Arc<str> {
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Arc::from(text)
    } else {
        text.nfc().collect::<String>().into()
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        Self { data, marks: Marks::NONE }
    }
}

impl Value {
    /// Text; it is normalised.
    pub fn string(text: impl AsRef<str>) -> Self {
        Data::String(normalize(text.as_ref())).into()
    }

    /// `true` or `false`.
    pub fn bool(value: bool) -> Self {
        Data::Bool(value).into()
    }

    /// A number.
    pub fn number(number: Number) -> Self {
        Data::Number(number).into()
    }

    /// A whole number.
    pub fn int(int: i64) -> Self {
        Self::number(Number::from(int))
    }

    /// Null of a type.
    pub fn null(ty: Type) -> Self {
        Data::Null(ty.without_optional()).into()
    }

    /// Not known yet, and nothing known of it but its type.
    pub fn unknown(ty: Type) -> Self {
        Self::unknown_with(Unknown { ty: ty.without_optional(), refinements: Refinements::default(), origin: None })
    }

    /// Not known yet. A refinement that leaves one possible value (an empty collection, a number between equal bounds)
    /// makes that value.
    pub fn unknown_with(unknown: Unknown) -> Self {
        unknown.into_value()
    }

    /// A list. Every element must be of the type.
    pub fn list(element: Type, elements: Vec<Value>) -> Self {
        Data::List(element.without_optional(), elements.into()).into()
    }

    /// A set: equal elements become one, the rest is put in order. Every element must be of the type. Marks of elements
    /// become marks of the set, since elements cannot be told apart by them.
    pub fn set(element: Type, elements: Vec<Value>) -> Self {
        let (elements, marks) = set::arrange(&element, elements);
        Self { data: Data::Set(element.without_optional(), elements.into()), marks }
    }

    /// A map. Every element must be of the type. Of equal keys the last wins.
    pub fn map<K: AsRef<str>>(element: Type, elements: impl IntoIterator<Item = (K, Value)>) -> Self {
        let elements = elements.into_iter().map(|(key, value)| (normalize(key.as_ref()), value)).collect();
        Data::Map(element.without_optional(), Arc::new(elements)).into()
    }

    /// A tuple.
    pub fn tuple(elements: impl IntoIterator<Item = Value>) -> Self {
        Data::Tuple(elements.into_iter().collect()).into()
    }

    /// An object. Of equal names the last wins.
    pub fn object<K: AsRef<str>>(attributes: impl IntoIterator<Item = (K, Value)>) -> Self {
        let attributes = attributes.into_iter().map(|(name, value)| (normalize(name.as_ref()), value)).collect();
        Data::Object(Arc::new(attributes)).into()
    }

    /// `{}`.
    pub fn empty_object() -> Self {
        Data::Object(Arc::default()).into()
    }

    /// The text, if it is a known string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is a known one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is a known one.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.data {
            Data::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The whole number, if it is a known one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::to_i64)
    }

    /// The elements by name of a known map or object. Marks of the container are not on them.
    pub fn as_map(&self) -> Option<&BTreeMap<Arc<str>, Value>> {
        match &self.data {
            Data::Map(_, elements) | Data::Object(elements) => Some(elements),
            _ => None,
        }
    }

    /// An attribute or element by name of a known map or object. Marks of the container are not on it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_map()?.get(name)
    }

    /// The elements of a known list, set or tuple. Marks of the container are not on them.
    pub fn as_sequence(&self) -> Option<&[Value]> {
        match &self.data {
            Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The parts of a known composite value, in order; empty for all others.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match &self.data {
            Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => Box::new(elements.iter()),
            Data::Map(_, elements) | Data::Object(elements) => Box::new(elements.values()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Null?
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null(_))
    }

    /// Known itself? Its parts may not be.
    pub fn is_known(&self) -> bool {
        !matches!(self.data, Data::Unknown(_))
    }

    /// Known, and all its parts too?
    pub fn is_wholly_known(&self) -> bool {
        self.is_known() && self.parts().all(Self::is_wholly_known)
    }

    /// Is it, or any of its parts, not known?
    pub fn has_unknown(&self) -> bool {
        !self.is_wholly_known()
    }

    /// What is known of it, if it is unknown.
    pub fn as_unknown(&self) -> Option<&Unknown> {
        match &self.data {
            Data::Unknown(unknown) => Some(unknown),
            _ => None,
        }
    }

    /// Is it certain that it is not null?
    pub fn is_never_null(&self) -> bool {
        match &self.data {
            Data::Null(_) => false,
            Data::Unknown(unknown) => unknown.refinements.not_null,
            _ => true,
        }
    }

    /// The first unknown in it, in order.
    pub fn first_unknown(&self) -> Option<&Unknown> {
        self.as_unknown().or_else(|| self.parts().find_map(Self::first_unknown))
    }

    /// Its type. Builds the type of every part: ask once.
    pub fn type_of(&self) -> Type {
        match &self.data {
            Data::Null(ty) => ty.clone(),
            Data::Unknown(unknown) => unknown.ty.clone(),
            Data::Bool(_) => Type::Bool,
            Data::Number(_) => Type::Number,
            Data::String(_) => Type::String,
            Data::List(element, _) => Type::list(element.clone()),
            Data::Set(element, _) => Type::set(element.clone()),
            Data::Map(element, _) => Type::map(element.clone()),
            Data::Tuple(elements) => Type::tuple(elements.iter().map(Self::type_of)),
            Data::Object(attributes) => {
                Type::object(attributes.iter().map(|(name, value)| (name.clone(), value.type_of())))
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::string(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::bool(value)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Self::int(int)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::number(number)
    }
}
