//! From a field as the API server names it to its place in a manifest.

use engine_value::{Path, Step};
use serde_json::Value as Json;

/// The place of a field in a manifest: `.spec.containers[name="a"].image`, `spec.ports[0].port`, `metadata.labels[a/b]`.
/// Where the manifest has no such field, the nearest place around it that it has.
pub(crate) fn place(field: &str, manifest: &Json) -> Path {
    follow(field, manifest).0
}

/// Does the manifest say this field?
pub(crate) fn says(field: &str, manifest: &Json) -> bool {
    follow(field, manifest).1
}

/// As far as the manifest has the field, and whether that is all of it.
fn follow(field: &str, manifest: &Json) -> (Path, bool) {
    let mut path = Path::root();
    // A Service's first address has two names: it is told by the one, and mostly written as the other.
    let written = manifest.pointer("/spec/clusterIPs").is_some();
    let field = match field.trim_start_matches('.') {
        field if field.starts_with("spec.clusterIPs") && !written => "spec.clusterIP",
        field => field,
    };
    let (mut rest, mut at) = (field, manifest);
    loop {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let next = match rest.strip_prefix('[') {
            Some(inside) => bracket(inside, at),
            None => name(rest, at),
        };
        let Some((step, value, after)) = next else { return (path, rest.is_empty()) };
        path.0.push(step);
        (at, rest) = (value, after);
    }
}

/// The longest field that the text begins with: names of labels have dots in them.
fn name<'a, 'b>(text: &'b str, at: &'a Json) -> Option<(Step, &'a Json, &'b str)> {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
    at.as_object()?
        .iter()
        .filter_map(|(name, value)| {
            let rest = text.strip_prefix(name.as_str()).filter(|rest| ends(rest))?;
            Some((Step::Attr(name.as_str().into()), value, rest))
        })
        .min_by_key(|(_, _, rest)| rest.len())
}

fn bracket<'a, 'b>(text: &'b str, at: &'a Json) -> Option<(Step, &'a Json, &'b str)> {
    let (inside, rest) = text.split_once(']')?;
    if let Json::Object(fields) = at {
        let name = inside.trim_matches('"');
        return Some((Step::Attr(name.into()), fields.get(name)?, rest));
    }
    let items = at.as_array()?;
    let index = match inside.parse::<usize>() {
        Ok(index) => index,
        Err(_) => items.iter().position(|item| fits(item, inside))?,
    };
    Some((Step::Index(index), items.get(index)?, rest))
}

/// `name="a",port=80` as keys of an item, or `="a"` as the item itself. A key that the item leaves out does not count.
fn fits(item: &Json, keys: &str) -> bool {
    let equal = |value: &Json, text: &str| serde_json::from_str::<Json>(text).is_ok_and(|wanted| wanted == *value);
    match keys.strip_prefix('=') {
        Some(value) => equal(item, value),
        None => keys.split(',').all(|key| match key.split_once('=') {
            Some((name, value)) => item.get(name).is_none_or(|found| equal(found, value)),
            None => false,
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_found_in_the_manifest() {
        let manifest = json!({
            "metadata": {"labels": {"app.kubernetes.io/name": "x", "app": "y"}, "finalizers": ["a", "b"]},
            "spec": {"clusterIP": "10.0.0.1", "containers": [{"name": "a"}, {"name": "b", "ports": [{"containerPort": 80}]}]},
        });
        for (field, expected) in [
            (".metadata.labels.app.kubernetes.io/name", "metadata.labels.app.kubernetes.io/name"),
            ("metadata.labels[app]", "metadata.labels.app"),
            (".metadata.finalizers[=\"b\"]", "metadata.finalizers[1]"),
            (
                ".spec.containers[name=\"b\"].ports[containerPort=80,protocol=\"TCP\"].containerPort",
                "spec.containers[1].ports[0].containerPort",
            ),
            ("spec.containers[1].ports[0].hostPort", "spec.containers[1].ports[0]"),
            ("spec.replicas", "spec"),
            ("spec.clusterIPs[0]", "spec.clusterIP"),
            ("", ""),
        ] {
            assert_eq!(place(field, &manifest).to_string(), expected, "{field}");
        }
    }
}
