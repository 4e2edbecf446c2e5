//! JSON with exact numbers: state holds numbers of 512 bits, which no `f64` can carry.
//!
//! A tree, its parser, and a printer that spells text as Terraform's state files do. Knows no types of the language.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

mod parse;
mod print;

pub use parse::JsonError;
pub(crate) use print::{pretty, pretty_in_order};

/// A JSON value. Numbers keep their text, objects are in the order of their keys' bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written. Invariant: a JSON number.
    Number(Arc<str>),
    /// Text.
    String(Arc<str>),
    /// Elements.
    Array(Vec<Json>),
    /// Members by name.
    Object(BTreeMap<Arc<str>, Json>),
}

impl Json {
    /// Text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// An object of these members.
    pub fn object<K: Into<Arc<str>>>(members: impl IntoIterator<Item = (K, Json)>) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// A member of an object; `None` where it has none, or where this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// What it is, for messages: "a string".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Reads one value with nothing but white space around it.
    ///
    /// # Errors
    /// It is no JSON, with line and column.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        parse::parse(text)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string().into())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(number.to_string().into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

/// On one line.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        print::compact(self, &mut out);
        f.write_str(&out)
    }
}

/// Only for JSON: the exact text goes through as it is.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

/// Only from JSON, and not inside enums that are told apart by trying.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}
