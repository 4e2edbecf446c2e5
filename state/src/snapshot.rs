//! What state remembers: objects, outputs, the clusters that they live in, and nodes that are held.
//!
//! Knows neither files nor schemas: attributes are JSON with exact numbers, which whoever has the schema turns into
//! values.

use std::{collections::BTreeMap, fmt, sync::Arc};

use engine_model::{
    address::{ConfigResourceAddr, DeposedKey, ProviderConfigAddr, ResourceAddr},
    event::HeldNode,
    host::Host,
    name::{ClusterIdentity, NodeName, PlanDigest},
};
use engine_value::{Path, Type, json::Json};
use serde::{Deserialize, Serialize};

use crate::{
    Fence,
    dependants::{Ancestor, Dependants},
};

/// Every `terraform_version` that we write: the level of the language and of the format.
pub const TERRAFORM_VERSION: &str = "1.11.4";

/// Names one state for all its life: two states never share it. A UUID in files that we or Terraform made.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(pub Arc<str>);

impl Lineage {
    /// A new one.
    pub fn random(host: &dyn Host) -> Self {
        let mut bytes = [0; 16];
        host.random(&mut bytes);
        Self(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string().into())
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All that state remembers at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Which state this is.
    pub lineage: Lineage,
    /// Grows with every commit that changes something. 0: never committed.
    pub serial: u64,
    /// What wrote it last, in Terraform's numbering.
    pub terraform_version: String,
    /// Outputs of the root module by name; never null.
    pub outputs: BTreeMap<Arc<str>, Output>,
    /// The cluster behind each provider configuration that has one.
    pub clusters: BTreeMap<ProviderConfigAddr, ClusterIdentity>,
    /// Nodes that are held, by who holds them.
    pub held: BTreeMap<(ProviderConfigAddr, NodeName), HeldNode>,
    /// The last run that began to change something.
    pub last_run: Option<LastRun>,
    /// Results of checks, as they are in the file.
    pub check_results: Json,
    // Invariant: every resource has a current object or a deposed one; `dependants` is its ancestors reversed.
    pub(crate) resources: BTreeMap<ResourceAddr, Resource>,
    pub(crate) dependants: Dependants,
}

/// The last run that began to change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    /// Its plan: the same one again is stale.
    pub plan: PlanDigest,
    /// Its fence: every later one is higher.
    pub fence: Fence,
}

/// The value of an output of the root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its value, as the file has it.
    pub value: Json,
    /// Its type.
    pub ty: Type,
    /// Never shown.
    pub sensitive: bool,
}

/// One instance of a resource or data source.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Who looks after it.
    pub provider: ProviderConfigAddr,
    /// The object, where there is one.
    pub current: Option<Object>,
    /// Objects that were replaced and are still to be destroyed.
    pub deposed: BTreeMap<DeposedKey, Object>,
}

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Of the schema that `attributes` are of.
    pub schema_version: u64,
    /// Its attributes, as the file has it.
    pub attributes: Json,
    /// Parts of it that are never shown.
    pub sensitive: Vec<Path>,
    /// What the provider stores beside it.
    pub private: Vec<u8>,
    /// Is it whole?
    pub status: Status,
    /// What it needs.
    pub dependencies: Dependencies,
    /// Is its replacement made before it is destroyed? Also true where a dependant asked for it.
    pub create_before_destroy: bool,
}

/// Is an object whole?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It is.
    #[default]
    Ready,
    /// Its creation failed half way: it must be replaced.
    Tainted,
}

/// What an object needs, so that it is destroyed first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// The nearest ancestors that have instances, ascending. What we write; Terraform's field is derived from it.
    Nearest(Vec<Ancestor>),
    /// From a file that Terraform wrote: all ancestors, whatever their instances, ascending.
    Configured(Vec<ConfigResourceAddr>),
}

impl Default for Dependencies {
    fn default() -> Self {
        Self::Nearest(Vec::new())
    }
}

/// Which object of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Slot {
    /// The current one.
    Current,
    /// One that was replaced and is still to be destroyed.
    Deposed(DeposedKey),
}

impl Object {
    /// A whole object without anything beside it.
    pub fn new(schema_version: u64, attributes: Json) -> Self {
        Self {
            schema_version,
            attributes,
            sensitive: Vec::new(),
            private: Vec::new(),
            status: Status::Ready,
            dependencies: Dependencies::default(),
            create_before_destroy: false,
        }
    }

    /// Its nearest ancestors; none where Terraform wrote it.
    pub fn ancestors(&self) -> &[Ancestor] {
        match &self.dependencies {
            Dependencies::Nearest(ancestors) => ancestors,
            Dependencies::Configured(_) => &[],
        }
    }
}

impl Resource {
    /// One of its objects.
    pub fn object(&self, slot: &Slot) -> Option<&Object> {
        match slot {
            Slot::Current => self.current.as_ref(),
            Slot::Deposed(key) => self.deposed.get(key),
        }
    }

    /// All of its objects: the current one, then the deposed ones by key.
    pub fn objects(&self) -> impl Iterator<Item = (Slot, &Object)> {
        let current = self.current.iter().map(|object| (Slot::Current, object));
        current.chain(self.deposed.iter().map(|(key, object)| (Slot::Deposed(key.clone()), object)))
    }
}

impl Snapshot {
    /// A state that remembers nothing yet.
    pub fn new(lineage: Lineage) -> Self {
        Self {
            lineage,
            serial: 0,
            terraform_version: TERRAFORM_VERSION.to_owned(),
            outputs: BTreeMap::new(),
            clusters: BTreeMap::new(),
            held: BTreeMap::new(),
            last_run: None,
            check_results: Json::Null,
            resources: BTreeMap::new(),
            dependants: Dependants::default(),
        }
    }

