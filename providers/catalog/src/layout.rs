//! Where slices stand on a card. Whether a card allows it is answered by [`Geometry::check`](crate::Geometry::check).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{MigProfile, ProfileCounts};

/// A place on a card's axis of memory slices: `size` slices from `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Placement {
    /// The first memory slice, from 0.
    pub start: u8,
    /// How many memory slices.
    pub size: u8,
}

impl Placement {
    /// The slices as bits; slices beyond the 32nd do not exist on any card and are dropped.
    pub fn mask(&self) -> u32 {
        let ones = 1_u64.checked_shl(self.size.into()).map_or(u64::MAX, |bit| bit - 1);
        let shifted = ones.checked_shl(self.start.into()).unwrap_or(0);
        (shifted & u64::from(u32::MAX)) as u32
    }

    /// Whether the two share a memory slice.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.mask() & other.mask() != 0
    }
}

impl fmt::Display for Placement {
    /// `start:size`, as `nvidia-smi` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.start, self.size)
    }
}

/// A slice on a card: a MIG profile at a placement.
///
/// With the card's UUID this identifies a slice for as long as it lives; MIG UUIDs and instance ids do not, since they
/// change or are used again when a slice is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instance {
    /// Where it stands; first, so that instances order by start.
    pub placement: Placement,
    /// What it is.
    pub profile: MigProfile,
}

/// A text that is not an instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a MIG slice: expected a profile and a placement such as `1g.10gb@3:1`")]
pub struct InstanceError(pub String);

impl fmt::Display for Instance {
    /// `1g.10gb@3:1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.profile, self.placement)
    }
}

impl FromStr for Instance {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = || {
            let (profile, placement) = text.split_once('@')?;
            let (start, size) = placement.split_once(':')?;
            let placement = Placement { start: start.parse().ok()?, size: size.parse().ok()? };
            Some(Self { placement, profile: profile.parse().ok()? })
        };
        parsed().ok_or_else(|| InstanceError(text.to_owned()))
    }
}

/// How a card is cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// MIG mode is off: the card is one device.
    Whole,
    /// MIG mode is on, with these slices in the order of their start.
    Mig(#[serde(deserialize_with = "in_order")] Vec<Instance>),
}

fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Instance>, D::Error> {
    let mut instances = Vec::<Instance>::deserialize(deserializer)?;
    instances.sort();
    Ok(instances)
}

impl Layout {
    /// A layout with MIG mode on; puts the slices in order.
    pub fn mig(instances: impl IntoIterator<Item = Instance>) -> Self {
        let mut instances: Vec<Instance> = instances.into_iter().collect();
        instances.sort();
        Self::Mig(instances)
    }

    /// The slices; none when the card is whole.
    pub fn instances(&self) -> &[Instance] {
        match self {
            Self::Whole => &[],
            Self::Mig(instances) => instances,
        }
    }

    /// How many slices of each profile.
    pub fn counts(&self) -> ProfileCounts {
        self.instances().iter().map(|instance| instance.profile).collect()
    }

    /// Whether MIG mode is on.
    pub fn is_mig(&self) -> bool {
        matches!(self, Self::Mig(_))
    }
}

impl fmt::Display for Layout {
    /// `whole`, or `mig[1g.10gb@0:1 2g.20gb@2:2]`: one text per layout, fit to be hashed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Mig(instances) = self else {
            return f.write_str("whole");
        };
        f.write_str("mig[")?;
        for (index, instance) in instances.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{instance}")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_overlap_by_their_slices() {
        let at = |start, size| Placement { start, size };
        for (a, b, expected) in [
            (at(0, 4), at(4, 4), false),
            (at(0, 4), at(3, 1), true),
            (at(0, 8), at(6, 2), true),
            (at(2, 2), at(1, 1), false),
            (at(200, 1), at(200, 1), false),
            (at(0, 255), at(31, 1), true),
        ] {
            assert_eq!(a.overlaps(&b), expected, "{a} {b}");
            assert_eq!(b.overlaps(&a), expected, "{b} {a}");
        }
    }

    #[test]
    fn layouts_have_one_text() {
        let slice = |text: &str| text.parse::<Instance>().unwrap();
        let layout = Layout::mig([slice("2g.20gb@2:2"), slice("1g.10gb+me@0:1")]);
        assert_eq!(layout.to_string(), "mig[1g.10gb+me@0:1 2g.20gb@2:2]");
        assert_eq!(Layout::mig([]).to_string(), "mig[]");
        assert_eq!(Layout::Whole.to_string(), "whole");
        let json = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout);
        for text in ["1g.10gb", "1g.10gb@", "1g.10gb@0", "@0:1", "1g.10gb@0:x"] {
            assert_eq!(text.parse::<Instance>(), Err(InstanceError(text.to_owned())));
        }
    }
}
