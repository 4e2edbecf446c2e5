//! What objects of a kind may look like, as data, and random ones of it.

use std::collections::BTreeSet;

use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
    strategy::BoxedStrategy,
};
use serde_json::{Map, Value as Json};

/// What may stand at a place.
#[derive(Clone, Debug)]
pub(super) enum Grammar {
    /// One of these, which is changed as a whole.
    OneOf(Vec<Json>),
    /// An object with these fields.
    Record(Vec<Field>),
    /// Some of these names, each with one of these values.
    Entries(Vec<&'static str>, Vec<Json>),
    /// A list that is a map by these fields of its items.
    Items(Vec<&'static str>, Box<Grammar>),
}

/// A field of an object.
#[derive(Clone, Debug)]
pub(super) struct Field {
    name: &'static str,
    need: Need,
    grammar: Grammar,
}

/// When a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Always: it names an item.
    Key,
    /// In all that is whole.
    Must,
    /// Sometimes.
    May,
}

/// One of these.
pub(super) fn one<T: Into<Json>>(values: impl IntoIterator<Item = T>) -> Grammar {
    Grammar::OneOf(values.into_iter().map(Into::into).collect())
}

/// An object.
pub(super) fn record(fields: impl IntoIterator<Item = Field>) -> Grammar {
    Grammar::Record(fields.into_iter().collect())
}

/// A map from some of these names to some of these values.
pub(super) fn entries<T: Into<Json>>(
    names: impl IntoIterator<Item = &'static str>,
    values: impl IntoIterator<Item = T>,
) -> Grammar {
    Grammar::Entries(names.into_iter().collect(), values.into_iter().map(Into::into).collect())
}

/// A list that is a map by these fields.
pub(super) fn items(keys: impl IntoIterator<Item = &'static str>, item: Grammar) -> Grammar {
    Grammar::Items(keys.into_iter().collect(), Box::new(item))
}

/// A field that names an item.
pub(super) fn key(name: &'static str, grammar: Grammar) -> Field {
    Field { name, need: Need::Key, grammar }
}

/// A field that every whole object has.
pub(super) fn must(name: &'static str, grammar: Grammar) -> Field {
    Field { name, need: Need::Must, grammar }
}

/// A field that some objects have.
pub(super) fn may(name: &'static str, grammar: Grammar) -> Field {
    Field { name, need: Need::May, grammar }
}

impl Grammar {
    /// An object as somebody makes it.
    pub(super) fn whole(&self) -> BoxedStrategy<Json> {
        self.strategy(true)
    }

    /// A part of one, as somebody changes it.
    pub(super) fn part(&self) -> BoxedStrategy<Json> {
        self.strategy(false)
    }

    fn strategy(&self, whole: bool) -> BoxedStrategy<Json> {
        match self {
            Self::OneOf(values) => select(values.clone()).boxed(),
            Self::Record(fields) => {
                let fields: Vec<_> = fields.iter().map(|field| field.strategy(whole)).collect();
                fields.prop_map(|fields| Json::Object(fields.into_iter().flatten().collect())).boxed()
            }
            Self::Entries(names, values) => {
                let names = subsequence(names.clone(), 1..=names.len());
                let pairs = (names, vec(select(values.clone()), 4));
                let object = |(names, values): (Vec<&str>, Vec<Json>)| {
                    let pairs = names.into_iter().zip(values.into_iter().cycle());
                    Json::Object(pairs.map(|(name, value)| (name.to_owned(), value)).collect())
                };
                pairs.prop_map(object).boxed()
            }
            Self::Items(keys, item) => {
                let keys = keys.clone();
                let distinct = move |items: Vec<Json>| {
                    let mut seen = BTreeSet::new();
                    let is_new = |item: &Json| {
                        let key: Vec<String> = keys.iter().map(|key| item[*key].to_string()).collect();
                        seen.insert(key)
                    };
                    Json::Array(items.into_iter().filter(is_new).collect())
                };
                vec(item.strategy(whole), 1..=3).prop_map(distinct).boxed()
            }
        }
    }
}

impl Field {
    fn strategy(&self, whole: bool) -> BoxedStrategy<Option<(String, Json)>> {
        let name = self.name;
        let value = self.grammar.strategy(whole).prop_map(move |value| (name.to_owned(), value));
        match (self.need, whole) {
            (Need::Key, _) | (Need::Must, true) => value.prop_map(Some).boxed(),
            _ => option::of(value).boxed(),
        }
    }
}

/// `patch` merged into `object`, as RFC 7386 says.
pub(super) fn merged(object: &Json, patch: &Json) -> Json {
    let Json::Object(patch) = patch else { return patch.clone() };
    let mut object: Map<String, Json> = object.as_object().cloned().unwrap_or_default();
    for (name, value) in patch {
        if value.is_null() {
            object.remove(name);
        } else {
            let there = object.get(name).cloned().unwrap_or_default();
            object.insert(name.clone(), merged(&there, value));
        }
    }
    Json::Object(object)
}

/// The places of an object's fields and items, as JSON pointers, from the outside in.
pub(super) fn places(object: &Json) -> Vec<String> {
    let mut found = Vec::new();
    walk(object, "", &mut found);
    found
}

fn walk(at: &Json, pointer: &str, found: &mut Vec<String>) {
    let mut inside = |name: &str, value: &Json| {
        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(pointer.clone());
        walk(value, &pointer, found);
    };
    match at {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| inside(name, value)),
        Json::Array(items) => items.iter().enumerate().for_each(|(index, value)| inside(&index.to_string(), value)),
        _ => {}
    }
}

/// The object with what stands at a place changed; `None`: removed.
pub(super) fn changed(object: &Json, pointer: &str, value: Option<Json>) -> Json {
    let mut object = object.clone();
    let Some((around, name)) = pointer.rsplit_once('/') else { return object };
    let name = name.replace("~1", "/").replace("~0", "~");
    match (object.pointer_mut(around), value) {
        (Some(Json::Object(fields)), Some(value)) => _ = fields.insert(name, value),
        (Some(Json::Object(fields)), None) => _ = fields.remove(&name),
        (Some(Json::Array(items)), value) => {
            let index: usize = name.parse().unwrap();
            match value {
                Some(value) => items[index] = value,
                None => _ = items.remove(index),
            }
        }
        _ => {}
    }
    object
}
