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

/// The host of sources that name none.
const REGISTRY: &str = "registry.terraform.io";

/// The namespace of sources that are only a name.
const DEFAULT_NAMESPACE: &str = "hashicorp";

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

    /// The provider that a `source` in `required_providers` means.
    ///
    /// # Errors
    /// It is no source, or none of ours: says which there are.
    pub fn by_source(&self, source: &str) -> Result<&Arc<dyn Provider>, Diagnostic> {
        let wanted = parse_source(source)?;
        let means = |provider: &&Arc<dyn Provider>| {
            *provider.addr() == wanted
                || provider.sources().iter().any(|other| parse_source(other).is_ok_and(|other| other == wanted))
        };
        self.iter().find(means).ok_or_else(|| {
            let detail = format!("This release has no provider {source:?}. It has {}.", self.list());
            Diagnostic::error("Unknown provider", detail)
        })
    }

    /// The provider that a local name means where `required_providers` does not say: the one of that type.
    ///
    /// # Errors
    /// There is none: says which there are.
    pub fn by_local_name(&self, name: &str) -> Result<&Arc<dyn Provider>, Diagnostic> {
        self.iter().find(|provider| *provider.addr().ty == *name).ok_or_else(|| {
            let detail = format!("This release has no provider for {name:?}. It has {}.", self.list());
            let error = Diagnostic::error("Unknown provider", detail);
            match nearest(name, self.iter().map(|provider| &*provider.addr().ty)) {
                Some(near) => error.hint(format!("Did you mean {near:?}?")),
                None => error,
            }
        })
    }

    /// The schema of a type of a provider.
    ///
    /// # Errors
    /// It has no such type: says which it has.
    pub fn schema(&self, addr: &ProviderAddr, mode: Mode, ty: &str) -> Result<&Schema, Diagnostic> {
        let Some(provider) = self.get(addr) else {
            let detail = format!("This release has no provider {addr}. It has {}.", self.list());
            return Err(Diagnostic::error("Unknown provider", detail));
        };
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
            match nearest(ty, types.keys().map(|name| &**name)) {
                Some(near) => error.hint(format!("Did you mean {near:?}?")),
                None => error,
            }
        })
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.by_addr.keys().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// The local name of the provider that a type implies: what stands before the first underscore.
pub(crate) fn implied_local_name(ty: &str) -> &str {
    ty.split('_').next().unwrap_or(ty)
}

/// `kubernetes`, `hashicorp/kubernetes`, `registry.terraform.io/hashicorp/kubernetes`.
fn parse_source(source: &str) -> Result<ProviderAddr, Diagnostic> {
    let parts: Vec<&str> = source.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(invalid_source(source));
    }
    match parts[..] {
        [ty] => Ok(ProviderAddr::new(REGISTRY, DEFAULT_NAMESPACE, ty)),
        [namespace, ty] => Ok(ProviderAddr::new(REGISTRY, namespace, ty)),
        [host, namespace, ty] => Ok(ProviderAddr::new(host, namespace, ty)),
        _ => Err(invalid_source(source)),
    }
}

fn invalid_source(source: &str) -> Diagnostic {
    let detail = format!("A provider source is [HOST/]NAMESPACE/NAME, found {source:?}.");
    Diagnostic::error("Invalid provider source string", detail)
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
