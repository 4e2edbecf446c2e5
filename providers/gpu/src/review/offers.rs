//! Which profile of which pool offers a resource by plan, or offered it before.

use std::collections::BTreeMap;

use engine_model::{finding::Place, name::ResourceName};
use engine_value::{Path, Value};
use providers_catalog::MigProfile;

use super::Reviewed;
use crate::{
    attributes::known,
    pool::{self, profile_path},
    resource::WHOLE_CARD,
};

/// Where each resource that pools offer by plan is asked for; of several places the first by address and profile.
pub(super) fn offers(plan: &Reviewed<'_>) -> BTreeMap<ResourceName, Place> {
    let mut places = BTreeMap::new();
    for change in plan.changes.iter().filter(|change| &*change.addr.ty == pool::TYPE && !change.after.is_null()) {
        for (name, path) in asked(&change.after) {
            places.entry(name).or_insert_with(|| Place::new(change.addr.clone(), path));
        }
    }
    places
}

/// The pool whose change makes a resource vanish from what it offers.
pub(super) fn takes_away(plan: &Reviewed<'_>, name: &ResourceName) -> Option<Place> {
    let has = |object: &Value| known(object, "resources").is_some_and(|all| all.get(name.as_str()).is_some());
    let pools = plan.changes.iter().filter(|change| &*change.addr.ty == pool::TYPE);
    let change = pools.into_iter().find(|change| has(&change.before) && !has(&change.after));
    let by_change = change.map(|change| &change.addr);
    // Or a pool that is new, and cuts cards that were cut otherwise.
    let cuts = |operation: &&engine_model::operation::Operation| {
        operation
            .cards
            .iter()
            .any(|card| card.now.segments.iter().any(|segment| stands_for(&segment.label, card.now.mig) == *name))
    };
    let by_cut = || plan.operations.iter().find(cuts).and_then(|operation| operation.owners.first());
    let addr = by_change.or_else(by_cut)?;
    Some(Place::new(addr.clone(), Path::root().attr("profiles")))
}

fn stands_for(label: &str, mig: bool) -> ResourceName {
    match label.parse::<MigProfile>() {
        Ok(profile) if mig => profile.resource_name().into(),
        _ => WHOLE_CARD.into(),
    }
}

fn asked(pool: &Value) -> Vec<(ResourceName, Path)> {
    let profiles = known(pool, "profiles").and_then(Value::as_map).into_iter().flatten();
    let mut asked = Vec::new();
    for (name, profile) in profiles {
        let path = profile_path(name);
        if let Some(slices) = known(profile, "mig").and_then(Value::as_map) {
            for (slice, _) in slices.iter().filter(|(_, count)| count.as_i64().is_some_and(|count| count > 0)) {
                if let Ok(parsed) = slice.parse::<MigProfile>() {
                    asked.push((parsed.resource_name().into(), path.clone().attr("mig").key(slice.clone())));
                }
            }
        } else if known(profile, "whole").and_then(Value::as_bool) == Some(true) {
            asked.push((WHOLE_CARD.into(), path.attr("whole")));
        }
    }
    asked
}
