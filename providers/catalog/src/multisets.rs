//! All multisets of profiles that a card can hold. Used to find what would fit in place of what does not.

use crate::{Geometry, ProfileCounts, search};

impl Geometry {
    /// Every multiset of profiles that some placement on an empty card realises, the empty one included, with a driver
    /// that knows all profiles. Computed once per geometry: 128 on the standard layout.
    pub fn valid_multisets(&self) -> &[ProfileCounts] {
        self.valid.get_or_init(|| {
            let mut found = Vec::new();
            extend(self, 0, ProfileCounts::default(), &mut found);
            found
        })
    }
}

// A multiset that does not fit has no superset that does, so each branch ends at its first failure.
fn extend(geometry: &Geometry, index: usize, counts: ProfileCounts, found: &mut Vec<ProfileCounts>) {
    let Some(info) = geometry.profiles.get(index) else {
        found.push(counts);
        return;
    };
    let mut counts = counts;
    while geometry.check_counts(&counts).is_ok() && search::fits(geometry, &counts) {
        extend(geometry, index + 1, counts.clone(), found);
        counts.add(info.profile, 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use crate::{MigSupport, ProfileCounts, catalog};

    #[derive(Deserialize)]
    struct Facts {
        geometries: Vec<GeometryFacts>,
    }

    #[derive(Deserialize)]
    struct GeometryFacts {
        id: String,
        derived: Option<Derived>,
    }

    #[derive(Deserialize)]
    struct Derived {
        valid_profile_multisets: usize,
        maximal_multisets: usize,
        maximal_base_profiles_only: Option<Vec<ProfileCounts>>,
    }

    fn contains(outer: &ProfileCounts, inner: &ProfileCounts) -> bool {
        inner.iter().all(|(profile, count)| outer.get(profile) >= count)
    }

    fn maximal(all: &[ProfileCounts]) -> Vec<&ProfileCounts> {
        all.iter().filter(|inner| !all.iter().any(|outer| outer != *inner && contains(outer, inner))).collect()
    }

    #[test]
    fn agree_with_the_recorded_facts() {
        let facts: Facts = serde_json::from_str(include_str!("../data/mig-geometry.json")).unwrap();
        let facts: BTreeMap<String, Option<Derived>> =
            facts.geometries.into_iter().map(|facts| (facts.id, facts.derived)).collect();
        let mut checked = 0;
        for card in catalog().cards() {
            let MigSupport::Known(geometry) = &card.mig else { continue };
            let expected = facts[&geometry.id].as_ref().unwrap();
            let valid = geometry.valid_multisets();
            // The facts do not count the card without slices.
            assert_eq!(valid.len() - 1, expected.valid_profile_multisets, "{}", geometry.id);
            assert_eq!(maximal(valid).len(), expected.maximal_multisets, "{}", geometry.id);
            if let Some(base_only) = &expected.maximal_base_profiles_only {
                let base: Vec<ProfileCounts> = valid
                    .iter()
                    .filter(|counts| {
                        counts.iter().all(|(profile, _)| {
                            let info = geometry.profile(profile).unwrap();
                            profile.attributes == crate::Attributes::default() && info.nvml_profile < 7
                        })
                    })
                    .cloned()
                    .collect();
                let mut found: Vec<&ProfileCounts> = maximal(&base);
                let mut expected: Vec<&ProfileCounts> = base_only.iter().collect();
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{}", geometry.id);
            }
            checked += 1;
        }
        assert!(checked >= 30, "only {checked} cards have known placements");
    }
}
