//! Who depends on whom, with the real width of each reference.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine_model::address::{ProviderConfigAddr, ResourceAddr};

/// Something that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// One instance of a resource or data source.
    Instance(ResourceAddr),
    /// A provider configuration.
    Provider(ProviderConfigAddr),
    /// Anything between: all instances of a resource, a local, an output, a module call. By its textual address. It
    /// keeps N × M dependencies at N + M edges.
    Group(Arc<str>),
}

/// Direct dependencies: each subject with what it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Of the configuration: everything that an evaluated subject asked for.
    pub configured: BTreeMap<Subject, BTreeSet<Subject>>,
    /// Of the state: what each stored instance depended on when it was applied. Rules destruction.
    pub stored: BTreeMap<ResourceAddr, Vec<ResourceAddr>>,
}
