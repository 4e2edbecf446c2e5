//! A JSON document that keeps the digits of numbers and the order of members.

use std::fmt::{self, Write};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::value::RawValue;

use crate::json::read;

/// A JSON document. Its `Display` is compact, escaped as Go escapes (`<`, `>`, `&` and the two line separators too), so
/// that texts are byte for byte Terraform's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The digits as they are written.
    Number(Box<str>),
    /// Text.
    String(Box<str>),
    /// Elements.
    Array(Vec<Json>),
    /// Members in their order. A name may be there twice; the last one counts.
    Object(Vec<(Box<str>, Json)>),
}

impl Json {
    /// A member of an object; of several with one name the last.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(key, _)| &**key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Number(number.to_string().into()),
            serde_json::Value::String(text) => Self::String(text.as_str().into()),
            serde_json::Value::Array(elements) => Self::Array(elements.iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.as_str().into(), value.into())).collect())
            }
        }
    }
}

impl From<&Json> for serde_json::Value {
    /// Numbers that are neither `i64`, `u64` nor `f64` become the nearest `f64`: for APIs that have no others.
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(digits) => digits
                .parse::<i64>()
                .map(serde_json::Number::from)
                .or_else(|_| digits.parse::<u64>().map(serde_json::Number::from))
                .ok()
                .or_else(|| digits.parse::<f64>().ok().and_then(serde_json::Number::from_f64))
                .map_or(Self::Null, Self::Number),
            Json::String(text) => Self::String(text.to_string()),
            Json::Array(elements) => Self::Array(elements.iter().map(Self::from).collect()),
            Json::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.to_string(), value.into())).collect())
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(digits) => f.write_str(digits),
            Self::String(text) => write_string(text, f),
            Self::Array(elements) => {
                f.write_char('[')?;
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    fmt::Display::fmt(element, f)?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    write_string(name, f)?;
                    f.write_char(':')?;
                    fmt::Display::fmt(value, f)?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => "",
            _ => continue,
        };
        f.write_str(&text[plain..at])?;
        if escape.is_empty() {
            write!(f, "\\u{:04x}", c as u32)?;
        } else {
            f.write_str(escape)?;
        }
        plain = at + c.len_utf8();
    }
    f.write_str(&text[plain..])?;
    f.write_char('"')
}

impl Serialize for Json {
    /// Into `serde_json` only: numbers go as raw text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(digits) => {
                RawValue::from_string(digits.to_string()).map_err(S::Error::custom)?.serialize(serializer)
            }
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => serializer.collect_seq(elements),
            Self::Object(members) => serializer.collect_map(members.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    /// From `serde_json` only.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        read(raw.get()).map_err(D::Error::custom)
    }
}
