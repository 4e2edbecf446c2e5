//! Properties of the solver, checked against searches that share no code with it.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use providers_catalog::{
    CardModel, Current, DriverVersion, Geometry, Instance, Layout, MigProfile, Occupied, Product, ProfileCounts,
    Request, Solution, Step, Victim, Wanted, catalog, solve,
};

const PRODUCTS: [&str; 5] =
    ["A100-SXM4-80GB", "A100-SXM4-40GB", "H100-80GB-HBM3", "A30", "RTX-PRO-6000-Blackwell-Server-Edition"];

fn card(index: usize) -> &'static CardModel {
    catalog().find(&Product::new(PRODUCTS[index])).unwrap()
}

fn geometry(card: &CardModel) -> &Geometry {
    card.geometry().unwrap()
}

/// Every instance that the card could have alone.
fn all_instances(geometry: &Geometry) -> Vec<Instance> {
    geometry.profiles.iter().flat_map(|info| info.starts.iter().map(|start| info.at(*start))).collect()
}

/// A legal set of slices, some in use: those of a random sequence that fit beside the ones before.
fn slices(card: &CardModel, picks: &[(usize, bool)]) -> Vec<Occupied> {
    let geometry = geometry(card);
    let all = all_instances(geometry);
    let mut found: Vec<Occupied> = Vec::new();
    for (pick, in_use) in picks {
        let instance = all[pick % all.len()];
        let together: Vec<Instance> = found.iter().map(|slice| slice.instance).chain([instance]).collect();
        if geometry.check(&together).is_ok() {
            found.push(Occupied { instance, in_use: *in_use });
        }
    }
    found
}

/// The largest (kept in use, kept) over all layouts with these profiles, by trying every one of them.
fn brute_force(geometry: &Geometry, wanted: &ProfileCounts, now: &[Occupied]) -> Option<(usize, usize)> {
    let names: Vec<MigProfile> =
        wanted.iter().flat_map(|(profile, count)| std::iter::repeat_n(profile, count as usize)).collect();
    let mut best = None;
    try_all(geometry, &names, &mut Vec::new(), &mut |layout| {
        let kept = now.iter().filter(|slice| layout.contains(&slice.instance));
        let in_use = kept.clone().filter(|slice| slice.in_use).count();
        best = best.max(Some((in_use, kept.count())));
    });
    best
}

fn try_all(geometry: &Geometry, names: &[MigProfile], layout: &mut Vec<Instance>, found: &mut dyn FnMut(&[Instance])) {
    let Some((name, rest)) = names.split_first() else {
        return found(layout);
    };
    for instance in all_instances(geometry).into_iter().filter(|instance| instance.profile == *name) {
        layout.push(instance);
        if geometry.check(layout).is_ok() {
            try_all(geometry, rest, layout, found);
        }
        layout.pop();
    }
}

/// Walks the steps and checks that the hardware would allow each.
fn check_steps(geometry: &Geometry, current: &Current, solution: &Solution) {
    let (mut on, mut standing) = match current {
        Current::Whole { .. } => (false, BTreeSet::new()),
        Current::Mig(slices) => (true, slices.iter().map(|slice| slice.instance).collect::<BTreeSet<_>>()),
    };
    for step in &solution.steps {
        match step {
            Step::Destroy(instance) => assert!(on && standing.remove(instance), "{instance} does not exist"),
            Step::Create(instance) => {
                assert!(on && standing.insert(*instance), "{instance} exists");
                let together: Vec<Instance> = standing.iter().copied().collect();
                assert_eq!(geometry.check(&together), Ok(()));
            }
            Step::SetMigMode { on: to, needs_reset } => {
                assert!(standing.is_empty() && on != *to);
                assert_eq!(*needs_reset, geometry.mode_needs_reset);
                on = *to;
            }
        }
    }
    let reached = if on { Layout::mig(standing) } else { Layout::Whole };
    assert_eq!(reached, solution.layout);
}

