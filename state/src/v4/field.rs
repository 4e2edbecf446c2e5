//! Members of the file with the place where they stand, so that whatever is wrong is named.

use std::{fmt, str::FromStr};

use engine_value::json::Json;

use super::FormatError;

/// A member, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    json: &'a Json,
    at: Place<'a>,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Member(&'a Field<'a>, &'a str),
    Element(&'a Field<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Field { at: Place::Root, .. }, name) => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{}.{name}", parent.at),
            Self::Element(parent, index) => write!(f, "{}[{index}]", parent.at),
        }
    }
}

impl<'a> Field<'a> {
    pub(super) fn root(json: &'a Json) -> Self {
        Self { json, at: Place::Root }
    }

    pub(super) fn json(&self) -> &'a Json {
        self.json
    }

    pub(super) fn error(&self, why: impl Into<String>) -> FormatError {
        FormatError::Field { at: self.at.to_string(), why: why.into() }
    }

    fn expected(&self, what: &str) -> FormatError {
        self.error(format!("{what} was expected, and {} was found", kind(self.json)))
    }

    /// A member that is there and not null.
    pub(super) fn get(&'a self, name: &'a str) -> Option<Field<'a>> {
        let json = self.json.get(name).filter(|json| **json != Json::Null)?;
        Some(Field { json, at: Place::Member(self, name) })
    }

    pub(super) fn need(&'a self, name: &'a str) -> Result<Field<'a>, FormatError> {
        self.get(name).ok_or_else(|| self.error(format!("the member {name:?} is missing")))
    }

    pub(super) fn text(&self) -> Result<&'a str, FormatError> {
        self.json.as_str().ok_or_else(|| self.expected("a string"))
    }

    pub(super) fn number(&self) -> Result<u64, FormatError> {
        match self.json {
            Json::Number(digits) => digits.parse().map_err(|_| self.error("a whole number was expected")),
            _ => Err(self.expected("a whole number")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, FormatError> {
        match self.json {
            Json::Bool(value) => Ok(*value),
            _ => Err(self.expected("a boolean")),
        }
    }

    pub(super) fn parsed<T: FromStr<Err: fmt::Display>>(&self) -> Result<T, FormatError> {
        self.text()?.parse().map_err(|error: T::Err| self.error(error.to_string()))
    }

    pub(super) fn elements(&'a self) -> Result<impl Iterator<Item = Field<'a>>, FormatError> {
        match self.json {
            Json::Array(elements) => {
                Ok(elements.iter().enumerate().map(|(i, json)| Field { json, at: Place::Element(self, i) }))
            }
            _ => Err(self.expected("an array")),
        }
    }

    pub(super) fn members(&'a self) -> Result<impl Iterator<Item = (&'a str, Field<'a>)>, FormatError> {
        match self.json {
            Json::Object(members) => {
                Ok(members.iter().map(|(name, json)| (&**name, Field { json, at: Place::Member(self, name) })))
            }
            _ => Err(self.expected("an object")),
        }
    }
}

/// What a value is, for messages.
pub(super) fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
