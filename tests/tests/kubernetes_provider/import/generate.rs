//! Objects from schemas: the smallest that a schema allows, and one with everything.

use serde_json::{Map, Value as Json, json};

/// So deep goes the rich one.
const DEPTH: usize = 12;

/// What a schema allows. `rich`: every property, not only those that are required.
pub(super) fn object(schema: &Json, rich: bool) -> Json {
    value(schema, rich, 0)
}

fn value(schema: &Json, rich: bool, depth: usize) -> Json {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    let is = |flag: &str| schema.get(flag) == Some(&json!(true));
    if is("x-kubernetes-int-or-string") {
        return json!(1);
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("object") => members(schema, rich, depth),
        Some("array") => {
            let least = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
            let item = schema.get("items").cloned().unwrap_or_default();
            let many = if rich && depth < DEPTH { least.max(1) } else { least };
            (0..many).map(|_| value(&item, rich, depth + 1)).collect()
        }
        Some("integer") => json!(number(schema, 1.0) as i64),
        Some("number") => json!(number(schema, 1.5)),
        Some("boolean") => json!(true),
        Some("string") => json!(text(schema)),
        _ if is("x-kubernetes-preserve-unknown-fields") => json!({"any": ["${x}", {"a/b": "%{y}"}]}),
        _ => json!({}),
    }
}

fn members(schema: &Json, rich: bool, depth: usize) -> Json {
    if schema.get("x-kubernetes-embedded-resource") == Some(&json!(true)) {
        return json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}});
    }
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&nothing);
    let required: Vec<&str> =
        schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let wanted = properties.iter().filter(|(name, _)| required.contains(&name.as_str()) || (rich && depth < DEPTH));
    let mut made: Map<String, Json> =
        wanted.map(|(name, schema)| (name.clone(), value(schema, rich, depth + 1))).collect();
    if let Some(of) = schema.get("additionalProperties").filter(|of| of.is_object() && rich && depth < DEPTH) {
        made.insert("key.example.com/a".to_owned(), value(of, rich, depth + 1));
    } else if rich && properties.is_empty() && schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(true))
    {
        made.insert("any".to_owned(), json!({"lines": "a\nb\n", "n": 1.5, "list": [1, "a"]}));
    }
    Json::Object(made)
}

fn number(schema: &Json, usual: f64) -> f64 {
    let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
    let least = bound("minimum").map_or(usual, |least| usual.max(least));
    bound("maximum").map_or(least, |most| least.min(most))
}

fn text(schema: &Json) -> String {
    let word = |name: &str| schema.get(name).and_then(Json::as_str);
    match word("format") {
        Some("date-time") => return "2026-01-02T03:04:05Z".to_owned(),
        Some("date") => return "2026-01-02".to_owned(),
        Some("uri") => return "https://example.com/a".to_owned(),
        Some("byte") => return "AAEC".to_owned(),
        Some("duration") => return "5m".to_owned(),
        _ => {}
    }
    let least = schema.get("minLength").and_then(Json::as_u64).unwrap_or(0) as usize;
    let most = schema.get("maxLength").and_then(Json::as_u64).map_or(usize::MAX, |most| most as usize);
    // What the patterns of the definitions are about: names, paths, quantities, versions, times, keys with a prefix.
    const CANDIDATES: &[&str] = &[
        "a",
        "a.example.com/b",
        "1",
        "/a/b",
        "A",
        "1.2.3",
        "10Mi",
        "5m",
        "2026-01-02T03:04:05Z",
        "https://example.com",
        "example.com",
        "a-b",
        "0x1",
        "0000:00:00.0",
        "a=b",
    ];
    let fits = |text: &str| word("pattern").is_none_or(|pattern| matches(pattern, text));
    let found = CANDIDATES.iter().find(|text| (least..=most).contains(&text.len()) && fits(text));
    found.map_or_else(|| "a".repeat(least.max(1)), |text| (*text).to_owned())
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}
