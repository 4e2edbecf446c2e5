//! What an attribute or block of a typed resource is: its name in HashiCorp's schema, its name in the API, and what it
//! holds. Schema, what is sent, what is read and what forces a replacement all come from one table of these per type.

use engine_model::schema::{Nesting, Usage};
use engine_value::Value;

/// One attribute or block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    /// HashiCorp's name.
    pub(super) name: &'static str,
    /// The API's name; empty: it is neither sent nor read here.
    pub(super) json: &'static str,
    /// What it holds.
    pub(super) holds: Holds,
    /// Who gives its value.
    pub(super) usage: Usage,
    /// What it is where the configuration leaves it null.
    pub(super) default: Option<Fallback>,
    /// A change of it makes another object.
    pub(super) replaces: bool,
    /// Never shown.
    pub(super) sensitive: bool,
    /// Never stored.
    pub(super) write_only: bool,
    /// The only texts that it may be; empty: any.
    pub(super) allowed: &'static [&'static str],
    /// For the reference documentation.
    pub(super) description: &'static str,
}

/// What an attribute or block holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// A text.
    Text,
    /// A truth value.
    Bool,
    /// A whole number.
    Int,
    /// Texts by name.
    Texts,
    /// Texts by name, which the API has in base64.
    Encoded,
    /// Quantities by name: `1000m` and `1` are equal.
    Quantities,
    /// Texts in order.
    List,
    /// Texts without order.
    Set,
    /// One nested object, as a block.
    One(&'static [Field], Presence),
    /// Nested objects in order, as blocks.
    Many(&'static [Field], Presence),
    /// Nested objects without order, as blocks.
    SetOf(&'static [Field]),
}

/// Must there be a block?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// A default.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fallback {
    Text(&'static str),
    Bool(bool),
}

impl Fallback {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Bool(bool) => bool.into(),
        }
    }
}

impl Field {
    /// An optional attribute, or a block.
    pub(super) const fn new(name: &'static str, json: &'static str, holds: Holds, description: &'static str) -> Self {
        Self {
            name,
            json,
            holds,
            usage: Usage::Optional,
            default: None,
            replaces: false,
            sensitive: false,
            write_only: false,
            allowed: &[],
            description,
        }
    }

    pub(super) const fn required(self) -> Self {
        Self { usage: Usage::Required, ..self }
    }

    pub(super) const fn computed(self) -> Self {
        Self { usage: Usage::Computed, ..self }
    }

    pub(super) const fn optional_computed(self) -> Self {
        Self { usage: Usage::OptionalComputed, ..self }
    }

    pub(super) const fn or_text(self, text: &'static str) -> Self {
        Self { default: Some(Fallback::Text(text)), ..self }
    }

    pub(super) const fn or_bool(self, bool: bool) -> Self {
        Self { default: Some(Fallback::Bool(bool)), ..self }
    }

    pub(super) const fn replaces(self) -> Self {
        Self { replaces: true, ..self }
    }

    pub(super) const fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    pub(super) const fn write_only(self) -> Self {
        Self { write_only: true, ..self }
    }

    pub(super) const fn allowed(self, allowed: &'static [&'static str]) -> Self {
        Self { allowed, ..self }
    }

    /// Does it only tell us what to do, so that nothing is sent for it?
    pub(super) fn is_local(&self) -> bool {
        self.json.is_empty() && matches!(self.holds, Holds::Bool)
    }

    /// The fields of its nested objects, and how those are held.
    pub(super) fn nested(&self) -> Option<(&'static [Field], Nesting)> {
        match self.holds {
            Holds::One(fields, _) | Holds::Many(fields, _) => Some((fields, Nesting::List)),
            Holds::SetOf(fields) => Some((fields, Nesting::Set)),
            _ => None,
        }
    }
}
