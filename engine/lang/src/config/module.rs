//! A module: everything that the files of one directory declare.

use std::{collections::BTreeMap, sync::Arc};

use engine_model::address::ProviderAddr;

use super::{
    call::ModuleCall,
    check_block::Check,
    output::{Local, Output},
    provider::{ProviderBlock, ProviderName, implied_provider},
    refactor::{Import, Moved, Removed},
    resource::{Resource, ResourceName},
    settings::Settings,
    variable::Variable,
};

/// A module. Modules that are called several times are shared: what differs between calls is in the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its directory, relative to that of the root module, which is `.`.
    pub directory: Arc<str>,
    /// What it requires.
    pub settings: Settings,
    /// Its provider blocks.
    pub providers: BTreeMap<ProviderName, ProviderBlock>,
    /// Its inputs.
    pub variables: BTreeMap<Arc<str>, Variable>,
    /// Its local values.
    pub locals: BTreeMap<Arc<str>, Local>,
    /// Its outputs.
    pub outputs: BTreeMap<Arc<str>, Output>,
    /// Its resources, data sources and ephemeral resources.
    pub resources: BTreeMap<ResourceName, Resource>,
    /// The modules that it calls.
    pub calls: BTreeMap<Arc<str>, ModuleCall>,
    /// Conditions of the whole.
    pub checks: BTreeMap<Arc<str>, Check>,
    /// Which objects have another address now.
    pub moved: Vec<Moved>,
    /// Which objects are no longer in it.
    pub removed: Vec<Removed>,
    /// Which objects are there already.
    pub imports: Vec<Import>,
}

impl Module {
    /// The provider that a name means in this module.
    pub fn provider_addr(&self, name: &str) -> ProviderAddr {
        self.settings.required_providers.get(name).map_or_else(|| implied_provider(name), |entry| entry.addr.clone())
    }
}
