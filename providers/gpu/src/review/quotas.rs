//! Quotas against what nodes will offer: names that no node offers, amounts above capacity, quotas below what is used.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::Severity;
use engine_model::{
    change::Action,
    finding::{Finding, Place},
    name::ResourceName,
};
use engine_value::Path;

use super::{
    Reviewed,
    capacity::Capacity,
    offers::{offers, takes_away},
};
use crate::{
    attributes::text,
    quota::{self, slice_path, slices_of},
    resource::{Amounts, add, nearest},
    world::World,
};

/// What is wrong with quotas; adds to each row of the capacity who may ask for it.
pub(super) fn findings(plan: &Reviewed<'_>, world: &World, capacity: &mut Capacity) -> Vec<Finding> {
    let (offers, mut findings) = (offers(plan), Vec::new());
    let mut asked: BTreeMap<ResourceName, Vec<u64>> = BTreeMap::new();
    let mut planned: BTreeSet<(String, String)> = BTreeSet::new();
    for change in plan.changes.iter().filter(|change| &*change.addr.ty == quota::TYPE) {
        // One that is deleted is no longer there; one that is known in neither state has no name yet.
        for object in [&change.before, &change.after] {
            if let Some((namespace, name)) = text(object, "namespace").zip(text(object, "name")) {
                planned.insert((namespace.to_owned(), name.to_owned()));
            }
        }
        if change.after.is_null() {
            continue;
        }
        let namespace = text(&change.after, "namespace").unwrap_or("(known after apply)").to_owned();
        let said = slices_of(&change.after);
        // What was told when it was approved is not told again until something of it changes.
        let is_new = change.action != Action::NoOp;
        for (name, amount) in said.iter().filter(|(_, amount)| **amount > 0) {
            let place = Place::new(change.addr.clone(), slice_path(name.as_str()));
            let offered = capacity.get(name).map_or((0, 0), |row| (row.then, row.excluded));
            let is_new = is_new || capacity.get(name).is_some_and(|row| row.now != row.then);
            findings.extend(match offered {
                (0, 0) => Some(unknown(name, &namespace, place.clone(), plan, capacity, &offers)),
                (then, _) if *amount > then && is_new => Some(above(name, &namespace, *amount, then, place.clone())),
                _ => None,
            });
            if let Some(row) = capacity.get_mut(name) {
                row.notes.push((format!("{namespace} may ask for {amount}"), Some(place)));
                asked.entry(name.clone()).or_default().push(*amount);
            }
        }
        if is_new && text(&change.after, "namespace").is_some() {
            let place = Place::new(change.addr.clone(), Path::root().attr("slices"));
            findings.extend(below_use(&namespace, &said, world, place));
        }
    }
    for quota in &world.quotas {
        if planned.contains(&(quota.namespace.clone(), quota.name.clone())) {
            continue;
        }
        for (name, amount) in quota.hard.iter().filter(|(_, amount)| **amount > 0) {
            let Some(row) = capacity.get_mut(name) else { continue };
            row.notes.push((format!("{} may ask for {amount}", quota.namespace), None));
            asked.entry(name.clone()).or_default().push(*amount);
            if row.now > 0 && row.then == 0 && row.excluded == 0 {
                let what = format!("ResourceQuota {}/{}", quota.namespace, quota.name);
                findings.push(foreign(name, *amount, &what, takes_away(plan, name)));
            }
        }
    }
    for (name, amounts) in asked {
        let sum = amounts.iter().fold(0_u64, |sum, amount| sum.saturating_add(*amount));
        if let Some(row) = capacity.get_mut(&name).filter(|row| amounts.len() > 1 && sum > row.then) {
            row.notes.push((format!("all together may ask for {sum}, {} more than there are", sum - row.then), None));
        }
    }
    findings
}

