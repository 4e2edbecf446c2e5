//! Label and field selectors.

use serde_json::Value;

use super::object;
use super::status::Failure;

#[derive(Clone, Debug, PartialEq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Missing,
}

/// A label selector: all its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LabelSelector(Vec<(String, Test)>);

impl LabelSelector {
    /// Reads the text form of a query (`a=b,c!=d,e in (f,g),h,!i`).
    pub(super) fn parse(text: &str) -> Result<LabelSelector, Failure> {
        let mut requirements = Vec::new();
        for part in split_outside_parentheses(text) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            let requirement = requirement(part).ok_or_else(|| {
                Failure::bad_request(format!("unable to parse requirement: {part:?} is not a label requirement"))
            })?;
            requirements.push(requirement);
        }
        Ok(LabelSelector(requirements))
    }

    /// Reads a `LabelSelector` object. An empty one selects everything.
    pub(super) fn from_json(selector: &Value) -> LabelSelector {
        let mut requirements = Vec::new();
        for (key, value) in object::entries(selector, "/matchLabels") {
            requirements.push((key.clone(), Test::In(value.as_str().map(str::to_owned).into_iter().collect())));
        }
        for expression in object::items(selector, "/matchExpressions") {
            let values = object::items(expression, "/values").filter_map(Value::as_str).map(str::to_owned).collect();
            let test = match object::text(expression, "/operator") {
                "In" => Test::In(values),
                "NotIn" => Test::NotIn(values),
                "Exists" => Test::Exists,
                _ => Test::Missing,
            };
            requirements.push((object::text(expression, "/key").to_owned(), test));
        }
        LabelSelector(requirements)
    }

    /// Whether the object's labels satisfy all requirements.
    pub(super) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(key, test)| {
            let labels = object.pointer("/metadata/labels");
            let value = labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
            match (test, value) {
                (Test::In(values), Some(value)) => values.iter().any(|one| one == value),
                (Test::NotIn(values), Some(value)) => values.iter().all(|one| one != value),
                (Test::Exists, value) => value.is_some(),
                (Test::Missing, value) => value.is_none(),
                (Test::In(_), None) => false,
                (Test::NotIn(_), None) => true,
            }
        })
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (index, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(part: &str) -> Option<(String, Test)> {
    let (key, test) = if let Some((key, value)) = part.split_once("!=") {
        (key, Test::NotIn(vec![value.trim().to_owned()]))
    } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (key, Test::In(vec![value.trim().to_owned()]))
    } else if let Some((head, values)) = part.split_once('(') {
        let values = values.trim().strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
        match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => (*key, Test::In(values)),
            [key, "notin"] => (*key, Test::NotIn(values)),
            _ => return None,
        }
    } else if let Some(key) = part.strip_prefix('!') {
        (key, Test::Missing)
    } else {
        (part, Test::Exists)
    };
    let key = key.trim();
    let is_name = super::names::qualified_name_problem(key).is_none();
    is_name.then(|| (key.to_owned(), test))
}

/// A field selector: all its comparisons must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FieldSelector(Vec<(String, bool, String)>);

/// Fields of built-in kinds that are false when nothing is said.
const FLAGS: &[&str] = &["/spec/unschedulable", "/spec/hostNetwork"];

impl FieldSelector {
    /// Reads `metadata.name=x,spec.nodeName!=y`; `supported` are the fields that the kind allows.
    pub(super) fn parse(text: &str, supported: &[&str]) -> Result<FieldSelector, Failure> {
        let mut comparisons = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (field, equal, value) = if let Some((field, value)) = part.split_once("!=") {
                (field, false, value)
            } else if let Some((field, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
                (field, true, value)
            } else {
                return Err(Failure::bad_request(format!("invalid selector: {part:?}; can't understand {part:?}")));
            };
            let field = field.trim();
            if !["metadata.name", "metadata.namespace"].contains(&field) && !supported.contains(&field) {
                return Err(Failure::bad_request(format!("field label not supported: {field}")));
            }
            comparisons.push((format!("/{}", field.replace('.', "/")), equal, value.trim().to_owned()));
        }
        Ok(FieldSelector(comparisons))
    }

    /// Whether the object satisfies all comparisons. An absent field equals the empty string.
    pub(super) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(pointer, equal, wanted)| {
            let matches = match object.pointer(pointer) {
                Some(Value::String(found)) => found == wanted,
                // Go's structs have no absent flags.
                Some(Value::Null) | None if FLAGS.contains(&pointer.as_str()) => wanted == "false",
                Some(Value::Null) | None => wanted.is_empty(),
                Some(other) => other.to_string().as_str() == wanted.as_str(),
            };
            matches == *equal
        })
    }

    /// The name that objects must have, when the selector fixes it.
    pub(super) fn exact_name(&self) -> Option<&str> {
        self.0
            .iter()
            .find(|(pointer, equal, _)| pointer == "/metadata/name" && *equal)
            .map(|(_, _, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn label_selectors() {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "front"}}});
        for (selector, matches) in [
            ("", true),
            ("app=web", true),
            ("app==web,tier!=back", true),
            ("app in (api, web),tier", true),
            ("app notin (web)", false),
            ("!gone", true),
            ("gone", false),
            ("gone!=x", true),
            ("gone notin (x)", true),
            ("gone in (x)", false),
        ] {
            assert_eq!(LabelSelector::parse(selector).unwrap().matches(&object), matches, "{selector}");
        }
        for wrong in ["a b", "a in b", "=x", "a in (b"] {
            assert!(LabelSelector::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn field_selectors() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n1"}, "status": {}});
        let fields = &["spec.nodeName", "status.phase"];
        for (selector, matches) in [
            ("metadata.name=a", true),
            ("spec.nodeName=n1,metadata.name!=b", true),
            ("spec.nodeName!=n1", false),
            ("status.phase!=Running", true),
            ("status.phase=", true),
        ] {
            assert_eq!(FieldSelector::parse(selector, fields).unwrap().matches(&pod), matches, "{selector}");
        }
        let error = FieldSelector::parse("spec.foo=1", fields).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (400, "field label not supported: spec.foo"));
    }
}
