//! How many slices of each MIG profile: a multiset of profile names. Says nothing about where they stand.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::MigProfile;

/// A multiset of MIG profiles, in the order of the profiles' size. Never holds a count of zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "BTreeMap<MigProfile, u32>")]
// Invariant: no value is zero.
pub struct ProfileCounts(BTreeMap<MigProfile, u32>);

impl ProfileCounts {
    /// How many of `profile`.
    pub fn get(&self, profile: MigProfile) -> u32 {
        self.0.get(&profile).copied().unwrap_or(0)
    }

    /// Adds `count` of `profile`.
    pub fn add(&mut self, profile: MigProfile, count: u32) {
        if count > 0 {
            let entry = self.0.entry(profile).or_insert(0);
            *entry = entry.saturating_add(count);
        }
    }

    /// Profiles with their counts, smallest profile first.
    pub fn iter(&self) -> impl Iterator<Item = (MigProfile, u32)> {
        self.0.iter().map(|(profile, count)| (*profile, *count))
    }

    /// How many slices in all.
    pub fn total(&self) -> u32 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether there is no slice.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<BTreeMap<MigProfile, u32>> for ProfileCounts {
    fn from(counts: BTreeMap<MigProfile, u32>) -> Self {
        counts.into_iter().collect()
    }
}

impl FromIterator<(MigProfile, u32)> for ProfileCounts {
    fn from_iter<I: IntoIterator<Item = (MigProfile, u32)>>(iter: I) -> Self {
        let mut counts = Self::default();
        for (profile, count) in iter {
            counts.add(profile, count);
        }
        counts
    }
}

impl FromIterator<MigProfile> for ProfileCounts {
    fn from_iter<I: IntoIterator<Item = MigProfile>>(iter: I) -> Self {
        iter.into_iter().map(|profile| (profile, 1)).collect()
    }
}

impl fmt::Display for ProfileCounts {
    /// `3x 1g.10gb + 2x 2g.20gb`, or `no slices`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no slices");
        }
        for (index, (profile, count)) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { " + " };
            write!(f, "{separator}{count}x {profile}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_absent_and_equal_profiles_add_up() {
        let small: MigProfile = "1g.10gb".parse().unwrap();
        let large: MigProfile = "3g.40gb".parse().unwrap();
        let counts: ProfileCounts = [(large, 1), (small, 0), (large, 1)].into_iter().collect();
        assert_eq!(counts.to_string(), "2x 3g.40gb");
        assert_eq!((counts.get(small), counts.get(large), counts.total()), (0, 2, 2));
        assert_eq!(ProfileCounts::default().to_string(), "no slices");
        let read: ProfileCounts = serde_json::from_str(r#"{"1g.10gb":0,"3g.40gb":2}"#).unwrap();
        assert_eq!(read, counts);
    }
}
