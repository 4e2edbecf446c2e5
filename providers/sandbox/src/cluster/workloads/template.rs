//! Pod templates: whether two are the same, and the hash by which the sets of a deployment are told apart.

use std::fmt::Write as _;

use serde_json::Value;

use crate::names::LETTERS;

/// The label by which a deployment tells the pods of its sets apart.
pub(super) const HASH: &str = "pod-template-hash";

/// The template without the hash: what a deployment and its set have in common.
pub(super) fn plain(workload: &Value) -> Value {
    let mut template = workload["spec"]["template"].clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    template
}

/// A short name for a template; `collisions` tells apart those that would have the same. (Kubernetes' hash is another: it
/// is of Go's memory layout.)
pub(super) fn hash(template: &Value, collisions: i64) -> String {
    let mut text = String::new();
    canonical(template, &mut text);
    if collisions > 0 {
        text.push_str(&collisions.to_string());
    }
    // FNV-1a, as Kubernetes uses it.
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(LETTERS[usize::from(digit) % LETTERS.len()])).collect()
}

/// JSON with its fields in order.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_str());
            text.push('{');
            for (name, value) in fields {
                // Writing to a string does not fail.
                let _ = write!(text, "{name:?}:");
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_of_what_is_said_not_of_how() {
        let one = json!({"spec": {"containers": [{"name": "c", "image": "i"}], "a": 1}});
        let same: Value =
            serde_json::from_str(r#"{"spec": {"a": 1, "containers": [{"image": "i", "name": "c"}]}}"#).unwrap();
        assert_eq!(hash(&one, 0), hash(&same, 0));
        let other = json!({"spec": {"containers": [{"name": "c", "image": "j"}], "a": 1}});
        assert_ne!(hash(&one, 0), hash(&other, 0));
        assert_ne!(hash(&one, 0), hash(&one, 1));
        assert!(hash(&one, 0).bytes().all(|byte| LETTERS.contains(&byte)));
    }

    #[test]
    fn the_label_is_no_part_of_the_template() {
        let deployment = json!({"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}});
        let set = json!({"spec": {"template": {"metadata": {"labels": {"a": "b", "pod-template-hash": "x"}}}}});
        assert_eq!(plain(&deployment), plain(&set));
    }
}
