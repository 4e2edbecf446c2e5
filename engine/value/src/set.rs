//! The order of set elements: strings and numbers by value, all else by the bytes of a textual key, as cty has it.
//! Known elements come first, then unknown ones, then null.

use std::{cmp::Ordering, fmt::Write};

use crate::{Data, Marks, Type, Value};

/// Distinct elements in order, without marks, and the marks that they had together. Unknown elements are never equal.
pub(crate) fn arrange(element: &Type, elements: Vec<Value>) -> (Vec<Value>, Marks) {
    let mut marks = Marks::NONE;
    let mut keyed: Vec<(String, Value)> = elements
        .into_iter()
        .map(|value| {
            let (value, found) = value.unmark_deep();
            marks = found.into_iter().fold(marks, |all, (_, one)| all.union(one));
            (if element.is_primitive() { String::new() } else { key(&value) }, value)
        })
        .collect();
    keyed.sort_by(|(key_a, a), (key_b, b)| {
        rank(a).cmp(&rank(b)).then_with(|| primitive(a, b)).then_with(|| key_a.cmp(key_b)).then_with(|| a.cmp(b))
    });
    keyed.dedup_by(|(_, a), (_, b)| a == b && a.is_wholly_known());
    (keyed.into_iter().map(|(_, value)| value).collect(), marks)
}

fn rank(value: &Value) -> u8 {
    match value.data {
        Data::Unknown(_) => 1,
        Data::Null(_) => 2,
        _ => 0,
    }
}

fn primitive(a: &Value, b: &Value) -> Ordering {
    match (&a.data, &b.data) {
        (Data::String(a), Data::String(b)) => a.cmp(b),
        (Data::Number(a), Data::Number(b)) => a.cmp(b),
        (Data::Bool(a), Data::Bool(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

fn key(value: &Value) -> String {
    let mut text = String::new();
    write_key(value, &mut text);
    text
}

fn write_key(value: &Value, out: &mut String) {
    match &value.data {
        Data::Unknown(_) => out.push('?'),
        Data::Null(_) => out.push('~'),
        Data::Bool(value) => out.push(if *value { 'T' } else { 'F' }),
        Data::Number(number) => out.push_str(&number.set_key()),
        Data::String(text) => write_quoted(text, out),
        Data::List(_, elements) | Data::Set(_, elements) => write_all(elements, ('[', ']'), out),
        Data::Tuple(elements) => write_all(elements, ('<', '>'), out),
        Data::Map(_, elements) => {
            out.push('{');
            for (name, element) in elements.iter() {
                write_quoted(name, out);
                out.push(':');
                write_key(element, out);
                out.push(';');
            }
            out.push('}');
        }
        Data::Object(attributes) => {
            out.push('<');
            for attribute in attributes.values() {
                write_key(attribute, out);
                out.push(';');
            }
            out.push('>');
        }
    }
}

fn write_all(elements: &[Value], (open, close): (char, char), out: &mut String) {
    out.push(open);
    for element in elements {
        write_key(element, out);
        out.push(';');
    }
    out.push(close);
}

/// As Go's `%q` quotes: printable characters stay.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if c.is_control() || (c.is_whitespace() && c != ' ') || c == '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
