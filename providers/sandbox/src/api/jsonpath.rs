//! The part of kubectl's JSONPath that printer columns use: fields, indices, `[*]`, and filters on equality.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    /// Items whose value at the path equals the text.
    Where(Vec<String>, String),
}

/// A compiled path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JsonPath(Vec<Step>);

impl JsonPath {
    /// Reads `.spec.items[0].name`, `.status.conditions[?(@.type=="Ready")].status`; none when it is something else.
    pub(super) fn parse(text: &str) -> Option<JsonPath> {
        let text = text.trim().trim_start_matches('{').trim_end_matches('}');
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('[') {
                let end = closing_bracket(after)?;
                steps.push(bracket(&after[..end])?);
                rest = &after[end + 1..];
            } else {
                let after = rest.strip_prefix('.')?;
                let (name, length) = field(after);
                if !name.is_empty() {
                    steps.push(if name == "*" { Step::All } else { Step::Field(name) });
                }
                rest = &after[length..];
            }
        }
        Some(JsonPath(steps))
    }

    /// All values at the path.
    pub(super) fn find<'v>(&self, object: &'v Value) -> Vec<&'v Value> {
        let mut values = vec![object];
        for step in &self.0 {
            values = values.into_iter().flat_map(|value| apply(step, value)).collect();
        }
        values
    }
}

/// A field's name up to the next dot or bracket; a backslash takes the next character as it is.
fn field(text: &str) -> (String, usize) {
    let (mut name, mut escaped) = (String::new(), false);
    for (index, character) in text.char_indices() {
        match character {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (name, index),
            _ => {
                escaped = false;
                name.push(character);
            }
        }
    }
    (name, text.len())
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, character) in text.char_indices() {
        match (quote, character) {
            (None, ']') => return Some(index),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), character) if open == character => quote = None,
            _ => {}
        }
    }
    None
}

fn bracket(text: &str) -> Option<Step> {
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|text| text.strip_suffix(')')) {
        let (path, wanted) = filter.split_once("==")?;
        let path = path.trim().strip_prefix("@.")?.split('.').map(str::to_owned).collect();
        return Some(Step::Where(path, unquote(wanted.trim())?.to_owned()));
    }
    match text.parse() {
        Ok(index) => Some(Step::Index(index)),
        Err(_) => unquote(text).map(|name| Step::Field(name.to_owned())),
    }
}

fn unquote(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

fn apply<'v>(step: &Step, value: &'v Value) -> Vec<&'v Value> {
    match (step, value) {
        (Step::Field(name), value) => value.get(name).into_iter().collect(),
        (Step::Index(index), Value::Array(list)) => {
            let index = if *index < 0 { *index + list.len() as i64 } else { *index };
            usize::try_from(index).ok().and_then(|index| list.get(index)).into_iter().collect()
        }
        (Step::All, Value::Array(list)) => list.iter().collect(),
        (Step::All, Value::Object(map)) => map.values().collect(),
        (Step::Where(path, wanted), Value::Array(list)) => list
            .iter()
            .filter(|item| {
                let found = path.iter().try_fold(*item, |value, name| value.get(name));
                found.is_some_and(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned) == *wanted)
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn printer_columns_find_their_values() {
        let object = json!({
            "metadata": {"labels": {"example.com/pool": "dev"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Held", "status": "False"}], "n": 3},
        });
        for (path, found) in [
            (".status.n", json!([3])),
            (".status.conditions[?(@.type==\"Held\")].status", json!(["False"])),
            (".status.conditions[*].type", json!(["Ready", "Held"])),
            (".status.conditions[-1].type", json!(["Held"])),
            (".metadata.labels.example\\.com/pool", json!(["dev"])),
            (".metadata.labels['example.com/pool']", json!(["dev"])),
            (".status.gone.deeper", json!([])),
        ] {
            assert_eq!(json!(JsonPath::parse(path).unwrap().find(&object)), found, "{path}");
        }
        assert_eq!(JsonPath::parse("status"), None);
        assert_eq!(JsonPath::parse(".a[?(@.b>1)]"), None);
    }
}
