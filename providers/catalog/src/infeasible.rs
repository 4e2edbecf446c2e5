//! Why a card cannot be cut as wanted. What would fit instead is found in `suggest`.

use std::fmt;

use crate::geometry::Starts;
use crate::suggest::suggestions;
use crate::{CardModel, DriverVersion, Geometry, Illegal, MigProfile, Product, ProfileCounts, Request, Wanted};

/// A request without a solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} cannot be cut from one {product}: {reason}")]
pub struct Infeasible {
    /// The card.
    pub product: Product,
    /// What was wanted.
    pub wanted: ProfileCounts,
    /// Why not.
    pub reason: Reason,
    /// What the solver would accept for the same card, best first.
    pub suggestions: Vec<Suggestion>,
}

/// Something that the solver accepts where the request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// How it relates to the request.
    pub kind: SuggestionKind,
    /// What to ask for.
    pub wanted: Wanted,
}

/// How a suggestion relates to what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuggestionKind {
    /// The same shapes by the names that this card has for them.
    SameShape,
    /// What is in use, and as much of what was asked as fits beside it: nobody has to go.
    BesideInUse,
    /// A largest part of what was asked.
    Part,
    /// A full layout that differs least from what was asked.
    Nearest,
    /// No slices at all.
    Whole,
}

/// Why a card cannot be cut as wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The card has no MIG.
    NoMig,
    /// The card has MIG, but NVIDIA published no placements for it.
    PlacementsUnpublished,
    /// The card has no profiles of these names.
    UnknownProfiles {
        /// The names.
        unknown: Vec<MigProfile>,
        /// The names that it has.
        offered: Vec<MigProfile>,
    },
    /// Compute instances that share a GPU instance (`1c.3g.40gb`) are not cut by us.
    SharedInstance(MigProfile),
    /// The driver is too old.
    DriverTooOld {
        /// What needs a newer driver: MIG on the card, a profile, or two profiles together.
        what: String,
        /// The first driver that will do.
        needs: DriverVersion,
        /// The driver that is there.
        has: DriverVersion,
    },
    /// A rule about numbers is broken.
    Illegal(Illegal),
    /// There is not enough space.
    NoSpace(Shortage),
}

/// What there is not enough of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Memory slices.
    MemorySlices {
        /// How many each profile takes, times its count.
        needs: u32,
        /// How many the card has.
        has: u32,
    },
    /// Compute slices.
    ComputeSlices {
        /// How many each profile takes, times its count.
        needs: u32,
        /// How many the card has.
        has: u32,
    },
    /// Slices would be enough, but the profiles cannot start where space is left: each with its size and starts.
    Placements(Vec<(MigProfile, u8, Vec<u8>)>),
}

pub(crate) fn infeasible(request: &Request, wanted: &ProfileCounts, reason: Reason) -> Infeasible {
    let suggestions = suggestions(request, wanted);
    Infeasible { product: request.card.product.clone(), wanted: wanted.clone(), reason, suggestions }
}

impl Reason {
    pub(crate) fn of_names(geometry: &Geometry, wanted: &ProfileCounts) -> Result<(), Self> {
        let unknown: Vec<MigProfile> =
            wanted.iter().map(|(profile, _)| profile).filter(|profile| geometry.profile(*profile).is_none()).collect();
        if let Some(shared) = unknown.iter().find(|profile| profile.compute_slices != profile.gpu_slices) {
            return Err(Self::SharedInstance(*shared));
        }
        if unknown.is_empty() {
            return Ok(());
        }
        Err(Self::UnknownProfiles { unknown, offered: geometry.profiles.iter().map(|info| info.profile).collect() })
    }

    pub(crate) fn of_driver(
        card: &CardModel,
        geometry: &Geometry,
        wanted: &ProfileCounts,
        driver: &DriverVersion,
    ) -> Result<(), Self> {
        let too_old = |what: String, needs: &Option<DriverVersion>| match needs {
            Some(needs) if driver < needs => {
                Err(Self::DriverTooOld { what, needs: needs.clone(), has: driver.clone() })
            }
            Some(_) | None => Ok(()),
        };
        too_old(format!("MIG on {}", card.product), &card.min_driver)?;
        for (profile, _) in wanted.iter() {
            let needs = geometry.profile(profile).and_then(|info| info.min_driver.clone());
            too_old(format!("MIG profile {profile}"), &needs)?;
        }
        for pair in &geometry.together {
            let [first, second] = pair.compute_slices;
            let of = |slices| wanted.iter().find(|(profile, _)| profile.gpu_slices == slices);
            if let (Some((first, _)), Some((second, _))) = (of(first), of(second)) {
                too_old(format!("{first} together with {second}"), &Some(pair.min_driver.clone()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn of_space(geometry: &Geometry, wanted: &ProfileCounts) -> Self {
        let known: Vec<_> =
            wanted.iter().filter_map(|(profile, count)| Some((geometry.profile(profile)?, count))).collect();
        let memory: u32 = known.iter().map(|(info, count)| u32::from(info.size) * count).sum();
        let compute: u32 = known.iter().map(|(info, count)| u32::from(info.compute_slices) * count).sum();
        let (has_memory, has_compute) = (u32::from(geometry.memory_slices), u32::from(geometry.compute_slices));
        Self::NoSpace(if memory > has_memory {
            Shortage::MemorySlices { needs: memory, has: has_memory }
        } else if compute > has_compute {
            Shortage::ComputeSlices { needs: compute, has: has_compute }
        } else {
            let places = known.iter().map(|(info, _)| (info.profile, info.size, info.starts.clone()));
            Shortage::Placements(places.collect())
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMig => f.write_str("it has no MIG"),
            Self::PlacementsUnpublished => {
                f.write_str("NVIDIA has published no MIG placements for it, so no layout can be planned")
            }
            Self::UnknownProfiles { unknown, offered } => {
                write!(f, "it has no MIG profile {}, only {}", List(unknown), List(offered))
            }
            Self::SharedInstance(profile) => {
                write!(f, "{profile} shares a GPU instance between compute instances, which is not supported")
            }
            Self::DriverTooOld { what, needs, has } => {
                write!(f, "{what} needs driver {needs} or newer, and this is {has}")
            }
            Self::Illegal(illegal) => illegal.fmt(f),
            Self::NoSpace(shortage) => shortage.fmt(f),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemorySlices { needs, has } => write!(f, "it needs {needs} memory slices and the card has {has}"),
            Self::ComputeSlices { needs, has } => write!(f, "it needs {needs} compute slices and the card has {has}"),
            Self::Placements(profiles) => {
                f.write_str("the card has enough slices, but these profiles do not fit beside each other: ")?;
                for (index, (profile, size, starts)) in profiles.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{profile} takes {size} memory slices from {}", Starts(starts))?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Suggestion {
    /// `5x 1g.10gb + 1x 2g.20gb (the largest part that fits)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.wanted {
            Wanted::Whole => f.write_str("the whole card")?,
            Wanted::Mig(counts) => counts.fmt(f)?,
        }
        f.write_str(match self.kind {
            SuggestionKind::SameShape => " (the same shapes by this card's names)",
            SuggestionKind::BesideInUse => " (fits beside what is in use)",
            SuggestionKind::Part => " (as much of it as fits)",
            SuggestionKind::Nearest => " (the nearest layout that fits)",
            SuggestionKind::Whole => "",
        })
    }
}

struct List<'a>(&'a [MigProfile]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, profile) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{profile}")?;
        }
        Ok(())
    }
}
