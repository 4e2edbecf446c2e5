//! The providers that are compiled in, by address, by source and by the prefix of their types.
//!
//! Knows which there are, and says so where somebody asks for another. Configures none.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostic;
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::Schema,
};
use providers_api::Provider;

/// The providers that are compiled in.
#[derive(Clone, Default)]
pub struct Providers {
    by_addr: BTreeMap<ProviderAddr, Arc<dyn Provider>>,
}

impl Providers {
    /// These providers; of two with one address the last.
    pub fn new(providers: impl IntoIterator<Item = Arc<dyn Provider>>) -> Self {
        Self { by_addr: providers.into_iter().map(|provider| (provider.addr().clone(), provider)).collect() }
    }

    /// The provider at an address.
    pub fn get(&self, addr: &ProviderAddr) -> Option<&Arc<dyn Provider>> {
        self.by_addr.get(addr)
    }

    /// All of them, in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.by_addr.values()
    }

    /// The schema of a type of a provider.
    ///
    /// # Errors
    /// It has no such type: says which it has.
    pub fn schema(&self, addr: &ProviderAddr, mode: Mode, ty: &str) -> Result<&Schema, Box<Diagnostic>> {
        let provider = self.get(addr).ok_or_else(|| Box::new(self.missing(addr)))?;
        let schemas = provider.schemas();
        schemas.get(mode, ty).ok_or_else(|| {
            let (kind, types) = match mode {
                Mode::Managed => ("resource type", &schemas.resources),
                Mode::Data => ("data source", &schemas.data),
                Mode::Ephemeral => ("ephemeral resource", &schemas.ephemeral),
            };
            let has = if types.is_empty() {
                format!("It has no {kind}.")
            } else {
                let names: Vec<&str> = types.keys().map(|name| &**name).collect();
                format!("It has {}.", names.join(", "))
            };
            let detail = format!("The provider {addr} has no {kind} {ty:?}. {has}");
            let error = Diagnostic::error(format!("Invalid {kind}"), detail);
            Box::new(match nearest(ty, types.keys().map(|name| &**name)) {
                Some(near) => error.hint(format!("Did you mean {near:?}?")),
                None => error,
            })
        })
    }

    /// The error for a provider that there is none of.
    pub(crate) fn missing(&self, addr: &ProviderAddr) -> Diagnostic {
        let detail = format!("This release has no provider {addr}. It has {}.", self.list());
        let error = Diagnostic::error("Unknown provider", detail);
        match self.nearest(addr) {
            Some(near) => error.hint(format!("Did you mean {near:?}?")),
            None => error,
        }
    }

    /// The name of the provider that may be meant.
    pub(crate) fn nearest(&self, addr: &ProviderAddr) -> Option<&str> {
        nearest(&addr.ty, self.iter().map(|provider| &*provider.addr().ty))
    }

    pub(crate) fn list(&self) -> String {
        let names: Vec<String> = self.by_addr.keys().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// The candidate that is most like what was written, where one is like it at all.
pub(crate) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Two edits, or one in four letters: more is another word.
    let most = (written.chars().count() / 4).max(2);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}
