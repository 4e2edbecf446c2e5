//! Which resources are served: the built-in ones, and those of the definitions in the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::crd;
use super::kinds;
use super::object;
use super::resource::Resource;
use super::status::{Failure, qualified};
use crate::store::{Key, Transaction};

/// Where definitions are stored.
pub(super) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Compiled definitions, by name, as of a resource version. Compiling is the expensive part; finding is not.
#[derive(Default)]
pub(super) struct Registry {
    compiled: Mutex<BTreeMap<String, Compiled>>,
}

struct Compiled {
    /// The resource version of the definition that this was made from.
    version: String,
    resources: Vec<Arc<Resource>>,
}

impl Registry {
    /// The resource behind a path.
    pub(super) fn find(
        &self,
        store: &Transaction<'_>,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Result<Arc<Resource>, Failure> {
        let builtin = kinds::resources().iter().find(|resource| {
            (resource.group.as_str(), resource.version.as_str(), resource.plural.as_str()) == (group, version, plural)
        });
        if let Some(resource) = builtin {
            return Ok(resource.clone());
        }
        let name = format!("{plural}.{group}");
        let definition = store.get(&Key::new(DEFINITIONS, "", &name));
        let resources = definition.map(|definition| self.of_definition(definition)).unwrap_or_default();
        resources.into_iter().find(|resource| resource.version == version).ok_or_else(|| {
            let what = qualified(group, plural);
            Failure::no_such_path(&format!(
                "the sandbox does not serve {what} in version {version}, and no custom resource definition defines it"
            ))
        })
    }

    /// Everything that is served, built-in kinds first, then by definition.
    pub(super) fn all(&self, store: &Transaction<'_>) -> Vec<Arc<Resource>> {
        let mut all = kinds::resources().to_vec();
        for (_, definition) in store.list(DEFINITIONS) {
            all.extend(self.of_definition(definition));
        }
        all
    }

    /// One resource of each kind that is stored (its versions share the objects).
    pub(super) fn stored(&self, store: &Transaction<'_>) -> Vec<Arc<Resource>> {
        let mut all = self.all(store);
        all.retain(|resource| !resource.is_review());
        all.dedup_by(|a, b| a.storage == b.storage);
        all
    }

    /// One version of the resource that is stored under this name.
    pub(super) fn by_storage(&self, store: &Transaction<'_>, storage: &str) -> Option<Arc<Resource>> {
        if let Some(resource) = kinds::resources().iter().find(|resource| resource.storage.as_ref() == storage) {
            return Some(resource.clone());
        }
        let definition = store.get(&Key::new(DEFINITIONS, "", storage))?;
        self.of_definition(definition).into_iter().next()
    }

    fn of_definition(&self, definition: &Value) -> Vec<Arc<Resource>> {
        let version = object::resource_version(definition);
        let name = object::name(definition);
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get(name).filter(|known| known.version == version) {
            return known.resources.clone();
        }
        let resources = crd::resources(definition);
        // An object of a dry run has no version of its own; the next look must compile again.
        if !version.is_empty() {
            let known = Compiled { version: version.to_owned(), resources: resources.clone() };
            compiled.insert(name.to_owned(), known);
        }
        resources
    }
}
