//! What becomes of a case, in a form that both sides can give.

use std::fmt;

use engine_value::json::Json;

/// What becomes of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A value: its type as JSON, and its content, in which `?` stands for what is unknown and `!` before what is
    /// sensitive.
    Value {
        /// The type.
        ty: String,
        /// The content.
        content: String,
    },
    /// An error.
    Fails {
        /// Its summary.
        summary: String,
        /// Its detail, in one line.
        detail: String,
    },
}

impl Answer {
    /// Nobody can tell what becomes of it.
    pub fn none() -> Self {
        Self::Fails { summary: "no answer".to_owned(), detail: String::new() }
    }

    /// Do they agree? The words of an error do not count.
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            _ if *self == Self::none() => true,
            (Self::Fails { .. }, Self::Fails { .. }) => true,
            _ => self == other,
        }
    }

    /// The kind of a disagreement, which shrinking keeps.
    pub fn kind(&self, other: &Self) -> (bool, bool) {
        (matches!(self, Self::Fails { .. }), matches!(other, Self::Fails { .. }))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { ty, content } => write!(f, "= {ty}\t{content}"),
            Self::Fails { summary, detail } => write!(f, "! {summary}\t{detail}"),
        }
    }
}

/// The content of a value from the three views that plan JSON has of it.
pub fn content(known: Option<&Json>, unknown: Option<&Json>, sensitive: Option<&Json>) -> String {
    let mut out = String::new();
    write(known, unknown, sensitive, &mut out);
    out
}

fn member<'a>(json: Option<&'a Json>, name: &str) -> Option<&'a Json> {
    json.and_then(|json| json.get(name))
}

fn element(json: Option<&Json>, at: usize) -> Option<&Json> {
    match json {
        Some(Json::Array(elements)) => elements.get(at),
        _ => None,
    }
}

fn write(known: Option<&Json>, unknown: Option<&Json>, sensitive: Option<&Json>, out: &mut String) {
    if sensitive == Some(&Json::Bool(true)) {
        out.push('!');
    }
    if unknown == Some(&Json::Bool(true)) {
        return out.push('?');
    }
    match known {
        None => out.push_str("null"),
        Some(Json::Array(elements)) => {
            out.push('[');
            for (at, part) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(Some(part), element(unknown, at), element(sensitive, at), out);
            }
            out.push(']');
        }
        Some(Json::Object(members)) => {
            // What is unknown in an object is left out of what is known.
            let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
            if let Some(Json::Object(flags)) = unknown {
                names.extend(flags.iter().map(|(name, _)| name.as_ref()));
            }
            names.sort_unstable();
            names.dedup();
            out.push('{');
            for (at, name) in names.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Json::from(name).to_string());
                out.push(':');
                write(member(known, name), member(unknown, name), member(sensitive, name), out);
            }
            out.push('}');
        }
        Some(scalar) => out.push_str(&scalar.to_string()),
    }
}
