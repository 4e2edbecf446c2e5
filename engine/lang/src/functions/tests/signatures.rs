//! What functions take and give.

use engine_value::json::{self, Json};

use crate::functions::metadata;

/// Name, signature without descriptions.
#[test]
fn signatures_are_terraforms() {
    let facts: Vec<(&str, Json)> = include_str!("signatures.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, fact)| (name, json::read(fact).unwrap()))
        .collect();
    let metadata = metadata();
    let signatures = metadata.get("function_signatures").unwrap();
    let Json::Object(all) = signatures else { panic!("{signatures}") };
    let mut wrong = Vec::new();
    for (name, expected) in &facts {
        let found = signatures.get(name).map(|signature| undescribed(signature).to_string()).unwrap_or_default();
        if found != expected.to_string() {
            wrong.push(format!("{name}\n  expected {expected}\n  found    {found}"));
        }
        assert_eq!(signatures.get(name), signatures.get(&format!("core::{name}")));
    }
    for (name, _) in all.iter().filter(|(name, _)| !name.contains("::")) {
        if !facts.iter().any(|(known, _)| *known == &**name) {
            wrong.push(format!("{name} is not one of Terraform's functions"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn undescribed(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, _)| &**name != "description");
            Json::Object(kept.map(|(name, value)| (name.clone(), undescribed(value))).collect())
        }
        Json::Array(elements) => Json::Array(elements.iter().map(undescribed).collect()),
        other => other.clone(),
    }
}
