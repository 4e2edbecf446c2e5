//! What is wrong with a scalar. Values are never told: they may be secret, and their place is told anyway.

use engine_value::{Data, Number, Value};
use regex::Regex;
use serde_json::Value as Json;

use super::node::{Node, Type};
use crate::object::{convert::to_json, quantity::Quantity, similar::similar};

/// What is wrong with something, and what to do about it, which may be empty.
pub(super) type Wrong = (String, String);

/// Is a known value of the type? Else what it is and what it should be.
pub(super) fn type_of(ty: Type, value: &Value) -> Option<Wrong> {
    let whole = |number: &Number| number.is_whole();
    let fits = match (ty, &value.data) {
        (_, Data::Unknown(_) | Data::Null(_)) | (Type::Any, _) => true,
        (Type::Object, Data::Object(_) | Data::Map(..)) => true,
        (Type::Array, Data::List(..) | Data::Set(..) | Data::Tuple(_)) => true,
        (Type::String | Type::IntOrString | Type::Quantity, Data::String(_)) => true,
        (Type::Integer | Type::IntOrString, Data::Number(number)) => whole(number),
        (Type::Number | Type::Quantity, Data::Number(_)) => true,
        (Type::Boolean, Data::Bool(_)) => true,
        _ => false,
    };
    if fits {
        return None;
    }
    let wanted = match ty {
        Type::Any => "anything",
        Type::Object => "an object",
        Type::Array => "a list",
        Type::String => "text",
        Type::Integer => "a whole number",
        Type::Number => "a number",
        Type::Boolean => "true or false",
        Type::IntOrString => "a whole number or text",
        Type::Quantity => "a quantity (\"500m\", \"1Gi\")",
    };
    let found = match &value.data {
        Data::Bool(_) => "true or false",
        Data::Number(_) => "a number",
        Data::String(_) => "text",
        Data::List(..) | Data::Set(..) | Data::Tuple(_) => "a list",
        _ => "an object",
    };
    let hint = match (ty, &value.data) {
        (Type::String, Data::Number(_) | Data::Bool(_)) => "Put it in quotes.",
        (Type::Integer | Type::Number, Data::String(text)) if text.parse::<f64>().is_ok() => "Leave the quotes out.",
        (Type::Boolean, Data::String(text)) if matches!(&**text, "true" | "false") => "Leave the quotes out.",
        (Type::Array, Data::Object(_) | Data::Map(..)) => "Put it in [ ].",
        _ => "",
    };
    Some((format!("it must be {wanted}, and is {found}"), hint.to_owned()))
}

/// What else is wrong with a known scalar of the right type.
pub(super) fn value(node: &Node<'_>, value: &Value) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let mut say = |what: String, hint: String| wrong.push((what, hint));
    let json = to_json(value).ok().flatten().unwrap_or_default();
    if let Some(Json::Array(allowed)) = node.keyword("enum")
        && !allowed.contains(&json)
    {
        let names: Vec<String> = allowed.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        let near = value.as_str().and_then(|text| similar(text, names.iter()));
        let list: Vec<String> = allowed.iter().map(Json::to_string).collect();
        say(
            format!("it must be one of {}", list.join(", ")),
            near.map_or_else(String::new, |near| format!("Did you mean {near:?}?")),
        );
    }
    match &value.data {
        Data::Number(number) => numbers(node, number, &mut say),
        Data::String(text) => texts(node, text, &mut say),
        _ => {}
    }
    wrong
}

fn numbers(node: &Node<'_>, number: &Number, say: &mut impl FnMut(String, String)) {
    let limit = |name: &str| node.keyword(name).and_then(Json::as_f64);
    let flag = |name: &str| node.keyword(name).and_then(Json::as_bool).unwrap_or(false);
    let found = number.to_f64();
    if let Some(least) = limit("minimum") {
        if flag("exclusiveMinimum") && found <= least {
            say(format!("it must be greater than {least}"), String::new());
        } else if found < least {
            say(format!("it must be at least {least}"), String::new());
        }
    }
    if let Some(most) = limit("maximum") {
        if flag("exclusiveMaximum") && found >= most {
            say(format!("it must be less than {most}"), String::new());
        } else if found > most {
            say(format!("it must be at most {most}"), String::new());
        }
    }
    if let Some(factor) = limit("multipleOf").filter(|factor| *factor > 0.0)
        && (found / factor).fract() != 0.0
    {
        say(format!("it must be a multiple of {factor}"), String::new());
    }
    let (least, most) = match node.keyword("format").and_then(Json::as_str) {
        Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    if node.ty() == Type::Integer && number.to_i64().is_none_or(|number| number < least || number > most) {
        say(format!("it must lie between {least} and {most}"), String::new());
    }
}

fn texts(node: &Node<'_>, text: &str, say: &mut impl FnMut(String, String)) {
    let size = |name: &str| node.keyword(name).and_then(Json::as_u64);
    let length = text.chars().count() as u64;
    if let Some(least) = size("minLength").filter(|least| length < *least) {
        say(format!("it must have at least {least} characters"), String::new());
    }
    if let Some(most) = size("maxLength").filter(|most| length > *most) {
        say(format!("it must have at most {most} characters"), String::new());
    }
    // Patterns that this library does not know are the server's to check.
    if let Some(pattern) = node.keyword("pattern").and_then(Json::as_str)
        && Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text))
    {
        say(format!("it must match {pattern}"), String::new());
    }
    if node.ty() == Type::Quantity && Quantity::parse(&text.into()).is_none() {
        say("it must be a quantity".to_owned(), "Write it as \"500m\", \"2\", \"1.5Gi\".".to_owned());
    }
    match node.keyword("format").and_then(Json::as_str) {
        Some("date-time") if text.parse::<jiff::Timestamp>().is_err() => {
            say("it must be a time".to_owned(), "Write it as \"2026-01-02T03:04:05Z\".".to_owned());
        }
        Some("byte") if !is_base64(text) => {
            say("it must be base64".to_owned(), "Use base64encode(), or `stringData` of a Secret.".to_owned());
        }
        _ => {}
    }
}

fn is_base64(text: &str) -> bool {
    use base64::Engine;
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}
