//! Rules of a definition about changes (`oldSelf`): what breaks one may be made anew, and not be changed.

use serde_json::Value as Json;

use super::{
    node::{Field, Node, Schema},
    rules::RULES,
    source::FINDS_WORDS,
};

/// What a rule demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// That an object changes in no other way.
    Change,
    /// That an object is so.
    Object,
}

impl Schema {
    /// What the rule demands whose words the API server uses of a field. `None`: no rule of the schema has these words.
    pub(crate) fn demanded(&self, field: &str, message: &str) -> Option<Demand> {
        let (mut part, mut rest) = (self.node()?, field);
        let mut said = Vec::new();
        // A rule may point at a field below the part that it is written at.
        loop {
            said.extend(by_words(part, &Said { below: rest, message }));
            let Some((next, after)) = step(part, rest.strip_prefix('.').unwrap_or(rest)) else { break };
            (part, rest) = (next, after);
        }
        // Where the same words stand for both, the object itself may be wrong.
        said.iter().find(|demand| **demand == Demand::Object).or(said.first()).copied()
    }
}

/// What the API server says.
struct Said<'a> {
    /// The field, from the part of the schema on.
    below: &'a str,
    message: &'a str,
}

/// One step down a field as the API server writes it: `spec.list[0].name`, `spec.map[key]`.
fn step<'a, 'b>(node: Node<'a>, text: &'b str) -> Option<(Node<'a>, &'b str)> {
    let declared = |name: &str| match node.field(name) {
        Field::Declared(field) => Some(field),
        Field::Free | Field::Unknown => None,
    };
    if let Some(inside) = text.strip_prefix('[') {
        let (inside, rest) = inside.split_once(']')?;
        return Some((node.items().or_else(|| declared(inside))?, rest));
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    if end == 0 {
        return None;
    }
    Some((declared(&text[..end])?, &text[end..]))
}

/// What the rules of a part demand that have these words, or find their own.
fn by_words(part: Node<'_>, said: &Said<'_>) -> Vec<Demand> {
    let mut parts = part.alternatives("allOf");
    parts.push(part);
    let rules = parts.iter().filter_map(|part| part.keyword(RULES)?.as_array()).flatten();
    rules
        .filter_map(|rule| {
            let text = |name: &str| rule.get(name).and_then(Json::as_str).unwrap_or_default().trim();
            let demand = if uses_old(text("rule")) { Demand::Change } else { Demand::Object };
            let words = match text("message") {
                "" => format!("failed rule: {}", text("rule")),
                words => words.to_owned(),
            };
            // Its words are not known then; those of the schema's own keywords are.
            let finds_words = rule.get(FINDS_WORDS) == Some(&Json::Bool(true))
                && text("fieldPath").trim_start_matches('.') == said.below.trim_start_matches('.')
                && said.message.contains("Invalid value")
                && !said.message.contains(" in body ");
            (said.message.ends_with(&words) || finds_words).then_some(demand)
        })
        .collect()
}

/// Does an expression name `oldSelf`?
fn uses_old(rule: &str) -> bool {
    rule.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "oldSelf")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_about_changes_are_told_by_their_words() {
        let item = json!({"type": "object", "properties": {"size": {"type": "integer", RULES: [
            {"rule": "self >= oldSelf", "message": "a volume only grows"}]}}});
        let definition = json!({"spec": {"scope": "Namespaced", "versions": [{"name": "v1", "served": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                RULES: [
                    {"rule": "self.shard == oldSelf.shard", "message": "keep it", "fieldPath": ".shard"},
                    {"rule": "self.size > 0", "message": "too small"},
                    {"rule": "self.size == oldSelf.size", "message": "too small"},
                    {"rule": "self.oldSelfish == 1"},
                    {"rule": "self.zone == oldSelf.zone"},
                    {"rule": "self.mode == oldSelf.mode", "message": "x", "messageExpression": "'mode ' + self.mode",
                        "fieldPath": ".mode"},
                ],
                "properties": {"list": {"type": "array", "items": item.clone()},
                    "map": {"type": "object", "additionalProperties": item}}}}}}}]}});
        let schema = Schema::of_definition(&definition, "v1").unwrap();
        for (field, message, expected) in [
            ("spec.shard", "Invalid value: keep it", Some(Demand::Change)),
            ("spec", "Invalid value: failed rule: self.zone == oldSelf.zone", Some(Demand::Change)),
            ("spec", "Invalid value: failed rule: self.oldSelfish == 1", Some(Demand::Object)),
            ("spec", "Invalid value: too small", Some(Demand::Object)),
            ("spec.mode", "Invalid value: mode b", Some(Demand::Change)),
            ("spec.list[3].size", "Invalid value: a volume only grows", Some(Demand::Change)),
            ("spec.map[a.b/c].size", "Invalid value: a volume only grows", Some(Demand::Change)),
            ("spec.list", "Invalid value: must be an array", None),
            ("spec.mode", "Invalid value: spec.mode in body should be at least 3 chars long", None),
            ("metadata.name", "Invalid value: keep it", None),
        ] {
            assert_eq!(schema.demanded(field, message), expected, "{field}: {message}");
        }
    }
}
