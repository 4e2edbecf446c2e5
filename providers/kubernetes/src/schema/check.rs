//! What is wrong with a body, by the schema of its kind. Unknown parts are skipped, and what depends on them.

use std::collections::BTreeMap;

use engine_value::{Data, Path, Step, Value};
use serde_json::Value as Json;

use super::{
    Schema,
    node::{Field, ListType, Node, Type},
    rules, scalar,
};
use crate::object::{convert::to_json, similar::similar};

/// So many faults are told: more are one mistake, repeated.
const MOST: usize = 20;

/// Something wrong with a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// Where in the body.
    pub(crate) path: Path,
    /// What was expected and what was found, as a fragment.
    pub(crate) what: String,
    /// The way out; may be empty.
    pub(crate) hint: String,
    /// Is it a field that the schema does not have?
    pub(crate) is_unknown_field: bool,
}

/// What is wrong with a body.
pub(crate) fn check(schema: &Schema, body: &Value) -> Vec<Fault> {
    let Some(node) = schema.node() else { return Vec::new() };
    let mut check = Check { path: Path::root(), faults: Vec::new() };
    check.value(&node, body);
    if check.faults.is_empty() {
        check.faults = rules::broken(&node, body);
    }
    check.faults.truncate(MOST);
    check.faults
}

struct Check {
    path: Path,
    faults: Vec<Fault>,
}

impl Check {
    fn say(&mut self, what: impl Into<String>, hint: impl Into<String>) {
        let (what, hint) = (what.into(), hint.into());
        self.faults.push(Fault { path: self.path.clone(), what, hint, is_unknown_field: false });
    }

    fn within(&mut self, step: Step, check: impl FnOnce(&mut Self)) {
        self.path.0.push(step);
        check(self);
        self.path.0.pop();
    }

    fn value(&mut self, node: &Node<'_>, value: &Value) {
        if !value.is_known() || value.is_null() {
            return;
        }
        if let Some((what, hint)) = scalar::type_of(node.ty(), value) {
            self.say(what, hint);
            return;
        }
        match &value.data {
            Data::Object(fields) | Data::Map(_, fields) => self.object(node, fields),
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => self.list(node, items),
            _ => {
                for (what, hint) in scalar::value(node, value) {
                    self.say(what, hint);
                }
            }
        }
        self.combined(node, value);
    }

    fn object(&mut self, node: &Node<'_>, fields: &BTreeMap<std::sync::Arc<str>, Value>) {
        for (name, value) in fields {
            match node.field(name) {
                Field::Declared(field) => self.within(Step::Attr(name.clone()), |check| check.value(&field, value)),
                Field::Free => {}
                Field::Unknown => {
                    let near = similar(name, node.names());
                    let hint = near.map_or_else(String::new, |near| format!("Did you mean {near}?"));
                    self.within(Step::Attr(name.clone()), |check| check.say("there is no such field", hint));
                    if let Some(fault) = self.faults.last_mut() {
                        fault.is_unknown_field = true;
                    }
                }
            }
        }
        for name in node.required().filter(|name| !fields.contains_key(*name)) {
            if let Field::Declared(field) = node.field(name)
                && field.default().is_none()
                && (node.is_of_definition() || is_demanded(&field))
            {
                self.say(format!("{name} must be there"), String::new());
            }
        }
        self.size(node, "Properties", "fields", fields.len());
    }

    fn list(&mut self, node: &Node<'_>, items: &[Value]) {
        if let Some(item) = node.items() {
            for (index, value) in items.iter().enumerate() {
                self.within(Step::Index(index), |check| check.value(&item, value));
            }
        }
        self.size(node, "Items", "items", items.len());
        let list = node.list_type();
        let is_unique = node.keyword("uniqueItems").and_then(Json::as_bool).unwrap_or(false);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (index, value) in items.iter().enumerate() {
            let (key, what) = match &list {
                ListType::Map(names) => (key(node, names, value), format!("the same {}", names.join(" and "))),
                ListType::Set => (known(value), "the same value".to_owned()),
                ListType::Atomic if is_unique => (known(value), "the same value".to_owned()),
                ListType::Atomic => return,
            };
            let Some(key) = key else { continue };
            if let Some(first) = seen.get(&key) {
                let what = format!("it has {what} as item {first}, and no two items may");
                self.within(Step::Index(index), |check| check.say(what, "Remove one, or make it another."));
            } else {
                seen.insert(key, index);
            }
        }
    }

