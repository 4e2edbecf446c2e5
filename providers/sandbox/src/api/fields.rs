//! Sets of fields, as `metadata.managedFields[].fieldsV1` writes them: a trie whose edges are `f:name` (a field), `k:{…}`
//! (an item of a list map, by its keys), `v:…` (an item of a set, by its value) and `i:…` (an index).

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::schema::{Shape, Type};

/// One step of a path, in its fieldsV1 spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Element(String);

impl Element {
    /// A field of an object.
    pub(super) fn field(name: &str) -> Element {
        Element(format!("f:{name}"))
    }

    /// The item of a list map that has these key fields.
    pub(super) fn key(keys: &BTreeMap<&str, &Value>) -> Element {
        let keys: Map<String, Value> =
            keys.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        Element(format!("k:{}", Value::Object(keys)))
    }

    /// The item of a set that has this value.
    pub(super) fn value(value: &Value) -> Element {
        Element(format!("v:{value}"))
    }

    /// The field's name, if this is a field.
    pub(super) fn as_field(&self) -> Option<&str> {
        self.0.strip_prefix("f:")
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_at_checked(2) {
            Some(("f:", name)) => write!(f, ".{name}"),
            Some(("v:", value)) => write!(f, "[={value}]"),
            Some(("k:", keys)) => {
                let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
                let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Some((_, index)) => write!(f, "[{index}]"),
            None => f.write_str(&self.0),
        }
    }
}

/// A set of paths. The empty path can be a member, too (`member` of the root).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    /// Whether the path that leads here is in the set.
    pub(super) member: bool,
    /// Invariant: no child is empty.
    pub(super) children: BTreeMap<Element, FieldSet>,
}

impl FieldSet {
    pub(super) fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// Adds one path.
    pub(super) fn insert(&mut self, path: &[Element]) {
        let mut node = self;
        for element in path {
            node = node.children.entry(element.clone()).or_default();
        }
        node.member = true;
    }

    /// Whether exactly this child path is in the set.
    pub(super) fn has(&self, element: &Element) -> bool {
        self.children.get(element).is_some_and(|child| child.member)
    }

    /// All paths of either.
    pub(super) fn union(&self, other: &FieldSet) -> FieldSet {
        let mut result = self.clone();
        result.extend(other);
        result
    }

    fn extend(&mut self, other: &FieldSet) {
        self.member |= other.member;
        for (element, child) in &other.children {
            self.children.entry(element.clone()).or_default().extend(child);
        }
    }

    /// The paths of `self` that are not in `other` (exactly; what lies below a member of `other` stays).
    pub(super) fn difference(&self, other: &FieldSet) -> FieldSet {
        let children = self
            .children
            .iter()
            .map(|(element, child)| match other.children.get(element) {
                Some(other) => (element.clone(), child.difference(other)),
                None => (element.clone(), child.clone()),
            })
            .filter(|(_, child)| !child.is_empty())
            .collect();
        FieldSet { member: self.member && !other.member, children }
    }

    /// The paths of both.
    pub(super) fn intersection(&self, other: &FieldSet) -> FieldSet {
        let children = self
            .children
            .iter()
            .filter_map(|(element, child)| Some((element.clone(), child.intersection(other.children.get(element)?))))
            .filter(|(_, child)| !child.is_empty())
            .collect();
        FieldSet { member: self.member && other.member, children }
    }

    /// Adds each struct field that has members below it. Such a field is not in the set of its own (`spec` is not owned
    /// by who owns `spec.replicas`), but to prune an object they count as one.
    pub(super) fn with_named_fields(&self, schema: Option<Type<'_>>) -> FieldSet {
        let children = self
            .children
            .iter()
            .map(|(element, child)| {
                let (below, named) = match (schema.map(Type::shape), element.as_field()) {
                    (Some(Shape::Map { .. }), Some(name)) => {
                        let schema = schema.expect("it has a shape");
                        (schema.field(name), schema.declares(name))
                    }
                    (Some(Shape::List { .. }), None) => (schema.expect("it has a shape").items(), false),
                    _ => (None, false),
                };
                let mut child = child.with_named_fields(below);
                child.member |= named;
                (element.clone(), child)
            })
            .collect();
        FieldSet { member: self.member, children }
    }

    /// All paths, in order.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect(&mut String::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut String, paths: &mut Vec<String>) {
        if self.member {
            paths.push(prefix.clone());
        }
        for (element, child) in &self.children {
            let length = prefix.len();
            prefix.push_str(&element.to_string());
            child.collect(prefix, paths);
            prefix.truncate(length);
        }
    }

    /// The fieldsV1 form.
    pub(super) fn to_json(&self) -> Value {
        let mut map = Map::new();
        for (element, child) in &self.children {
            let mut below = child.to_json();
            if child.member && !child.children.is_empty() {
                below["."] = Value::Object(Map::new());
            }
            map.insert(element.0.clone(), below);
        }
        Value::Object(map)
    }

    /// Reads the fieldsV1 form; what is not in that form is ignored.
    pub(super) fn from_json(value: &Value) -> FieldSet {
        let mut set = FieldSet::default();
        for (name, below) in value.as_object().into_iter().flatten() {
            if name == "." {
                continue;
            }
            let mut child = FieldSet::from_json(below);
            child.member = below.get(".").is_some() || child.children.is_empty();
            set.children.insert(Element(name.clone()), child);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_written_form_is_kept_and_paths_are_shown_as_kubernetes_does() {
        let written = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:finalizers": {".": {}, "v:\"a/b\"": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}},
        });
        let set = FieldSet::from_json(&written);
        assert_eq!(set.to_json(), written);
        assert_eq!(
            set.paths(),
            [
                ".metadata.finalizers",
                ".metadata.finalizers[=\"a/b\"]",
                ".metadata.labels",
                ".metadata.labels.app",
                ".spec.ports[port=80,protocol=\"TCP\"]",
                ".spec.ports[port=80,protocol=\"TCP\"].port",
            ]
        );
    }

    #[test]
    fn set_operations_are_exact() {
        let a = FieldSet::from_json(&json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let b = FieldSet::from_json(&json!({"f:a": {}, "f:c": {"f:d": {}}}));
        assert_eq!(a.difference(&b).to_json(), json!({"f:a": {"f:b": {}}, "f:c": {}}));
        assert_eq!(a.intersection(&b).to_json(), json!({"f:a": {}}));
        assert_eq!(a.union(&b).to_json(), json!({"f:a": {".": {}, "f:b": {}}, "f:c": {".": {}, "f:d": {}}}));
        assert!(a.difference(&a).is_empty());
    }
}
