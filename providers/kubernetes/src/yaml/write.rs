//! From JSON to text, in the layout of Kubernetes' own tools: keys in order, lists not indented, text of several lines
//! as a block. Lines are not folded.

use std::fmt::Write;

use serde_json::Value as Json;

use super::scalar::resolve;

/// One document, with the end of its last line.
pub(crate) fn write(value: &Json) -> String {
    let mut out = String::new();
    match value {
        Json::Object(members) if !members.is_empty() => mapping(&mut out, members, 0, false),
        Json::Array(items) if !items.is_empty() => sequence(&mut out, items, 0, false),
        other => {
            leaf(&mut out, other, 0);
            out.push('\n');
        }
    }
    out
}

/// `inline`: its first line has begun.
fn mapping(out: &mut String, members: &serde_json::Map<String, Json>, indent: usize, inline: bool) {
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 || !inline {
            pad(out, indent);
        }
        // A key of several lines cannot be a block.
        out.push_str(&if name.contains('\n') { quoted(name) } else { text(name) });
        out.push(':');
        match value {
            Json::Object(inside) if !inside.is_empty() => {
                out.push('\n');
                mapping(out, inside, indent + 2, false);
            }
            Json::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(out, items, indent, false);
            }
            other => {
                out.push(' ');
                leaf(out, other, indent);
                out.push('\n');
            }
        }
    }
}

fn sequence(out: &mut String, items: &[Json], indent: usize, inline: bool) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 || !inline {
            pad(out, indent);
        }
        out.push_str("- ");
        match item {
            Json::Object(inside) if !inside.is_empty() => mapping(out, inside, indent + 2, true),
            Json::Array(inside) if !inside.is_empty() => sequence(out, inside, indent + 2, true),
            other => {
                leaf(out, other, indent);
                out.push('\n');
            }
        }
    }
}

fn leaf(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::String(value) if value.contains('\n') && may_be_block(value) => block(out, value, indent + 2),
        Json::String(value) => out.push_str(&text(value)),
        Json::Object(_) => out.push_str("{}"),
        Json::Array(_) => out.push_str("[]"),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn block(out: &mut String, value: &str, indent: usize) {
    out.push('|');
    if value.starts_with([' ', '\n']) {
        out.push('2');
    }
    let body = match value.strip_suffix('\n') {
        None => {
            out.push('-');
            value
        }
        Some(body) => {
            if body.ends_with('\n') || body.is_empty() {
                out.push('+');
            }
            body
        }
    };
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
    }
}

/// Spaces at the end of lines, and what is not printable, do not survive editors.
fn may_be_block(value: &str) -> bool {
    !value.ends_with(' ') && !value.contains(" \n") && value.chars().all(|c| c == '\n' || is_printable(c))
}

fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
        && !matches!(c, '\u{2028}' | '\u{2029}')
}

fn text(value: &str) -> String {
    if !value.chars().all(is_printable) || !means_itself(value) {
        quoted(value)
    } else if is_plain(value) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "''"))
    }
}

/// Read without quotes, is it this text? Neither here nor by readers that know numbers of base 60, or octals of YAML 1.2.
fn means_itself(value: &str) -> bool {
    let is_base_60 = value.contains(':') && value.chars().all(|c| c.is_ascii_digit() || "+-:._".contains(c));
    !is_base_60 && value != "<<" && value != "=" && matches!(resolve(value), Some(Json::String(_)))
}

fn is_plain(value: &str) -> bool {
    let mut chars = value.chars();
    let (Some(first), second) = (chars.next(), chars.next()) else { return false };
    let begins = match first {
        '-' | '?' | ':' => second.is_some_and(|c| c != ' '),
        _ => !",[]{}#&*!|>'\"%@`".contains(first),
    };
    begins
        && !value.starts_with(' ')
        && !value.ends_with([' ', ':'])
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.starts_with("---")
        && !value.starts_with("...")
}

fn quoted(value: &str) -> String {
    let mut out = String::from('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if is_printable(c) => out.push(c),
            c if u32::from(c) < 0x100 => {
                let _ = write!(out, "\\x{:02X}", u32::from(c));
            }
            c if u32::from(c) < 0x1_0000 => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
