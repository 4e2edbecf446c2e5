//! Values as expressions without references.

use engine_value::{Data, Value, json};

use crate::syntax::is_identifier;

use super::{
    layout::{self, Line, indent},
    text::{heredoc, is_name, quoted},
};

/// So wide may a list on one line be.
const WIDTH: usize = 80;

/// The expression of a value that begins on a line of this depth. `None`: a part of it is unknown, or infinite.
pub(super) fn write(value: &Value, depth: usize) -> Option<String> {
    match &value.data {
        Data::String(text) => Some(heredoc(text).unwrap_or_else(|| quoted(text))),
        Data::Object(members) | Data::Map(_, members) => {
            if members.is_empty() {
                return Some("{}".to_owned());
            }
            let mut lines = vec![];
            for (name, member) in members.iter() {
                let key = if is_name(name) { name.to_string() } else { quoted(name) };
                lines.push(Line::pair(depth + 1, &key, &write(member, depth + 1)?));
            }
            Some(format!("{{\n{}{}}}", layout::text(&lines), indent(depth)))
        }
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => sequence(elements, depth),
        _ => scalar(value),
    }
}

/// The expression of a value with no more lines than it needs, not laid out.
pub(super) fn one_line(value: &Value) -> Option<String> {
    match &value.data {
        Data::Object(members) | Data::Map(_, members) if !members.is_empty() => {
            let mut out = String::from("{\n");
            for (name, member) in members.iter() {
                let key = if is_identifier(name) { name.to_string() } else { quoted(name) };
                out.push_str(&format!("{key} = {}\n", one_line(member)?));
            }
            out.push('}');
            Some(out)
        }
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            let parts: Option<Vec<String>> = elements.iter().map(one_line).collect();
            Some(format!("[{}]", parts?.join(", ")))
        }
        _ => scalar(value),
    }
}

fn sequence(elements: &[Value], depth: usize) -> Option<String> {
    let short: Option<Vec<String>> = elements.iter().map(scalar).collect();
    if let Some(short) = short {
        let line = format!("[{}]", short.join(", "));
        if line.chars().count() <= WIDTH {
            return Some(line);
        }
    }
    let mut out = String::from("[\n");
    for element in elements {
        // A heredoc must end its line, and a comma has to follow.
        let text = match &element.data {
            Data::String(text) => quoted(text),
            _ => write(element, depth + 1)?,
        };
        out.push_str(&format!("{}{text},\n", indent(depth + 1)));
    }
    Some(format!("{out}{}]", indent(depth)))
}

/// What fits on a line.
fn scalar(value: &Value) -> Option<String> {
    match &value.data {
        Data::Null(_) => Some("null".to_owned()),
        Data::Bool(value) => Some(value.to_string()),
        Data::String(text) => Some(quoted(text)),
        Data::Number(_) => match json::to_tree(value, None).ok()? {
            json::Json::Number(digits) => Some(digits.to_string()),
            _ => None,
        },
        Data::Object(members) | Data::Map(_, members) if members.is_empty() => Some("{}".to_owned()),
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) if elements.is_empty() => {
            Some("[]".to_owned())
        }
        _ => None,
    }
}