    /// Every resource, in address order.
    pub fn resources(&self) -> &BTreeMap<ResourceAddr, Resource> {
        &self.resources
    }

    /// The resource at an address.
    pub fn resource(&self, addr: &ResourceAddr) -> Option<&Resource> {
        self.resources.get(addr)
    }

    /// The current object at an address.
    pub fn current(&self, addr: &ResourceAddr) -> Option<&Object> {
        self.resources.get(addr)?.current.as_ref()
    }

    /// Resources of which an object names this one among its nearest ancestors, by itself or by its whole block.
    pub fn dependants(&self, addr: &ResourceAddr) -> impl Iterator<Item = &ResourceAddr> {
        self.dependants.of(addr)
    }

    /// Puts an object at its place; one that was there is gone.
    pub fn put(&mut self, addr: &ResourceAddr, slot: Slot, provider: ProviderConfigAddr, object: Object) {
        self.edit(addr, |resource| {
            let mut resource =
                resource.unwrap_or(Resource { provider: provider.clone(), current: None, deposed: BTreeMap::new() });
            resource.provider = provider;
            match slot {
                Slot::Current => resource.current = Some(object),
                Slot::Deposed(key) => drop(resource.deposed.insert(key, object)),
            }
            Some(resource)
        });
    }

    /// Removes an object, if it is there. With a resource's last object its own ancestors take its place among the
    /// ancestors of its dependants.
    pub fn remove(&mut self, addr: &ResourceAddr, slot: &Slot) -> Option<Object> {
        let mut removed = None;
        self.edit(addr, |resource| {
            let mut resource = resource?;
            removed = match slot {
                Slot::Current => resource.current.take(),
                Slot::Deposed(key) => resource.deposed.remove(key),
            };
            Some(resource)
        });
        let object = removed?;
        if !self.resources.contains_key(addr) {
            self.splice(addr, object.ancestors());
        }
        Some(object)
    }

    /// The current object becomes a deposed one. False: there is no current object, or the name is taken.
    pub fn depose(&mut self, addr: &ResourceAddr, key: DeposedKey) -> bool {
        self.shift(addr, |resource| {
            if resource.deposed.contains_key(&key) {
                return None;
            }
            resource.deposed.insert(key, resource.current.take()?);
            Some(())
        })
    }

    /// A deposed object is the current one again. False: there is no such object, or the place is taken.
    pub fn restore(&mut self, addr: &ResourceAddr, key: &DeposedKey) -> bool {
        self.shift(addr, |resource| {
            if resource.current.is_some() {
                return None;
            }
            resource.current = Some(resource.deposed.remove(key)?);
            Some(())
        })
    }

    /// A resource gets another address; its dependants follow. False: there is none, or the new address is taken.
    pub fn rename(&mut self, from: &ResourceAddr, to: &ResourceAddr) -> bool {
        if self.resources.contains_key(to) {
            return false;
        }
        let mut moved = None;
        self.edit(from, |resource| {
            moved = resource;
            None
        });
        let Some(resource) = moved else { return false };
        self.edit(to, |_| Some(resource));
        self.splice(from, &[Ancestor::Instance(to.clone())]);
        true
    }

    /// Moves an object within its resource: what it needs stays what it is.
    fn shift(&mut self, addr: &ResourceAddr, shift: impl FnOnce(&mut Resource) -> Option<()>) -> bool {
        self.resources.get_mut(addr).and_then(shift).is_some()
    }

    /// The one way to change a resource: keeps the invariants.
    fn edit(&mut self, addr: &ResourceAddr, edit: impl FnOnce(Option<Resource>) -> Option<Resource>) {
        let before = self.resources.remove(addr);
        if let Some(resource) = &before {
            self.dependants.remove(addr, resource);
        }
        if let Some(resource) = edit(before).filter(|r| r.current.is_some() || !r.deposed.is_empty()) {
            self.dependants.insert(addr, &resource);
            self.resources.insert(addr.clone(), resource);
        }
    }

    /// Puts others in the place of an instance that is gone, wherever it is an ancestor.
    fn splice(&mut self, gone: &ResourceAddr, instead: &[Ancestor]) {
        let block = Ancestor::Block(gone.with_key(None));
        let block_is_gone = !self.has_instances(gone);
        let dependants: Vec<_> = self.dependants.of(gone).cloned().collect();
        for dependant in dependants {
            self.edit(&dependant, |resource| {
                let mut resource = resource?;
                for object in resource.current.iter_mut().chain(resource.deposed.values_mut()) {
                    let Dependencies::Nearest(ancestors) = &mut object.dependencies else { continue };
                    let needed =
                        ancestors.iter().any(|a| *a == block || matches!(a, Ancestor::Instance(i) if i == gone));
                    if !needed {
                        continue;
                    }
                    ancestors.retain(|a| match a {
                        Ancestor::Instance(addr) => addr != gone,
                        Ancestor::Block(_) => !(block_is_gone && *a == block),
                    });
                    ancestors.extend(instead.iter().cloned());
                    ancestors.sort();
                    ancestors.dedup();
                }
                Some(resource)
            });
        }
    }

    /// Does the block of this instance have any?
    fn has_instances(&self, addr: &ResourceAddr) -> bool {
        let block = addr.with_key(None);
        self.resources.range(&block..).next().is_some_and(|(next, _)| next.with_key(None) == block)
    }

    /// Does it say the same, whatever its serial and its writer?
    pub fn same_content(&self, other: &Self) -> bool {
        self.lineage == other.lineage
            && self.outputs == other.outputs
            && self.clusters == other.clusters
            && self.held == other.held
            && self.last_run == other.last_run
            && self.check_results == other.check_results
            && self.resources == other.resources
    }
}
