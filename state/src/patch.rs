//! Patches of JSON by path: the smallest edits that make one tree another.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::Json;

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
        (Json::Object(old), Json::Object(new)) => walk_objects(old, new, path, edits),
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

fn walk_objects(
    old: &BTreeMap<Arc<str>, Json>,
    new: &BTreeMap<Arc<str>, Json>,
    path: &mut Vec<Key>,
    edits: &mut Vec<Edit>,
) {
    let removed = old.keys().filter(|name| !new.contains_key(*name)).map(|name| (name, None));
    let kept = new.iter().map(|(name, value)| (name, Some(value)));
    for (name, value) in removed.chain(kept) {
        path.push(Key::Name(name.clone()));
        match (old.get(name), value) {
            (Some(old), Some(new)) => walk(old, new, path, edits),
            (_, value) => edits.push(Edit { path: path.clone(), value: value.cloned() }),
        }
        path.pop();
    }
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
        (Json::Object(members), Key::Name(name)) => members.get_mut(name),
        (Json::Array(elements), Key::Index(i)) => elements.get_mut(*i),
        _ => None,
    })?;
    match (parent, last, value) {
        (Json::Object(members), Key::Name(name), Some(value)) => {
            members.insert(name.clone(), value.clone());
        }
        (Json::Object(members), Key::Name(name), None) => {
            members.remove(name)?;
        }
        (Json::Array(elements), Key::Index(i), Some(value)) => *elements.get_mut(*i)? = value.clone(),
        _ => return None,
    }
    Some(())
}
