//! The values of a chart, merged here and given to Helm in one private file: nothing of them is on a command line, where
//! every user of the machine could read it.

use serde_json::{Map, Number, Value as Json};

/// A list that is grown by an index is not longer than this.
const LONGEST_LIST: usize = 4096;

/// One step of a name: `a.b[0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Lays values over others: maps are merged, all else is replaced.
pub(super) fn merge(under: &mut Json, over: Json) {
    match (under, over) {
        (Json::Object(under), Json::Object(over)) => {
            for (name, value) in over {
                merge(under.entry(name).or_insert(Json::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// Sets a value by its name, as `--set` reads names.
///
/// # Errors
/// What is wrong with the name, as a sentence.
pub(super) fn set(values: &mut Json, name: &str, value: Json) -> Result<(), String> {
    let steps = steps(name)?;
    let mut at = values;
    for step in &steps {
        at = match step {
            Step::Name(name) => {
                if !at.is_object() {
                    *at = Json::Object(Map::new());
                }
                let Json::Object(fields) = at else { return Err(format!("{name:?} is in no map.")) };
                fields.entry(name.clone()).or_insert(Json::Null)
            }
            Step::Index(index) => {
                if !at.is_array() {
                    *at = Json::Array(Vec::new());
                }
                let Json::Array(items) = at else { return Err("An index is in no list.".to_owned()) };
                if items.len() <= *index {
                    items.resize(index + 1, Json::Null);
                }
                &mut items[*index]
            }
        };
    }
    *at = value;
    Ok(())
}

fn steps(name: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut word = String::new();
    let mut chars = name.chars();
    let mut after_index = false;
    while let Some(next) = chars.next() {
        match next {
            '\\' => word.extend(chars.next()),
            '.' if word.is_empty() && after_index => after_index = false,
            '.' => steps.push(Step::Name(named(&mut word, name)?)),
            '[' => {
                if !word.is_empty() {
                    steps.push(Step::Name(named(&mut word, name)?));
                }
                let digits: String = chars.by_ref().take_while(|c| *c != ']').collect();
                let index = digits.parse().ok().filter(|index| *index < LONGEST_LIST);
                let index = index.ok_or_else(|| format!("{digits:?} in {name:?} is no index below {LONGEST_LIST}."))?;
                steps.push(Step::Index(index));
                after_index = true;
            }
            other => {
                after_index = false;
                word.push(other);
            }
        }
    }
    if !word.is_empty() || !after_index {
        steps.push(Step::Name(named(&mut word, name)?));
    }
    Ok(steps)
}

fn named(word: &mut String, name: &str) -> Result<String, String> {
    let word = std::mem::take(word);
    if word.is_empty() { Err(format!("{name:?} has an empty part.")) } else { Ok(word) }
}

/// What a text of `set` means: numbers, true, false and null are what they look like, `{a,b}` is a list, all else is text.
/// A comma may be written `\,`, as on Helm's command line.
pub(super) fn typed(text: &str) -> Json {
    if let Some(inside) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return match inside {
            "" => Json::Array(Vec::new()),
            inside => Json::Array(parts(inside).iter().map(|part| scalar(part.trim())).collect()),
        };
    }
    scalar(&parts(text).join(","))
}

/// The parts between commas, where `\,` is a comma.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(next) = chars.next() {
        let last = parts.last_mut().expect("there is always one part");
        match next {
            '\\' if chars.peek() == Some(&',') => last.extend(chars.next()),
            ',' => parts.push(String::new()),
            other => last.push(other),
        }
    }
    parts
}

fn scalar(text: &str) -> Json {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        "null" => Json::Null,
        // Helm keeps leading zeros, too: such a text is an identifier more often than a number.
        "0" => 0.into(),
        text if text.starts_with('0') => text.into(),
        text => match text.parse::<i64>() {
            Ok(number) => Json::Number(Number::from(number)),
            Err(_) => text.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_as_helm_reads_them() {
        for (name, expected) in [
            ("a", Ok(json!({"a": 1}))),
            ("a.b", Ok(json!({"a": {"b": 1}}))),
            ("a\\.b.c", Ok(json!({"a.b": {"c": 1}}))),
            ("a[1].b", Ok(json!({"a": [null, {"b": 1}]}))),
            ("a[0][1]", Ok(json!({"a": [[null, 1]]}))),
            ("a[x]", Err("\"x\" in \"a[x]\" is no index below 4096.")),
            ("a..b", Err("\"a..b\" has an empty part.")),
            ("", Err("\"\" has an empty part.")),
            ("a.", Err("\"a.\" has an empty part.")),
        ] {
            let mut values = json!({});
            let found = set(&mut values, name, json!(1)).map(|()| values);
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|why| *why), "{name}");
        }
    }

    #[test]
    fn maps_are_merged_and_lists_replaced() {
        let mut values = json!({"a": {"b": 1, "c": [1, 2]}, "d": 1});
        merge(&mut values, json!({"a": {"c": [3]}, "d": {"e": null}}));
        assert_eq!(values, json!({"a": {"b": 1, "c": [3]}, "d": {"e": null}}));
        set(&mut values, "a.c[1]", json!("x")).unwrap();
        assert_eq!(values["a"]["c"], json!([3, "x"]));
    }

    #[test]
    fn texts_are_what_they_look_like() {
        for (text, expected) in [
            ("true", json!(true)),
            ("12", json!(12)),
            ("1.5", json!("1.5")),
            ("007", json!("007")),
            ("null", json!(null)),
            ("{a,2}", json!(["a", 2])),
            ("a\\,b", json!("a,b")),
            ("a,b", json!("a,b")),
            ("", json!("")),
        ] {
            assert_eq!(typed(text), expected, "{text}");
        }
    }
}