fn unknown(
    name: &ResourceName,
    namespace: &str,
    place: Place,
    plan: &Reviewed<'_>,
    capacity: &Capacity,
    offers: &BTreeMap<ResourceName, Place>,
) -> Finding {
    let mut places = vec![("the quota".to_owned(), place)];
    let there: Vec<&str> = capacity.values().filter(|row| row.then > 0).map(|row| row.resource.as_str()).collect();
    let near = nearest(name.as_str(), there.iter().copied());
    let vanishes = capacity.get(name).is_some_and(|row| row.now > 0);
    let mut detail =
        format!("No node will offer {name}, so a pod of {namespace} that asks for it would wait for ever.");
    if vanishes {
        detail.push_str(" Nodes offer it now, and this plan takes it away.");
        places.extend(takes_away(plan, name).map(|place| ("the pool that no longer offers it".to_owned(), place)));
    } else if let Some(near) = near
        && let Some(place) = offers.get(&ResourceName::from(near))
    {
        places.push((format!("{near} is offered here"), place.clone()));
    } else {
        // No name is near: any pool shows at least where names come from.
        places.extend(offers.iter().next().map(|(name, place)| (format!("{name} is offered here"), place.clone())));
    }
    let hint = match near {
        Some(near) => format!("Did you mean {near}? Else add a profile that offers {name} to a pool."),
        None if there.is_empty() => format!("Add a profile that offers {name} to a pool."),
        None => format!("Offered are {}. Else add a profile that offers {name} to a pool.", there.join(", ")),
    };
    Finding {
        severity: Severity::Error,
        code: "quota_unknown_resource".to_owned(),
        summary: "A quota on a resource that no node will offer".to_owned(),
        detail,
        hint: Some(hint),
        places,
    }
}

fn above(name: &ResourceName, namespace: &str, amount: u64, then: u64, place: Place) -> Finding {
    let detail = if then == 0 {
        format!("{namespace} may ask for {amount} {name}, which only nodes offer that are left alone for now.")
    } else {
        format!("{namespace} may ask for {amount} {name}, and all nodes together will offer {then}.")
    };
    Finding {
        severity: Severity::Warning,
        code: "quota_above_capacity".to_owned(),
        summary: "A quota above capacity".to_owned(),
        detail,
        hint: Some("Pods beyond that wait until others end. Lower the quota if this is not meant.".to_owned()),
        places: vec![("the quota".to_owned(), place)],
    }
}

// What pods of the namespace have already, and may not ask for again. Running pods stay: nobody notices until they are
// made anew.
fn below_use(namespace: &str, said: &Amounts, world: &World, place: Place) -> Vec<Finding> {
    let mut used = Amounts::new();
    for (_, pod) in world.pods.iter().filter(|(name, _)| name.namespace == namespace) {
        add(&mut used, &pod.requests);
    }
    let over = used.iter().filter_map(|(name, used)| {
        let may = said.get(name).copied().unwrap_or(0);
        (*used > may).then(|| {
            let detail = format!(
                "Pods of {namespace} ask for {used} {name} already, and the quota allows {may}. They keep what they have; \
                 those that are made anew are refused."
            );
            let at = if said.contains_key(name) {
                Place::new(place.addr.clone(), slice_path(name.as_str()))
            } else {
                place.clone()
            };
            Finding {
                severity: Severity::Warning,
                code: "quota_below_use".to_owned(),
                summary: "A quota below what is used".to_owned(),
                detail,
                hint: None,
                places: vec![("the quota".to_owned(), at)],
            }
        })
    });
    over.collect()
}

fn foreign(name: &ResourceName, amount: u64, what: &str, taker: Option<Place>) -> Finding {
    Finding {
        severity: Severity::Warning,
        code: "quota_loses_resource".to_owned(),
        summary: "A quota on a resource that this plan takes away".to_owned(),
        detail: format!("{what}, which is not part of this plan, allows {amount} {name}, which no node will offer."),
        hint: Some("Change that quota too, or pods that ask for it wait for ever.".to_owned()),
        places: taker.map(|place| ("the pool that no longer offers it".to_owned(), place)).into_iter().collect(),
    }
}
