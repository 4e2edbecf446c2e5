//! What would fit where a request does not. Every suggestion is accepted by the solver for the same card and driver.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::{
    Attributes, Current, Geometry, MigProfile, ProfileCounts, Reason, Request, Suggestion, SuggestionKind, Wanted,
    solve,
};

// More than two of a kind is a list that nobody reads.
const OF_EACH_KIND: usize = 2;

pub(crate) fn suggestions(request: &Request, wanted: &ProfileCounts) -> Vec<Suggestion> {
    let whole = vec![Suggestion { kind: SuggestionKind::Whole, wanted: Wanted::Whole }];
    let Some(geometry) = request.card.geometry() else { return whole };
    let allowed = |counts: &ProfileCounts| match request.driver {
        Some(driver) => Reason::of_driver(request.card, geometry, counts, driver).is_ok(),
        None => true,
    };
    let valid: Vec<&ProfileCounts> =
        geometry.valid_multisets().iter().filter(|counts| !counts.is_empty() && allowed(counts)).collect();
    if valid.is_empty() {
        return whole;
    }
    let translated = translate(geometry, wanted);
    let same = valid.iter().copied().filter(|counts| **counts == translated);
    let beside = beside_in_use(request, geometry, &valid, &translated);
    let mut parts = maximal(valid.iter().copied().filter(|counts| is_part(counts, &translated)));
    parts.sort_by_cached_key(|counts| Reverse((memory_slices(geometry, counts), counts.total())));
    let mut nearest = valid.clone();
    nearest.sort_by_cached_key(|counts| distance(geometry, counts, &translated));

    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    let mut add = |kind, candidates: Vec<&ProfileCounts>| {
        let fresh = candidates.into_iter().filter(|counts| seen.insert((*counts).clone())).take(OF_EACH_KIND);
        list.extend(fresh.map(|counts| Suggestion { kind, wanted: Wanted::Mig(counts.clone()) }));
    };
    add(SuggestionKind::SameShape, same.collect());
    add(SuggestionKind::BesideInUse, beside);
    add(SuggestionKind::Part, parts);
    // Beside the very shapes that were asked, nothing else is near.
    if !valid.contains(&&translated) {
        add(SuggestionKind::Nearest, nearest);
    }
    list
}

// Names of another card become this card's names for slices of as many compute slices and about as much memory.
fn translate(geometry: &Geometry, wanted: &ProfileCounts) -> ProfileCounts {
    let here = |profile: MigProfile| {
        let alike = geometry
            .profiles
            .iter()
            .map(|info| info.profile)
            .filter(|own| own.gpu_slices == profile.gpu_slices && own.attributes == profile.attributes);
        alike.min_by_key(|own| own.memory_gb.abs_diff(profile.memory_gb))
    };
    wanted
        .iter()
        .filter_map(|(profile, count)| {
            let known = geometry.profile(profile).map(|info| info.profile);
            Some((known.or_else(|| here(profile))?, count))
        })
        .collect()
}

// The largest layouts that hold everything in use where it stands, and beyond that only what was asked.
fn beside_in_use<'a>(
    request: &Request,
    geometry: &Geometry,
    valid: &[&'a ProfileCounts],
    wanted: &ProfileCounts,
) -> Vec<&'a ProfileCounts> {
    let Current::Mig(slices) = request.current else { return Vec::new() };
    let in_use: ProfileCounts =
        slices.iter().filter(|slice| slice.in_use).map(|slice| slice.instance.profile).collect();
    if in_use.is_empty() {
        return Vec::new();
    }
    let mut bound = wanted.clone();
    for (profile, count) in in_use.iter() {
        bound.add(profile, count.saturating_sub(wanted.get(profile)));
    }
    let spares_all = |counts: &ProfileCounts| {
        let wanted = Wanted::Mig(counts.clone());
        solve(&Request { wanted: &wanted, ..request.clone() }).is_ok_and(|solution| solution.victims.is_empty())
    };
    let candidates = valid.iter().copied().filter(|counts| is_part(&in_use, counts) && is_part(counts, &bound));
    let mut found = maximal(candidates.filter(|counts| spares_all(counts)));
    found.sort_by_cached_key(|counts| Reverse((memory_slices(geometry, counts), counts.total())));
    found
}

fn is_part(part: &ProfileCounts, of: &ProfileCounts) -> bool {
    part.iter().all(|(profile, count)| count <= of.get(profile))
}

fn maximal<'a>(counts: impl Iterator<Item = &'a ProfileCounts>) -> Vec<&'a ProfileCounts> {
    let all: Vec<&ProfileCounts> = counts.collect();
    let is_maximal = |part: &&ProfileCounts| !all.iter().any(|other| other != part && is_part(part, other));
    all.iter().copied().filter(is_maximal).collect()
}

fn memory_slices(geometry: &Geometry, counts: &ProfileCounts) -> u32 {
    let sizes = counts.iter().map(|(profile, count)| (geometry.profile(profile).map_or(0, |info| info.size), count));
    sizes.fold(0, |sum, (size, count)| sum.saturating_add(u32::from(size).saturating_mul(count)))
}

// First by the number of slices, so that each tenant still gets one; then by how many of them differ, those with
// attributes that nobody asked for last; then by memory.
fn distance(geometry: &Geometry, counts: &ProfileCounts, wanted: &ProfileCounts) -> (u32, u32, u32, u32) {
    let either: BTreeSet<MigProfile> = counts.iter().chain(wanted.iter()).map(|(profile, _)| profile).collect();
    let differing = either.iter().map(|profile| counts.get(*profile).abs_diff(wanted.get(*profile)));
    let special =
        counts.iter().filter(|(profile, _)| profile.attributes != Attributes::default() && wanted.get(*profile) == 0);
    let memory = memory_slices(geometry, counts).abs_diff(memory_slices(geometry, wanted));
    let total = counts.total().abs_diff(wanted.total());
    (total, differing.fold(0, u32::saturating_add), special.map(|(_, count)| count).sum(), memory)
}
