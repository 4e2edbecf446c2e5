//! What an API server says, without what it repeats: values, which may be secret, and whole objects.

use serde_json::Value as Json;

/// Longer values are left out of a message: they are objects, or files.
const LONGEST_VALUE: usize = 80;

/// Longer messages are cut: nobody reads them, and what matters stands first.
const LONGEST: usize = 2000;

/// What is wrong with a value, without the value: it may be secret, and its place in the configuration is told anyway.
pub(super) fn without_value(message: &str) -> String {
    // "Invalid value: VALUE: why", where VALUE is JSON, or what Go prints of a structure.
    let Some((what, rest)) = message.split_once(": ").filter(|(what, _)| what.ends_with(" value")) else {
        return message.to_owned();
    };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Json>();
    let why = match values.next() {
        Some(Ok(_)) => rest[values.byte_offset()..].strip_prefix(": "),
        // Of objects that break a rule, API servers leave the value out themselves.
        _ if rest.starts_with("failed rule: ") || is_sentence(rest) => Some(rest),
        _ => rest.rsplit_once(": ").map(|(_, why)| why).filter(|why| !why.contains('"')),
    };
    why.map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"))
}

/// Is it words, and no value that Go prints?
fn is_sentence(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.contains(' ') && !text.contains(['{', '"'])
}

/// A message as it is shown. A patch that cannot be read is answered with the whole object that would have come of it.
pub(crate) fn told(message: &str) -> String {
    const VALUE: &str = "Invalid value: ";
    let (mut shown, mut rest) = (String::new(), message);
    while let Some(at) = rest.find(VALUE) {
        let (before, value) = rest.split_at(at + VALUE.len());
        shown += before;
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Json>();
        let end = match values.next() {
            Some(Ok(_)) => values.byte_offset(),
            _ => 0,
        };
        rest = match value[end..].strip_prefix(": ").filter(|_| end > LONGEST_VALUE) {
            Some(why) => why,
            None => {
                shown += &value[..end];
                &value[end..]
            }
        };
    }
    shown += rest;
    match shown.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out() {
        for (message, expected) in [
            ("Invalid value: \"hun: ter2\": must be base64", "Invalid value: must be base64"),
            ("Invalid value: -1: must be positive", "Invalid value: must be positive"),
            ("Invalid value: {\"a\":\"b: c\"}: field is immutable", "Invalid value: field is immutable"),
            ("Invalid value: v1.Spec{A:\"b: c\"}: field is immutable", "Invalid value: field is immutable"),
            ("Unsupported value: \"x\": supported values: \"y\"", "Unsupported value: supported values: \"y\""),
            ("Invalid value: it is 2: it only grows", "Invalid value: it is 2: it only grows"),
            ("Invalid value: failed rule: self.a != \"\"", "Invalid value: failed rule: self.a != \"\""),
            ("Duplicate value: \"x\"", "Duplicate value"),
            ("Required value", "Required value"),
        ] {
            assert_eq!(without_value(message), expected);
        }
    }

    #[test]
    fn whole_objects_are_never_repeated() {
        let object = serde_json::json!({"kind": "Node", "metadata": {"annotations": {"x": "hunter2: \"y\""}, "name": "gpu-01",
            "labels": {"a": "b"}}, "spec": {"taints": "none"}});
        let repeated = serde_json::to_string(&object.to_string()).unwrap();
        for (message, expected) in [
            (
                format!("\"\" is invalid: patch: Invalid value: {repeated}: json: cannot unmarshal string"),
                "\"\" is invalid: patch: Invalid value: json: cannot unmarshal string".to_owned(),
            ),
            (
                format!("[a: Invalid value: -1: too small, b: Invalid value: {object}: no object]"),
                "[a: Invalid value: -1: too small, b: Invalid value: no object]".to_owned(),
            ),
            ("Invalid value: ".to_owned(), "Invalid value: ".to_owned()),
            ("x".repeat(3000), format!("{}…", "x".repeat(LONGEST))),
        ] {
            assert_eq!(told(&message), expected);
        }
    }
}
