//! What other changes of the same plan bring that an object may need: definitions and namespaces.

use std::collections::BTreeMap;

use engine_model::{address::ResourceAddr, change::Action};
use engine_value::Value;

use super::Desired;
use crate::{
    cluster::discovery::Kind,
    object::{convert::to_json, key::ObjectKey},
    schema::Schema,
};

/// What other changes of the plan bring.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    /// By group and kind.
    definitions: BTreeMap<(String, String), Definition>,
    /// By name.
    namespaces: BTreeMap<String, ResourceAddr>,
}

/// A definition that is created or changed.
#[derive(Debug)]
pub(crate) struct Definition {
    /// The address that does it.
    pub(crate) addr: ResourceAddr,
    /// What it is, and what happens to it: for people.
    pub(crate) what: String,
    /// The schemas of its versions, as far as they are known.
    schemas: BTreeMap<String, Schema>,
    /// How its objects are asked for, where that is known.
    plural: Option<String>,
    namespaced: bool,
}

/// Is it an object that others may need?
pub(crate) fn announces(desired: &Desired) -> bool {
    let text = |name: &str| desired.body.get(name).and_then(Value::as_str).unwrap_or_default();
    matches!(
        (text("apiVersion"), text("kind")),
        ("v1", "Namespace") | ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    )
}

impl Announced {
    /// What these changes bring.
    pub(crate) fn of<'a>(changes: impl IntoIterator<Item = (&'a ResourceAddr, Action, Desired)>) -> Self {
        let mut announced = Self::default();
        for (addr, action, desired) in changes {
            let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
            let name = text(desired.body.get("metadata").and_then(|metadata| metadata.get("name")));
            let Some(name) = name.filter(|_| announces(&desired)) else { continue };
            if desired.body.get("kind").and_then(Value::as_str) == Some("Namespace") {
                announced.namespaces.insert(name, addr.clone());
                continue;
            }
            let spec = desired.body.get("spec");
            let kind = spec.and_then(|spec| spec.get("names")).and_then(|names| text(names.get("kind")));
            let (Some(group), Some(kind)) = (text(spec.and_then(|spec| spec.get("group"))), kind) else { continue };
            let happens = if action == Action::Update { "changed" } else { "created" };
            let what = format!("CustomResourceDefinition {name} is {happens} in this plan");
            let names = spec.and_then(|spec| spec.get("names"));
            let definition = Definition {
                addr: addr.clone(),
                what,
                schemas: schemas(&desired),
                plural: names.and_then(|names| text(names.get("plural"))),
                namespaced: text(spec.and_then(|spec| spec.get("scope"))).as_deref() == Some("Namespaced"),
            };
            announced.definitions.insert((group, kind), definition);
        }
        announced
    }

    /// The definition of an object's kind.
    pub(crate) fn definition(&self, api_version: &str, kind: &str) -> Option<&Definition> {
        let (group, _) = api_version.split_once('/')?;
        self.definitions.get(&(group.to_owned(), kind.to_owned()))
    }

    /// The address that creates the namespace of an object.
    pub(crate) fn namespace(&self, key: &ObjectKey) -> Option<&ResourceAddr> {
        self.namespaces.get(key.namespace.as_deref()?)
    }
}

impl Definition {
    /// The schema of a version; `None`: it is not wholly known.
    pub(crate) fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.schemas.get(api_version.split_once('/')?.1)
    }

    /// The kind, as the cluster will serve it.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let text = str::to_owned;
        let plural = self.plural.clone()?;
        Some(Kind { api_version: text(api_version), kind: text(kind), plural, namespaced: self.namespaced })
    }

    /// The versions that it will serve.
    pub(crate) fn versions(&self) -> Vec<&str> {
        self.schemas.keys().map(String::as_str).collect()
    }
}

fn schemas(desired: &Desired) -> BTreeMap<String, Schema> {
    let Ok(Some(definition)) = to_json(&desired.body) else { return BTreeMap::new() };
    let versions = definition.pointer("/spec/versions").and_then(|versions| versions.as_array());
    let names = versions.into_iter().flatten().filter_map(|version| version.get("name")?.as_str());
    names.filter_map(|name| Some((name.to_owned(), Schema::of_definition(&definition, name)?))).collect()
}