    fn size(&mut self, node: &Node<'_>, of: &str, what: &str, found: usize) {
        let limit = |name: &str| node.keyword(&format!("{name}{of}")).and_then(Json::as_u64);
        if let Some(least) = limit("min").filter(|least| (found as u64) < *least) {
            self.say(format!("it must have at least {least} {what}, and has {found}"), String::new());
        }
        if let Some(most) = limit("max").filter(|most| found as u64 > *most) {
            self.say(format!("it must have at most {most} {what}, and has {found}"), String::new());
        }
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`: of what is wholly known.
    fn combined(&mut self, node: &Node<'_>, value: &Value) {
        if matches!(node.ty(), Type::IntOrString | Type::Quantity) || !value.is_wholly_known() {
            return;
        }
        let fits = |alternative: &Node<'_>| {
            let mut check = Check { path: Path::root(), faults: Vec::new() };
            check.constraint(alternative, value);
            check.faults.is_empty()
        };
        for part in node.alternatives("allOf") {
            self.constraint(&part, value);
        }
        let any = node.alternatives("anyOf");
        if !any.is_empty() && !any.iter().any(fits) {
            self.say("it is none of what the schema allows (anyOf)", String::new());
        }
        let one = node.alternatives("oneOf");
        match one.iter().filter(|alternative| fits(alternative)).count() {
            1 => {}
            _ if one.is_empty() => {}
            0 => self.say("it is none of what the schema allows (oneOf)", String::new()),
            _ => self.say("it is more than one of what the schema allows one of (oneOf)", String::new()),
        }
        if node.inner("not").is_some_and(|not| fits(&not)) {
            self.say("it is what the schema forbids (not)", String::new());
        }
    }

    /// A schema within `allOf` and so on: it declares nothing, and says only what must hold.
    fn constraint(&mut self, node: &Node<'_>, value: &Value) {
        if let Some((what, hint)) = scalar::type_of(node.ty(), value) {
            self.say(what, hint);
            return;
        }
        match &value.data {
            Data::Object(fields) | Data::Map(_, fields) => {
                for (name, value) in fields.iter() {
                    if let Field::Declared(field) = node.field(name) {
                        self.within(Step::Attr(name.clone()), |check| check.constraint(&field, value));
                    }
                }
                for name in node.required().filter(|name| !fields.contains_key(*name)) {
                    self.say(format!("{name} must be there"), String::new());
                }
                self.size(node, "Properties", "fields", fields.len());
            }
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
                if let Some(item) = node.items() {
                    for (index, value) in items.iter().enumerate() {
                        self.within(Step::Index(index), |check| check.constraint(&item, value));
                    }
                }
                self.size(node, "Items", "items", items.len());
            }
            _ => {
                for (what, hint) in scalar::value(node, value) {
                    self.say(what, hint);
                }
            }
        }
        self.combined(node, value);
    }
}

/// Does the API server refuse an object of a built-in kind that leaves this field out? Their schemas call every field
/// required that Go writes even when it is empty; that it must not be empty they do not say. Names and the like it must
/// not be.
fn is_demanded(field: &Node<'_>) -> bool {
    match field.ty() {
        Type::String => true,
        Type::Object => field.required().next().is_some(),
        _ => false,
    }
}

/// The keys of an item as text; `None`: one is not known, or has no value.
fn key(list: &Node<'_>, names: &[&str], item: &Value) -> Option<String> {
    let node = list.items();
    let fields = item.as_map()?;
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        let value = match fields.get(*name) {
            Some(value) => known(value)?,
            None => match node.map(|node| node.field(name)) {
                Some(Field::Declared(field)) => field.default().map(Json::to_string).unwrap_or_default(),
                _ => String::new(),
            },
        };
        keys.push(value);
    }
    Some(keys.join("\n"))
}

fn known(value: &Value) -> Option<String> {
    Some(to_json(value).ok()??.to_string())
}

#[cfg(test)]
mod tests {
    use engine_value::Type as ValueType;
    use serde_json::json;

    use super::*;
    use crate::object::convert::from_json;

    fn faults(schema: &Schema, body: &Value) -> Vec<String> {
        let told = |fault: Fault| format!("{}: {}. {}", fault.path, fault.what, fault.hint).trim_end().to_owned();
        check(schema, body).into_iter().map(told).collect()
    }

    fn deployment(change: impl FnOnce(&mut Json)) -> Value {
        let mut body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "b"}},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1",
                    "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
                    "readinessProbe": {"httpGet": {"port": "http"}},
                    "resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}, "limits": {"cpu": 2}}}]},
            }},
        });
        change(&mut body);
        from_json(&body)
    }

    #[test]
    fn a_built_in_kind_is_checked() {
        let schema = Schema::of_builtin("apps/v1", "Deployment").unwrap();
        let pod = "/spec/template/spec/containers/0";
        let cases: [(&str, Json, &[&str]); 8] = [
            ("/metadata/labels", json!({"a": "b"}), &[]),
            ("/spec/replica", json!(3), &["spec.replica: there is no such field. Did you mean replicas?"]),
            (
                "/spec/replicas",
                json!("3"),
                &["spec.replicas: it must be a whole number, and is text. Leave the quotes out."],
            ),
            (
                "/spec/replicas",
                json!(4_000_000_000_i64),
                &["spec.replicas: it must lie between -2147483648 and 2147483647."],
            ),
            (
                "/metadata/labels",
                json!({"a": 1}),
                &["metadata.labels.a: it must be text, and is a number. Put it in quotes."],
            ),
            (
                "/spec/template/spec/containers/0/resources",
                json!({"limits": {"cpu": "1 core"}}),
                &[
                    "spec.template.spec.containers[0].resources.limits.cpu: it must be a quantity. Write it as \"500m\", \"2\", \"1.5Gi\".",
                ],
            ),
            (
                "/spec/template/spec/containers/0/ports",
                json!([{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]),
                &[
                    "spec.template.spec.containers[0].ports[1]: it has the same containerPort and protocol as item 0, and no two \
                   items may. Remove one, or make it another.",
                ],
            ),
            ("/spec/template/spec/containers/0/name", Json::Null, &[]),
        ];
        for (pointer, value, expected) in cases {
            let body = deployment(|body| {
                let (around, name) = pointer.rsplit_once('/').unwrap();
                body.pointer_mut(around).unwrap()[name] = value;
            });
            assert_eq!(faults(&schema, &body), expected, "{pointer}");
        }
        let body = deployment(|body| _ = body.pointer_mut(pod).unwrap().as_object_mut().unwrap().remove("name"));
        assert_eq!(faults(&schema, &body), ["spec.template.spec.containers[0]: name must be there."]);
    }

    #[test]
    fn what_is_not_known_is_skipped() {
        let schema = Schema::of_builtin("v1", "ConfigMap").unwrap();
        let unknown = || Value::unknown(ValueType::Dynamic);
        let body = Value::object([
            ("apiVersion", "v1".into()),
            ("kind", "ConfigMap".into()),
            ("metadata", unknown()),
            ("data", Value::object([("a", unknown()), ("b", Value::int(1))])),
        ]);
        assert_eq!(faults(&schema, &body), ["data.b: it must be text, and is a number. Put it in quotes."]);
    }

    #[test]
    fn a_definition_is_held_to_in_every_word() {
        let spec = json!({"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 9},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 2},
            "rules": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                "items": {"type": "object", "properties": {"id": {"type": "string"}, "to": {"type": "string"}}}},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "range": {"type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.min <= self.max", "message": "min must not exceed max"}]},
            "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        }});
        let definition = json!({"spec": {"versions": [{"name": "v1", "served": true, "schema": {"openAPIV3Schema":
            {"type": "object", "properties": {"spec": spec}}}}]}});
        let schema = Schema::of_definition(&definition, "v1").unwrap();
        let cases = [
            (json!({"size": 3, "port": "http", "any": {"x": [1]}, "one": {"b": ""}, "tags": ["a", "b"]}), vec![]),
            (json!({}), vec!["spec: size must be there."]),
            (json!({"size": 10}), vec!["spec.size: it must be at most 9."]),
            (
                json!({"size": 1, "mode": "fest"}),
                vec!["spec.mode: it must be one of \"fast\", \"slow\". Did you mean \"fast\"?"],
            ),
            (
                json!({"size": 1, "name": "ABCD"}),
                vec!["spec.name: it must have at most 3 characters.", "spec.name: it must match ^[a-z]+$."],
            ),
            (json!({"size": 1, "port": 1.5}), vec!["spec.port: it must be a whole number or text, and is a number."]),
            (
                json!({"size": 1, "tags": ["a", "b", "a"]}),
                vec![
                    "spec.tags: it must have at most 2 items, and has 3.",
                    "spec.tags[2]: it has the same value as item 0, and no two items may. Remove one, or make it another.",
                ],
            ),
            (
                json!({"size": 1, "rules": [{"id": "a"}, {"id": "a", "to": "b"}]}),
                vec![
                    "spec.rules[1]: it has the same id as item 0, and no two items may. Remove one, or make it another.",
                ],
            ),
            (
                json!({"size": 1, "one": {"a": "", "b": ""}}),
                vec!["spec.one: it is more than one of what the schema allows one of (oneOf)."],
            ),
            (json!({"size": 1, "range": {"min": 1, "max": 2}}), vec![]),
            (
                json!({"size": 1, "range": {"min": 3, "max": 2}}),
                vec!["spec.range: min must not exceed max. The definition of its kind demands self.min <= self.max"],
            ),
            (json!({"size": 1, "siez": 1}), vec!["spec.siez: there is no such field. Did you mean size?"]),
        ];
        for (spec, expected) in cases {
            let body =
                json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
            assert_eq!(faults(&schema, &from_json(&body)), expected, "{body}");
        }
    }
}
