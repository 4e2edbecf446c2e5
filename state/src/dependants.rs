//! Ancestors of objects, and the same the other way round: who depends on an instance.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use engine_model::address::{AddressError, ResourceAddr};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::snapshot::Resource;

/// What an object needs: as wide as its references are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ancestor {
    /// One instance: `gpu_pool.dev["a"]`.
    Instance(ResourceAddr),
    /// All instances of a block in one module instance (its address has no key): `gpu_pool.dev[*]`.
    Block(ResourceAddr),
}

const ALL: &str = "[*]";

impl fmt::Display for Ancestor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(addr) => write!(f, "{addr}"),
            Self::Block(addr) => write!(f, "{addr}{ALL}"),
        }
    }
}

impl FromStr for Ancestor {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.strip_suffix(ALL) {
            Some(block) => Ok(Self::Block(block.parse::<ResourceAddr>()?.with_key(None))),
            None => Ok(Self::Instance(text.parse()?)),
        }
    }
}

impl Serialize for Ancestor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ancestor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Who depends on what: makes the removal of an instance as cheap as it has dependants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependants(BTreeMap<Ancestor, BTreeSet<ResourceAddr>>);

impl Dependants {
    pub(crate) fn insert(&mut self, addr: &ResourceAddr, resource: &Resource) {
        for ancestor in ancestors(resource) {
            self.0.entry(ancestor.clone()).or_default().insert(addr.clone());
        }
    }

    pub(crate) fn remove(&mut self, addr: &ResourceAddr, resource: &Resource) {
        for ancestor in ancestors(resource) {
            if let Some(dependants) = self.0.get_mut(ancestor) {
                dependants.remove(addr);
                if dependants.is_empty() {
                    self.0.remove(ancestor);
                }
            }
        }
    }

    pub(crate) fn of(&self, addr: &ResourceAddr) -> impl Iterator<Item = &ResourceAddr> {
        let instance = self.0.get(&Ancestor::Instance(addr.clone()));
        let block = self.0.get(&Ancestor::Block(addr.with_key(None)));
        let by_block = block.into_iter().flatten();
        let only_instance = move |a: &&ResourceAddr| block.is_none_or(|block| !block.contains(*a));
        by_block.chain(instance.into_iter().flatten().filter(only_instance))
    }
}

fn ancestors(resource: &Resource) -> impl Iterator<Item = &crate::Ancestor> {
    resource.current.iter().chain(resource.deposed.values()).flat_map(|object| object.ancestors())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_round_trip() {
        for text in ["gpu_pool.dev", "gpu_pool.dev[*]", "module.a[\"x\"].gpu_pool.dev[\"[*]\"]", "data.a.b[3]"] {
            assert_eq!(text.parse::<Ancestor>().unwrap().to_string(), text);
        }
    }
}
