//! What is wrong with a block that can be told without a cluster. Unknown values are not checked.

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Path, Value};
use providers_api::Issue;

use super::{
    field::{Field, Holds},
    kind::{Kind, Names},
    name::{get, metadata},
};
use crate::{object::quantity::billionths, resource::duration};

/// What is wrong with a block.
pub(super) fn check(kind: &Kind, config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    names(kind, config, &mut issues);
    fields(kind.fields, config, &Path::root(), &mut issues);
    issues.extend((kind.check)(config));
    if let Some(timeouts) = config.get("timeouts") {
        issues.extend(duration::check(timeouts, &Path::root().attr("timeouts")));
    }
    issues
}

fn names(kind: &Kind, config: &Value, issues: &mut Vec<Issue>) {
    let is_set = |name: &str| get(config, name).is_some_and(|value| !value.is_null());
    match (is_set("name"), is_set("generate_name")) {
        (true, true) => issues.push(
            Issue::error(metadata().attr("generate_name"), "Conflicting arguments", "`name` is set too.")
                .hint("Set one of them."),
        ),
        (false, false) if metadata().get(config).is_some() => {
            issues.push(Issue::error(metadata(), "Missing name", "One of `name` and `generate_name` must be set."))
        }
        _ => {}
    }
    for field in ["name", "generate_name"] {
        let Some(name) = get(config, field) else { continue };
        let Some(text) = name.as_str() else { continue };
        let whole = if field == "name" { text.to_owned() } else { format!("{text}x") };
        if let Some(hint) = wrong_name(kind.names, &whole) {
            let detail = format!("{text:?} cannot be the name of a {}.", kind.kind);
            issues.push(Issue::error(metadata().attr(field), "Invalid name", detail).hint(hint));
        }
    }
}

/// How a name has to be spelled, where this one is not.
fn wrong_name(names: Names, text: &str) -> Option<&'static str> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label =
        |text: &str| !text.is_empty() && text.chars().all(is_inner) && !text.starts_with('-') && !text.ends_with('-');
    match names {
        Names::Label => (text.len() > 63 || !is_label(text))
            .then_some("At most 63 of a-z, 0-9 and \"-\", beginning and ending with a letter or digit."),
        Names::Subdomain => (text.len() > 253 || !text.split('.').all(is_label)).then_some(
            "At most 253 of a-z, 0-9, \"-\" and \".\", each part between dots beginning and ending with a letter or digit.",
        ),
        Names::PathSegment => (text.is_empty() || matches!(text, "." | "..") || text.contains(['/', '%']))
            .then_some("Not \".\" or \"..\", and without \"/\" and \"%\"."),
    }
}

/// What is wrong with the values of these fields.
pub(super) fn fields(table: &[Field], object: &Value, at: &Path, issues: &mut Vec<Issue>) {
    for field in table {
        let Some(given) = object.get(field.name) else { continue };
        let at = at.clone().attr(field.name);
        if let Some((inside, _)) = field.nested() {
            for (step, block) in given.steps().into_iter().zip(given.parts()) {
                fields(inside, block, &at.clone().step(step), issues);
            }
            continue;
        }
        match field.holds {
            Holds::Quantities => {
                for (name, amount) in given.as_map().into_iter().flatten() {
                    if let Some(text) = amount.as_str().filter(|text| billionths(text).is_none()) {
                        let detail = format!("{text:?} is no quantity.");
                        issues.push(
                            Issue::error(at.clone().key(name.clone()), "Invalid quantity", detail)
                                .hint("Write a number, with a suffix where needed: \"4\", \"500m\", \"1.5Gi\"."),
                        );
                    }
                }
            }
            Holds::Int if given.as_number().is_some() && given.as_i64().is_none() => {
                issues.push(Issue::error(at, "Invalid number", "A whole number is required."));
            }
            Holds::Text => one_of(field, given, at, issues),
            Holds::List | Holds::Set => {
                for (step, item) in given.steps().into_iter().zip(given.parts()) {
                    one_of(field, item, at.clone().step(step), issues);
                }
            }
            _ => {}
        }
    }
}

fn one_of(field: &Field, given: &Value, at: Path, issues: &mut Vec<Issue>) {
    let Some(text) = given.as_str() else { return };
    if !field.allowed.is_empty() && !field.allowed.contains(&text) {
        let detail = format!("{text:?} is none of {}.", field.allowed.join(", "));
        issues.push(Issue::error(at, format!("Invalid {}", field.name), detail));
    }
}

/// Texts of a map that must be base64 and are not. They may be secrets, and are not told.
pub(super) fn base64_texts(config: &Value, name: &'static str) -> Vec<Issue> {
    let entries = config.get(name).and_then(Value::as_map).into_iter().flatten();
    let wrong = entries.filter(|(_, value)| value.as_str().is_some_and(|text| STANDARD.decode(text).is_err()));
    let issue = |(key, _): (&std::sync::Arc<str>, &Value)| {
        let detail = format!("{key} must be base64.");
        Issue::error(Path::root().attr(name).key(key.clone()), "Invalid base64", detail)
            .hint("Use filebase64() or base64encode(), or write it as text in `data`.")
    };
    wrong.map(issue).collect()
}
