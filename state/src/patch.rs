//! Patches of JSON by path: the smallest edits that make one tree another.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::json::Json;
use serde::{Deserialize, Serialize};

/// One step into a JSON tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// Element of an array.
    Index(usize),
    /// Member of an object.
    Name(Arc<str>),
}

/// One edit. Arrays change in place where their lengths agree, else as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where; empty is the root.
    pub path: Vec<Key>,
    /// What is there afterwards; absent: the member is removed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub value: Option<Json>,
}

/// An edit that does not fit the tree that it was made for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing at {path:?} to edit")]
pub struct EditError {
    /// Where.
    pub path: Vec<Key>,
}

/// Present and null is a value here, not an absence.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// What makes `before` `after`, in the order of the paths.
pub(crate) fn diff(before: &Json, after: &Json) -> Vec<Edit> {
    let (mut edits, mut path) = (Vec::new(), Vec::new());
    walk(before, after, &mut path, &mut edits);
    edits
}

fn walk(before: &Json, after: &Json, path: &mut Vec<Key>, edits: &mut Vec<Edit>) {
    match (before, after) {
        _ if before == after => {}
        (Json::Object(old), Json::Object(new)) if is_typed(old) == is_typed(new) => walk_objects(old, new, path, edits),
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (i, (old, new)) in old.iter().zip(new).enumerate() {
                path.push(Key::Index(i));
                walk(old, new, path, edits);
                path.pop();
            }
        }
        _ => edits.push(Edit { path: path.clone(), value: Some(after.clone()) }),
    }
}

type Members = [(Box<str>, Json)];

fn walk_objects(old: &Members, new: &Members, path: &mut Vec<Key>, edits: &mut Vec<Edit>) {
    let index = |members| -> BTreeMap<&str, &Json> { <[_]>::iter(members).map(by_name).collect() };
    let (old, new) = (index(old), index(new));
    let removed = old.keys().filter(|name| !new.contains_key(*name)).map(|name| (*name, None));
    let kept = new.iter().map(|(name, value)| (*name, Some(*value)));
    for (name, value) in removed.chain(kept) {
        path.push(Key::Name(name.into()));
        match (old.get(name), value) {
            (Some(old), Some(new)) => walk(old, new, path, edits),
            (_, value) => edits.push(Edit { path: path.clone(), value: value.cloned() }),
        }
        path.pop();
    }
}

fn by_name((name, value): &(Box<str>, Json)) -> (&str, &Json) {
    (name, value)
}

/// Carries out edits in order.
///
/// # Errors
/// An edit does not fit; those before it are done.
pub(crate) fn apply(tree: &mut Json, edits: &[Edit]) -> Result<(), EditError> {
    edits.iter().try_for_each(|edit| {
        apply_at(tree, &edit.path, edit.value.as_ref()).ok_or_else(|| EditError { path: edit.path.clone() })
    })
}

fn apply_at(tree: &mut Json, path: &[Key], value: Option<&Json>) -> Option<()> {
    let Some((last, parents)) = path.split_last() else {
        *tree = value?.clone();
        return Some(());
    };
    let parent = parents.iter().try_fold(tree, |tree, key| match (tree, key) {
        (Json::Object(members), Key::Name(name)) => {
            let at = place(members, name).ok()?;
            Some(&mut members[at].1)
        }
        (Json::Array(elements), Key::Index(i)) => elements.get_mut(*i),
        _ => None,
    })?;
    match (parent, last, value) {
        (Json::Object(members), Key::Name(name), Some(value)) => match place(members, name) {
            Ok(at) => members[at].1 = value.clone(),
            Err(at) => members.insert(at, (name.as_ref().into(), value.clone())),
        },
        (Json::Object(members), Key::Name(name), None) => {
            let at = place(members, name).ok()?;
            members.remove(at);
        }
        (Json::Array(elements), Key::Index(i), Some(value)) => *elements.get_mut(*i)? = value.clone(),
        _ => return None,
    }
    Some(())
}

/// Where a member is, or would be: members are in the order of their names. But the two of a value with its type beside
/// it stand in Terraform's order.
fn place(members: &Members, name: &str) -> Result<usize, usize> {
    let is_pair = members.len() == 2;
    let found = if is_pair { members.iter().position(|(member, _)| **member == *name) } else { None };
    found.map_or_else(|| members.binary_search_by(|(member, _)| (**member).cmp(name)), Ok)
}

/// Is it a value with its type beside it?
fn is_typed(members: &Members) -> bool {
    matches!(members, [(a, _), (b, _)] if **a == *"value" && **b == *"type")
}

/// Brings members to the order that patches need: files of other tools may have another.
pub(crate) fn sort(json: &mut Json) {
    match json {
        Json::Object(members) => {
            if !is_typed(members) {
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
            }
            members.iter_mut().for_each(|(_, value)| sort(value));
        }
        Json::Array(elements) => elements.iter_mut().for_each(sort),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use engine_value::json::read;

    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        let (mut tree, after) = (read(before).unwrap(), read(after).unwrap());
        let edits = diff(&tree, &after);
        let text = serde_json::to_string(&edits).unwrap();
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Vec<Edit>>(&text).unwrap(), edits);
        apply(&mut tree, &edits).unwrap();
        assert_eq!(tree, after);
    }

    #[test]
    fn edits_are_as_small_as_they_can_be() {
        check("1", "1", "[]");
        check("{}", "{\"a\":null}", r#"[{"path":["a"],"value":null}]"#);
        check("{\"a\":1,\"c\":2}", "{\"b\":1,\"c\":2}", r#"[{"path":["a"]},{"path":["b"],"value":1}]"#);
        check("{\"a\":[1,{\"b\":2}]}", "{\"a\":[1,{\"b\":3}]}", r#"[{"path":["a",1,"b"],"value":3}]"#);
        check(
            r#"{"value":1,"type":"number"}"#,
            r#"{"value":"a","type":"string"}"#,
            r#"[{"path":["type"],"value":"string"},{"path":["value"],"value":"a"}]"#,
        );
        check("[1]", "[1,2]", r#"[{"path":[],"value":[1,2]}]"#);
        check("{\"a\":12345678901234567890123}", "{\"a\":1e400}", r#"[{"path":["a"],"value":1e400}]"#);
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        for (tree, edit) in [
            ("{}", r#"{"path":["a"]}"#),
            ("{}", r#"{"path":["a","b"],"value":1}"#),
            ("[]", r#"{"path":[0],"value":1}"#),
            ("{}", r#"{"path":[]}"#),
        ] {
            let edit: Edit = serde_json::from_str(edit).unwrap();
            assert!(apply(&mut read(tree).unwrap(), &[edit]).is_err());
        }
    }
}
