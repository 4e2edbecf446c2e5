//! Expressions and what Terraform 1.11.4 made of them, one a line in the tables beside this file.

use engine_value::{
    Marks, Refinements, Type, Unknown, Value,
    json::{self, Json},
};

use super::{Names, value_of};

/// What the facts were recorded with: `u` is an id (unknown, not null), `o` is of no known type.
fn scope() -> Names {
    let unknown = |ty, refinements| Value::unknown_with(Unknown { ty, refinements, origin: None });
    Names {
        values: vec![
            ("local.u", unknown(Type::String, Refinements::not_null())),
            ("local.o", unknown(Type::Dynamic, Refinements::default())),
            ("local.s", Value::string("sec").mark(Marks::SENSITIVE)),
            ("local.n", Value::int(5).mark(Marks::SENSITIVE)),
        ],
        ..Names::default()
    }
}

fn facts(text: &'static str, fields: usize) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let fact: Vec<&str> = line.split('\t').collect();
        assert_eq!(fact.len(), fields, "{line}");
        fact
    })
}

/// Expression, type, value.
#[test]
fn known_results_are_terraforms() {
    let scope = scope();
    let mut wrong = Vec::new();
    for fact in facts(include_str!("known.tsv"), 3) {
        let shown = match value_of(fact[0], &scope) {
            Ok(value) => {
                let value = value.unmark_deep().0;
                // State does not keep the type of a null.
                let ty = if value.is_null() { Type::Dynamic } else { value.type_of() };
                format!("{}\t{}", json::type_to_tree(&ty), json::encode(&value).unwrap())
            }
            Err(error) => format!("{error:?}"),
        };
        // The recorded JSON is spaced and escaped in another way.
        let again = |text: &str| json::read(text).unwrap().to_string();
        let expected = format!("{}\t{}", again(fact[1]), again(fact[2]));
        if shown != expected {
            wrong.push(format!("{}\n  expected {expected}\n  found    {shown}", fact[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Expression, what is known of its value, where it is unknown, is it sensitive (`?`: not known).
#[test]
fn unknown_and_sensitive_results_are_terraforms() {
    let scope = scope();
    let mut wrong = Vec::new();
    for fact in facts(include_str!("unknown.tsv"), 4) {
        let shown = match value_of(fact[0], &scope) {
            Ok(value) => {
                let known = value.is_known() || value.marks.sensitive;
                let sensitive = if known { value.marks.sensitive.to_string() } else { "?".to_owned() };
                let after = match json::known_part(&value, false) {
                    Some(after) => after.to_string(),
                    None => String::new(),
                };
                format!("{after}\t{}\t{sensitive}", after_unknown(&value))
            }
            Err(error) => format!("{error:?}"),
        };
        let expected = fact[1..].join("\t");
        if shown != expected {
            wrong.push(format!("{}\n  expected {expected}\n  found    {shown}", fact[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As the plan JSON of an output has it: `false` for a value that is known in all its parts.
fn after_unknown(value: &Value) -> Json {
    if value.is_wholly_known() { Json::Bool(false) } else { json::after_unknown(value) }
}

/// Expression, summary, detail.
#[test]
fn errors_say_what_terraforms_say() {
    let scope = scope();
    let mut wrong = Vec::new();
    for fact in facts(include_str!("errors.tsv"), 3) {
        let shown = match value_of(fact[0], &scope) {
            Ok(value) => format!("no error but {value:?}"),
            Err(error) => {
                let first = error.iter().next().unwrap();
                let detail: Vec<&str> = first.detail.split_whitespace().collect();
                format!("{}\t{}", first.summary, detail.join(" "))
            }
        };
        let expected = fact[1..].join("\t");
        if shown != expected {
            wrong.push(format!("{}\n  expected {expected}\n  found    {shown}", fact[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
