//! Facts: expressions and what Terraform made of them, by family, one a line.
//!
//! After the expression, separated by tabs:
//! - `=`, the type and the value, if it is known; the type of a null is not told;
//! - `?`, what is known of it, and where it is unknown, as a plan's JSON has it;
//! - `!` and the error.
//!
//! `=` and `?` are followed by `s` where a part of the value is sensitive. Where we mean to differ, or Terraform is wrong,
//! the expression is in `differences.tsv` with what we say and why.

use std::collections::BTreeMap;

use engine_value::{
    Type, Value,
    json::{self, Json},
};

use super::setting::Setting;

/// The families: the names of the files in `facts`.
pub(super) const FAMILIES: &[(&str, &str)] = &[
    ("collection", include_str!("facts/collection.tsv")),
    ("conversion", include_str!("facts/conversion.tsv")),
    ("digest", include_str!("facts/digest.tsv")),
    ("encoding", include_str!("facts/encoding.tsv")),
    ("file", include_str!("facts/file.tsv")),
    ("format", include_str!("facts/format.tsv")),
    ("list", include_str!("facts/list.tsv")),
    ("marks", include_str!("facts/marks.tsv")),
    ("network", include_str!("facts/network.tsv")),
    ("number", include_str!("facts/number.tsv")),
    ("regex", include_str!("facts/regex.tsv")),
    ("template", include_str!("facts/template.tsv")),
    ("text", include_str!("facts/text.tsv")),
    ("time", include_str!("facts/time.tsv")),
    ("unknown", include_str!("facts/unknown.tsv")),
    ("yaml", include_str!("facts/yaml.tsv")),
];

const DIFFERENCES: &str = include_str!("differences.tsv");

/// The lines of a table that are no comments.
pub(super) fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

#[test]
fn results_are_terraforms() {
    let setting = Setting::new();
    let mut differences: BTreeMap<&str, &str> = BTreeMap::new();
    for line in lines(DIFFERENCES) {
        let [expression, ours, _reason] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        differences.insert(expression, ours);
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in FAMILIES.iter().flat_map(|(_, table)| lines(table)) {
        count += 1;
        let (expression, theirs) = line.split_once('\t').unwrap();
        let ours = outcome(&setting, expression);
        let agree = matches(&ours, theirs);
        match differences.remove(expression) {
            Some(meant) if ours.replace('\t', " ").starts_with(meant) && !agree => {}
            Some(_) if agree => wrong.push(format!("{expression}\n  is no difference any more")),
            meant if meant.is_some() || !agree => {
                let theirs = meant.unwrap_or(theirs);
                wrong.push(format!("{expression}\n  expected {theirs}\n  found    {ours}"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(differences.is_empty(), "no such facts: {differences:?}");
}

/// The same value, or both an error.
fn matches(ours: &str, theirs: &str) -> bool {
    if theirs.starts_with('!') {
        return ours.starts_with('!');
    }
    ours == theirs
}

/// What we make of an expression, as the facts have it. An infinite number is no value that a plan can have.
pub(super) fn outcome(setting: &Setting, expression: &str) -> String {
    match setting.value_of(expression) {
        Ok(value) if value.contains_ephemeral() => "!\tephemeral".to_owned(),
        Ok(value) => shown(&value),
        Err(error) => {
            let first = error.iter().find(|one| one.is_error()).unwrap();
            let detail: Vec<&str> = first.detail.split_whitespace().collect();
            format!("!\t{}: {}", first.summary, detail.join(" "))
        }
    }
}

/// In a plan of Terraform, `-0` is 0.
fn without_negative_zero(value: &Value) -> Value {
    value.transform(&mut |_, part| match part.as_number() {
        Some(number) if number.is_zero() => Value::int(0),
        _ => part,
    })
}

fn shown(value: &Value) -> String {
    let sensitive = if value.contains_sensitive() { "\ts" } else { "" };
    let value = without_negative_zero(&value.clone().unmark_deep().0);
    if value.has_unknown() {
        let known = json::known_part(&value, false).map_or(Json::Null, |known| known);
        return format!("?\t{known}\t{}{sensitive}", json::after_unknown(&value));
    }
    let ty = if value.is_null() { Type::Dynamic } else { value.type_of() };
    match json::encode(&value) {
        Ok(text) => format!("=\t{}\t{text}{sensitive}", json::type_to_tree(&ty)),
        Err(error) => format!("!\t{error}"),
    }
}
