//! What roles and bindings must be, beyond their schema.

use serde_json::Value;

use super::super::object::{items, text};
use super::super::status::Cause;
use super::{GROUP, Rule};

fn required(field: String, why: &str) -> Cause {
    let mut cause = Cause::required(field);
    cause.message = format!("Required value: {why}");
    cause
}

/// A namespaced role.
pub(in crate::api) fn role(object: &Value) -> Vec<Cause> {
    rules(object, true)
}

/// A role of the whole cluster.
pub(in crate::api) fn cluster_role(object: &Value) -> Vec<Cause> {
    rules(object, false)
}

fn rules(object: &Value, namespaced: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, rule) in items(object, "/rules").enumerate() {
        let field = |name: &str| format!("rules[{index}].{name}");
        let urls = rule.get("nonResourceURLs").cloned().unwrap_or_default();
        let rule = Rule::from_json(rule);
        if rule.verbs.is_empty() {
            causes.push(required(field("verbs"), "verbs must contain at least one value"));
        }
        if !rule.paths.is_empty() {
            if namespaced {
                let why = "namespaced rules cannot apply to non-resource URLs";
                causes.push(Cause::invalid(field("nonResourceURLs"), &urls, why));
            } else if !(rule.groups.is_empty() && rule.resources.is_empty() && rule.names.is_empty()) {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                causes.push(Cause::invalid(field("nonResourceURLs"), &urls, why));
            }
            continue;
        }
        if rule.groups.is_empty() {
            causes.push(required(field("apiGroups"), "resource rules must supply at least one api group"));
        }
        if rule.resources.is_empty() {
            causes.push(required(field("resources"), "resource rules must supply at least one resource"));
        }
    }
    causes
}

/// A binding in a namespace.
pub(in crate::api) fn role_binding(object: &Value) -> Vec<Cause> {
    binding(object, &["Role", "ClusterRole"], true)
}

/// A binding of the whole cluster.
pub(in crate::api) fn cluster_role_binding(object: &Value) -> Vec<Cause> {
    binding(object, &["ClusterRole"], false)
}

fn binding(object: &Value, kinds: &[&str], namespaced: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut one_of = |field: String, found: &str, allowed: &[&str]| {
        if !allowed.contains(&found) {
            let allowed: Vec<Value> = allowed.iter().map(|one| Value::from(*one)).collect();
            causes.push(Cause::unsupported(field, &found.into(), &allowed));
        }
    };
    one_of("roleRef.apiGroup".to_owned(), text(object, "/roleRef/apiGroup"), &[GROUP]);
    one_of("roleRef.kind".to_owned(), text(object, "/roleRef/kind"), kinds);
    for (index, subject) in items(object, "/subjects").enumerate() {
        let field = |name: &str| format!("subjects[{index}].{name}");
        let kind = text(subject, "/kind");
        one_of(field("kind"), kind, &["ServiceAccount", "User", "Group"]);
        if ["User", "Group"].contains(&kind) {
            one_of(field("apiGroup"), text(subject, "/apiGroup"), &[GROUP]);
        }
    }
    if text(object, "/roleRef/name").is_empty() {
        causes.push(Cause::required("roleRef.name"));
    }
    for (index, subject) in items(object, "/subjects").enumerate() {
        if text(subject, "/name").is_empty() {
            causes.push(Cause::required(format!("subjects[{index}].name")));
        }
        let is_account = text(subject, "/kind") == "ServiceAccount";
        if is_account && !namespaced && text(subject, "/namespace").is_empty() {
            causes.push(Cause::required(format!("subjects[{index}].namespace")));
        }
    }
    causes
}
