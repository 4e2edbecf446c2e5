//! Which names a quota holds, and at what. Pure.

use std::collections::BTreeSet;

use engine_model::name::ResourceName;
use engine_value::{Type, Value};
use providers_api::PlannedChange;
use providers_catalog::catalog;
use serde::{Deserialize, Serialize};

use super::slices_of;
use crate::{
    attributes::known,
    resource::{Amounts, WHOLE_CARD},
    world::World,
};

/// What is stored beside a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Private {
    /// Every name that the quota holds, zeroes included.
    #[serde(default)]
    pub(super) names: BTreeSet<ResourceName>,
}

impl Private {
    /// Reads what was stored.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// What is stored.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a set of names is always JSON")
    }
}

/// Every name that must be held at zero unless said: what nodes offer now, what pools will offer, whole cards, every
/// MIG profile of the catalog. What was held once stays held. Never a name that nobody knows.
pub(super) fn known_names<'a>(
    world: &World,
    pools: impl Iterator<Item = &'a PlannedChange>,
    stored: &Private,
) -> BTreeSet<ResourceName> {
    let mut names = stored.names.clone();
    names.insert(WHOLE_CARD.into());
    names.extend(world.nodes.values().flat_map(|node| node.allocatable.keys().cloned()));
    names.extend(catalog().mig_profiles().iter().map(|profile| ResourceName::from(profile.resource_name())));
    for pool in pools {
        let offered = known(&pool.after, "resources").and_then(Value::as_map).into_iter().flatten();
        names.extend(offered.map(|(name, _)| ResourceName::from(&**name)));
    }
    names
}

/// What the quota says in all.
pub(super) fn hard(said: &Amounts, names: &BTreeSet<ResourceName>) -> Amounts {
    let zeroes = names.iter().map(|name| (name.clone(), 0));
    let mut hard: Amounts = zeroes.collect();
    hard.extend(said.iter().map(|(name, amount)| (name.clone(), *amount)));
    hard
}

/// The attribute `zeroed`.
pub(super) fn zeroed(object: &Value, names: &BTreeSet<ResourceName>) -> Value {
    let slices = object.get("slices");
    if slices.is_none_or(|slices| !slices.is_known()) {
        return Value::unknown(Type::Number);
    }
    let entries = known(object, "slices").and_then(Value::as_map);
    let said: BTreeSet<&str> = entries.into_iter().flatten().map(|(name, _)| &**name).collect();
    let zeroes = names.iter().filter(|name| !said.contains(name.as_str())).count();
    Value::int(i64::try_from(zeroes).unwrap_or(i64::MAX))
}

/// What the quota of an object says in all, once it is known.
pub(super) fn hard_of(object: &Value, private: &Private) -> Amounts {
    hard(&slices_of(object), &private.names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WorldBuilder, whole_a100};

    #[test]
    fn everything_else_is_zero() {
        let world = WorldBuilder::default()
            .node("gpu-01", vec![whole_a100(0, &[])])
            .with("gpu-01", |node| {
                node.allocatable.insert("sliceform.io/notebook".into(), 3);
            })
            .build();
        let stored = Private { names: ["sliceform.io/gone".into()].into() };
        let names = known_names(&world, std::iter::empty(), &stored);
        for name in [
            "nvidia.com/gpu",
            "sliceform.io/notebook",
            "sliceform.io/gone",
            "nvidia.com/mig-1g.10gb",
            "nvidia.com/mig-1g.10gb.me",
            "nvidia.com/mig-7g.141gb",
        ] {
            assert!(names.contains(&ResourceName::from(name)), "{name} is not held");
        }
        assert!(!names.contains(&ResourceName::from("sliceform.io/unheard-of")));
        let hard = hard(&[("nvidia.com/mig-1g.10gb".into(), 4)].into(), &names);
        assert_eq!(hard[&"nvidia.com/mig-1g.10gb".into()], 4);
        assert_eq!(hard.values().filter(|amount| **amount > 0).count(), 1);
        assert_eq!(hard.len(), names.len());
    }
}
