//! Values and types as `console` and `output` write them: as expressions that have that value, as far as there are any.

use engine_value::{Data, Type, Value};

use super::value::{SENSITIVE, UNKNOWN};

/// The value, whose first line begins behind `indent` columns.
pub(crate) fn expression(value: &Value, indent: usize) -> String {
    if value.marks.sensitive {
        return SENSITIVE.to_owned();
    }
    if value.marks.ephemeral {
        return "(ephemeral value)".to_owned();
    }
    match &value.data {
        Data::Null(ty) => null(ty),
        Data::Unknown(_) => UNKNOWN.to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Number(number) => number.to_string(),
        Data::String(text) => string(text, indent),
        Data::List(_, elements) => format!("tolist({})", sequence(elements.iter(), indent)),
        Data::Set(_, elements) => format!("toset({})", sequence(elements.iter(), indent)),
        Data::Tuple(elements) => sequence(elements.iter(), indent),
        Data::Map(_, elements) => format!("tomap({})", members(elements.iter(), indent)),
        Data::Object(attributes) => members(attributes.iter(), indent),
    }
}

fn null(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "null".to_owned(),
        Type::String => "tostring(null)".to_owned(),
        Type::Number => "tonumber(null)".to_owned(),
        Type::Bool => "tobool(null)".to_owned(),
        Type::List(element) => format!("tolist(null) /* of {} */", element.friendly()),
        Type::Set(element) => format!("toset(null) /* of {} */", element.friendly()),
        Type::Map(element) => format!("tomap(null) /* of {} */", element.friendly()),
        Type::Tuple(_) | Type::Object(_) => format!("null /* {} */", ty.friendly()),
    }
}

fn sequence<'a>(elements: impl Iterator<Item = &'a Value>, indent: usize) -> String {
    let inner: String =
        elements.map(|value| line(indent + 2, &format!("{},", expression(value, indent + 2)))).collect();
    if inner.is_empty() { "[]".to_owned() } else { format!("[{inner}{}", line(indent, "]")) }
}

fn members<'a>(members: impl Iterator<Item = (&'a std::sync::Arc<str>, &'a Value)>, indent: usize) -> String {
    let inner: String = members
        .map(|(name, value)| line(indent + 2, &format!("{} = {}", quoted(name), expression(value, indent + 2))))
        .collect();
    if inner.is_empty() { "{}".to_owned() } else { format!("{{{inner}{}", line(indent, "}")) }
}

fn line(indent: usize, text: &str) -> String {
    format!("\n{:indent$}{text}", "")
}

/// Text of several lines is a heredoc, with a marker that is no line of it.
fn string(text: &str, indent: usize) -> String {
    if !text.contains('\n') {
        return quoted(text);
    }
    let mut marker = "EOT".to_owned();
    while text.lines().any(|line| line.trim() == marker) {
        marker.push('_');
    }
    let open = if indent == 0 { "<<" } else { "<<-" };
    let lines: String = text.split('\n').map(|one| line(indent, one)).collect();
    format!("{open}{marker}{lines}{}", line(indent, &marker))
}

/// As Terraform quotes: `${` is not doubled.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A type, as `type(…)` tells it.
pub(crate) fn type_of(ty: &Type, indent: usize) -> String {
    let collection = |name: &str, element: &Type| match element {
        Type::Dynamic | Type::Bool | Type::Number | Type::String => format!("{name}({})", type_of(element, indent)),
        _ => format!("{name}({}{}", line(indent + 4, &format!("{},", type_of(element, indent + 4))), line(indent, ")")),
    };
    match ty {
        Type::Dynamic => "dynamic".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::List(element) => collection("list", element),
        Type::Set(element) => collection("set", element),
        Type::Map(element) => collection("map", element),
        Type::Tuple(elements) if elements.is_empty() => "tuple([])".to_owned(),
        Type::Tuple(elements) => {
            let inner: String =
                elements.iter().map(|ty| line(indent + 4, &format!("{},", type_of(ty, indent + 4)))).collect();
            format!("tuple([{inner}{}", line(indent, "])"))
        }
        Type::Object(attributes) if attributes.is_empty() => "object({})".to_owned(),
        Type::Object(attributes) => {
            let one = |(name, attr): (&std::sync::Arc<str>, &engine_value::Attr)| {
                line(indent + 4, &format!("{name}: {},", type_of(&attr.ty, indent + 4)))
            };
            format!("object({{{}{}", attributes.iter().map(one).collect::<String>(), line(indent, "})"))
        }
    }
}