fn request<'a>(
    card: &'a CardModel,
    driver: Option<&'a DriverVersion>,
    current: &'a Current,
    wanted: &'a Wanted,
) -> Request<'a> {
    Request { card, driver, current, wanted }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_valid_multiset_is_solved_with_the_fewest_losses(
        card_index in 0..PRODUCTS.len(),
        picks in prop::collection::vec((any::<usize>(), any::<bool>()), 0..10),
        choice in any::<prop::sample::Index>(),
        whole in prop::option::of(any::<bool>()),
    ) {
        let card = card(card_index);
        let geometry = geometry(card);
        let now = slices(card, &picks);
        let counts = choice.get(geometry.valid_multisets());
        let current = match whole {
            Some(in_use) => Current::Whole { in_use },
            None => Current::Mig(now.clone()),
        };
        let now: &[Occupied] = if whole.is_some() { &[] } else { &now };
        let wanted = Wanted::Mig(counts.clone());
        let solution = solve(&request(card, None, &current, &wanted)).unwrap();

        prop_assert_eq!(&solution.layout.counts(), counts);
        prop_assert_eq!(geometry.check(solution.layout.instances()), Ok(()));
        check_steps(geometry, &current, &solution);

        let kept_in_use = now.iter().filter(|slice| slice.in_use && solution.kept.contains(&slice.instance)).count();
        prop_assert_eq!(Some((kept_in_use, solution.kept.len())), brute_force(geometry, counts, now));
        let mut victims: Vec<Victim> = now
            .iter()
            .filter(|slice| slice.in_use && !solution.kept.contains(&slice.instance))
            .map(|slice| Victim::Slice(slice.instance))
            .collect();
        victims.sort();
        if whole == Some(true) {
            victims.push(Victim::WholeCard);
        }
        prop_assert_eq!(&solution.victims, &victims);

        // The order in which a node lists its slices means nothing, and the second time there is nothing to do.
        if let Current::Mig(mut reversed) = current {
            reversed.reverse();
            let reversed = Current::Mig(reversed);
            prop_assert_eq!(&solve(&request(card, None, &reversed, &wanted)).unwrap(), &solution);
        }
        let slices = solution.layout.instances().iter().map(|instance| Occupied { instance: *instance, in_use: false });
        let then = Current::Mig(slices.collect());
        let again = solve(&request(card, None, &then, &wanted)).unwrap();
        prop_assert!(again.is_unchanged());
        prop_assert_eq!(again.layout, solution.layout);
    }

    #[test]
    fn what_is_refused_has_no_layout_and_what_is_suggested_has_one(
        card_index in 0..PRODUCTS.len(),
        picks in prop::collection::vec((any::<usize>(), any::<bool>()), 0..10),
        // Names of one card, asked of another.
        asked_of in 0..PRODUCTS.len(),
        asked in prop::collection::vec((any::<prop::sample::Index>(), 1..4_u32), 1..4),
        driver in prop::option::of(prop::sample::select(vec!["450.80.02", "470.57.02", "525.85.12", "595.91.07"])),
    ) {
        let card = card(card_index);
        let geometry = geometry(card);
        let names: Vec<MigProfile> =
            self::geometry(self::card(asked_of)).profiles.iter().map(|info| info.profile).collect();
        let counts: ProfileCounts = asked.iter().map(|(index, count)| (*index.get(&names), *count)).collect();
        let now = slices(card, &picks);
        let current = Current::Mig(now.clone());
        let driver: Option<DriverVersion> = driver.map(|driver| driver.parse().unwrap());
        let wanted = Wanted::Mig(counts.clone());
        match solve(&request(card, driver.as_ref(), &current, &wanted)) {
            Ok(solution) => prop_assert_eq!(solution.layout.counts(), counts),
            Err(refused) => {
                if driver.is_none() {
                    prop_assert!(!geometry.valid_multisets().contains(&counts));
                    prop_assert_eq!(brute_force(geometry, &counts, &now), None);
                }
                prop_assert!(!refused.suggestions.is_empty());
                for suggestion in &refused.suggestions {
                    let accepted = solve(&request(card, driver.as_ref(), &current, &suggestion.wanted));
                    let accepted = accepted.unwrap_or_else(|error| panic!("{suggestion}: {error}"));
                    if suggestion.kind == providers_catalog::SuggestionKind::BesideInUse {
                        prop_assert_eq!(accepted.victims, []);
                    }
                    prop_assert_ne!(&suggestion.wanted, &wanted);
                }
            }
        }
    }
}
