//! The `wait` block: its schema, what it says, and what is wrong with it that can be told without a cluster.

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Usage};
use engine_value::{Path, Type, Value};
use providers_api::Issue;

use crate::object::{
    readiness::{Expected, Wanted},
    rollout::{ROLLOUTS, has_rollout},
    rule::Rule,
};

/// The schema of the block.
pub(crate) fn block() -> NestedBlock {
    let optional = |ty: Type, description: &str| Attribute::new(ty, Usage::Optional, description);
    let text = |description: &str| optional(Type::String, description);
    let condition =
        Block::new([("type", text("Its type.")), ("status", text("Its status."))], "A condition to wait for.");
    let wait = Block::new(
        [
            (
                "rollout",
                optional(
                    Type::Bool,
                    "The roll-out of a Deployment, DaemonSet, StatefulSet or ReplicaSet as `kubectl rollout status` tells it; the \
                     completion of a Job; that a Pod is ready, a PersistentVolumeClaim bound, an APIService available. A pod of \
                     it that cannot come up ends the wait.",
                ),
            ),
            (
                "fields",
                optional(
                    Type::map(Type::String),
                    "Fields (`status.phase`, `status.ips[0].ip`) and the text or pattern that each must be; `*` is anything.",
                ),
            ),
            (
                "ready_when",
                text(
                    "An expression over the live object as `self`, in a text: `\"self.status.phase == \\\"Ready\\\"\"`. What the \
                     object does not have yet makes it false.",
                ),
            ),
            ("fail_when", text("An expression like `ready_when`: once it is true, the wait has failed.")),
        ],
        "What is waited for after an apply: all of it. A status of an older version of the object counts for nothing.",
    )
    .with_block("condition", NestedBlock { nesting: Nesting::List, block: condition, min_items: 0, max_items: 0 });
    NestedBlock { nesting: Nesting::List, block: wait, min_items: 0, max_items: 1 }
}

/// What a `wait` block says, with what `wait_for`, its older form, does.
pub(crate) fn wanted(wait: Option<&Value>, wait_for: Option<&Value>) -> Wanted {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut unreadable = Vec::new();
    let mut fields = Vec::new();
    let places = [wait, wait_for].into_iter().flatten();
    for (path, value) in places.filter_map(|place| place.get("fields")?.as_map()).flatten() {
        match Expected::parse(&text(Some(value))) {
            Ok(expected) => fields.push((path.to_string(), expected)),
            Err(why) => unreadable.push(format!("what {path} must be is no pattern: {why}")),
        }
    }
    let mut rule = |name: &str| {
        let text = wait?.get(name)?.as_str()?;
        match Rule::parse(text) {
            Ok(rule) => Some(rule),
            Err(wrong) => {
                unreadable.extend(wrong.first().map(|wrong| format!("`{name}` cannot be read: {}", wrong.what)));
                None
            }
        }
    };
    let (ready_when, fail_when) = (rule("ready_when"), rule("fail_when"));
    let conditions = wait.and_then(|wait| wait.get("condition")?.as_sequence()).unwrap_or_default();
    Wanted {
        rollout: wait.and_then(|wait| wait.get("rollout")?.as_bool()).unwrap_or(false),
        fields,
        conditions: conditions.iter().map(|one| (text(one.get("type")), text(one.get("status")))).collect(),
        ready_when,
        fail_when,
        unreadable: unreadable.into_iter().next(),
    }
}

/// What is wrong with a `wait` block, or `wait_for`, of an object that is known by these.
pub(crate) fn check(wait: &Value, api_version: Option<&str>, kind: Option<&str>, at: &Path) -> Vec<Issue> {
    let mut issues = Vec::new();
    if wait.get("rollout").and_then(Value::as_bool) == Some(true)
        && let (Some(api_version), Some(kind)) = (api_version, kind)
        && !has_rollout(api_version, kind)
    {
        let kinds: Vec<&str> = ROLLOUTS.iter().map(|(_, kind)| *kind).collect();
        let detail = format!("A {kind} of {api_version} has no roll-out; {} have.", kinds.join(", "));
        issues.push(
            Issue::error(at.clone().attr("rollout"), "Nothing to wait for", detail)
                .hint("Wait with `ready_when`, for `fields` or a `condition`."),
        );
    }
    for (path, value) in wait.get("fields").and_then(Value::as_map).into_iter().flatten() {
        if let Some(Err(why)) = value.as_str().map(Expected::parse) {
            let place = at.clone().attr("fields").key(path.clone());
            issues.push(Issue::error(place, "Invalid pattern", format!("It cannot be read: {why}.")));
        }
    }
    for name in ["ready_when", "fail_when"] {
        let Some(text) = wait.get(name).and_then(Value::as_str) else { continue };
        for wrong in Rule::parse(text).err().into_iter().flatten() {
            let column = text.get(..wrong.at.start as usize).map_or(0, |before| before.chars().count()) + 1;
            let place =
                if wrong.at == (0..text.len() as u32) { String::new() } else { format!("At character {column}: ") };
            issues.push(
                Issue::error(at.clone().attr(name), "Invalid expression", format!("{place}{}", wrong.what))
                    .part(wrong.at)
                    .hint("Write a condition over the live object: \"self.status.phase == \\\"Ready\\\"\"."),
            );
        }
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &str, value: Value) -> Value {
        Value::object([(name, value)])
    }

    #[test]
    fn what_is_wrong_is_told_at_its_place() {
        let fields = |text: &str| Value::map(Type::String, [("status.phase", Value::from(text))]);
        for (wait, expected) in [
            (wait("ready_when", "self.status.phase == \"Ready\"".into()), None),
            (
                wait("ready_when", "self.status.phase == phase".into()),
                Some((
                    "wait.ready_when",
                    Some(21..26),
                    "At character 22: \"phase\": only the live object, `self`, can be referred to here.",
                )),
            ),
            (
                wait("fail_when", "\"x\"".into()),
                Some(("wait.fail_when", Some(0..3), "It gives string, and must give true or false.")),
            ),
            (wait("ready_when", Value::unknown(Type::String)), None),
            (wait("fields", fields("^Run")), None),
            (wait("rollout", true.into()), Some(("wait.rollout", None, "A ConfigMap of v1 has no roll-out;"))),
        ] {
            let issues = check(&wait, Some("v1"), Some("ConfigMap"), &Path::root().attr("wait"));
            let found = issues.first().map(|issue| (issue.path.to_string(), issue.part.clone(), issue.detail.clone()));
            match (&found, expected) {
                (Some(found), Some((path, part, detail))) => {
                    assert_eq!((found.0.as_str(), &found.1), (path, &part), "{wait:?}");
                    assert!(found.2.starts_with(detail), "{}", found.2);
                }
                (found, expected) => assert_eq!(found.is_some(), expected.is_some(), "{wait:?}: {found:?}"),
            }
        }
        let broken = check(&wait("fields", fields("(")), None, None, &Path::root());
        assert_eq!(broken.len(), 1, "{broken:?}");
    }

    #[test]
    fn what_cannot_be_read_is_never_ready() {
        let wanted = wanted(Some(&wait("ready_when", "1 +".into())), None);
        assert!(wanted.unreadable.is_some() && !wanted.is_nothing());
    }
}
