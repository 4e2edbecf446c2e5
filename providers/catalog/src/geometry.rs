//! What one kind of card allows: its MIG profiles, where each may stand, and which may stand together.
//!
//! Sources are in `data/mig-geometry.json`. Only rules of the hardware and the driver are here, none of ours.

use std::fmt;
use std::sync::OnceLock;

use crate::{DriverVersion, Instance, MigProfile, Placement, ProfileCounts};

/// The MIG geometry that several cards share.
#[derive(Debug)]
pub struct Geometry {
    /// Name in the catalog's data, such as `a100-80gb`.
    pub id: String,
    /// Length of the placement axis.
    pub memory_slices: u8,
    /// Compute slices of the whole card.
    pub compute_slices: u8,
    /// GPU instance profiles, in the order of their size.
    pub profiles: Vec<ProfileInfo>,
    /// Media engines of the whole card where slices share them as a budget; elsewhere at most one slice has `+me`.
    pub media_budget: Option<MediaEngines>,
    /// Profiles that may stand together only with a newer driver than each alone needs.
    pub together: Vec<Together>,
    /// The first driver that offers MIG on these cards.
    pub min_driver: Option<DriverVersion>,
    /// Whether switching MIG mode on or off resets the card (Ampere), so that nothing may run on it.
    pub mode_needs_reset: bool,
    /// Whether MIG mode outlives a reboot and a reload of the driver (Ampere). The slices never do.
    pub mode_survives_reboot: bool,
    pub(crate) valid: OnceLock<Vec<ProfileCounts>>,
}

/// A pair of GPU instance sizes that needs a newer driver than each alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// Compute slices of the two.
    pub compute_slices: [u8; 2],
    /// The first driver that allows both.
    pub min_driver: DriverVersion,
}

/// A GPU instance profile on one kind of card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileInfo {
    /// The name.
    pub profile: MigProfile,
    /// NVIDIA's profile id, which `nvidia-smi mig -cgi` takes.
    pub gi_profile_id: u32,
    /// NVML's number (`NVML_GPU_INSTANCE_PROFILE_…`) to ask for this profile.
    pub nvml_profile: u32,
    /// Memory slices that one instance takes.
    pub size: u8,
    /// Where an instance may start.
    pub starts: Vec<u8>,
    /// How many may exist at once.
    pub max_instances: u32,
    /// Compute slices that one instance takes.
    pub compute_slices: u8,
    /// Memory in MiB, where known.
    pub memory_mib: Option<u64>,
    /// Streaming multiprocessors, where known.
    pub multiprocessors: Option<u32>,
    /// Media engines.
    pub media: MediaEngines,
    /// Copy engines, where known.
    pub copy_engines: Option<u32>,
    /// The first driver that has this profile, when that is not the card's first.
    pub min_driver: Option<DriverVersion>,
}

/// Numbers of media engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaEngines {
    /// Video decoders.
    pub nvdec: u32,
    /// Video encoders.
    pub nvenc: u32,
    /// JPEG decoders.
    pub nvjpeg: u32,
    /// Optical flow accelerators.
    pub ofa: u32,
}

impl MediaEngines {
    fn each(&self) -> [(&'static str, u32); 4] {
        [("NVDEC", self.nvdec), ("NVENC", self.nvenc), ("JPEG", self.nvjpeg), ("OFA", self.ofa)]
    }
}

/// Why slices may not stand together on a card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The card has no such GPU instance profile.
    #[error("this card has no MIG profile {0}")]
    NoSuchProfile(MigProfile),
    /// The profile cannot stand there.
    #[error("{instance} is not a place for {}: it takes {size} memory slices from {}", instance.profile, Starts(starts))]
    BadPlacement {
        /// The slice.
        instance: Instance,
        /// Where its profile may start.
        starts: Vec<u8>,
        /// How many memory slices its profile takes.
        size: u8,
    },
    /// Two slices share memory slices.
    #[error("{0} and {1} overlap")]
    Overlap(Instance, Instance),
    /// More of one profile than the card can have.
    #[error("the card can have at most {max} {profile}, not {count}")]
    TooMany {
        /// The profile.
        profile: MigProfile,
        /// How many there are.
        count: u32,
        /// How many there may be.
        max: u32,
    },
    /// Two slices ask for the card's only media engines.
    #[error("only one slice of the card can have the media engines (`+me`), not {count}")]
    MediaOnce {
        /// How many slices ask for them.
        count: u32,
    },
    /// The slices have more media engines than the card.
    #[error("the slices need {wanted} {engine} engines and the card has {has}")]
    MediaBudget {
        /// The kind of engine.
        engine: &'static str,
        /// How many the slices need.
        wanted: u32,
        /// How many the card has.
        has: u32,
    },
}

/// Prints starts as `0`, `0 or 4`, `0, 2 or 4`.
pub(crate) struct Starts<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Starts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, start) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}{start}")?;
        }
        Ok(())
    }
}

impl ProfileInfo {
    /// The placements that an instance may have, by start.
    pub fn placements(&self) -> impl DoubleEndedIterator<Item = Placement> {
        self.starts.iter().map(|start| Placement { start: *start, size: self.size })
    }

    /// An instance of this profile at `start`.
    pub fn at(&self, start: u8) -> Instance {
        Instance { placement: Placement { start, size: self.size }, profile: self.profile }
    }
}

impl Geometry {
    /// The profile of that name.
    pub fn profile(&self, profile: MigProfile) -> Option<&ProfileInfo> {
        self.profiles.iter().find(|info| info.profile == profile)
    }

    /// The profile with NVIDIA's id.
    pub fn profile_by_id(&self, gi_profile_id: u32) -> Option<&ProfileInfo> {
        self.profiles.iter().find(|info| info.gi_profile_id == gi_profile_id)
    }

    /// Whether these slices may stand on the card together, with a driver that knows them all.
    ///
    /// Holds for every subset of a set that it holds for, so slices can be removed and added in any order.
    pub fn check(&self, instances: &[Instance]) -> Result<(), Illegal> {
        for (index, instance) in instances.iter().enumerate() {
            let info = self.profile(instance.profile).ok_or(Illegal::NoSuchProfile(instance.profile))?;
            if instance.placement.size != info.size || !info.starts.contains(&instance.placement.start) {
                let (starts, size) = (info.starts.clone(), info.size);
                return Err(Illegal::BadPlacement { instance: *instance, starts, size });
            }
            let overlapped = instances[..index].iter().find(|other| other.placement.overlaps(&instance.placement));
            if let Some(other) = overlapped {
                return Err(Illegal::Overlap(*other, *instance));
            }
        }
        self.check_counts(&instances.iter().map(|instance| instance.profile).collect())
    }

    /// What of [`Self::check`] does not depend on placements.
    pub fn check_counts(&self, counts: &ProfileCounts) -> Result<(), Illegal> {
        let mut with_media = 0_u32;
        let mut media = MediaEngines::default();
        for (profile, count) in counts.iter() {
            let info = self.profile(profile).ok_or(Illegal::NoSuchProfile(profile))?;
            if count > info.max_instances {
                return Err(Illegal::TooMany { profile, count, max: info.max_instances });
            }
            with_media += if profile.attributes.me { count } else { 0 };
            media.nvdec += info.media.nvdec * count;
            media.nvenc += info.media.nvenc * count;
            media.nvjpeg += info.media.nvjpeg * count;
            media.ofa += info.media.ofa * count;
        }
        let Some(budget) = self.media_budget else {
            return if with_media > 1 { Err(Illegal::MediaOnce { count: with_media }) } else { Ok(()) };
        };
        let pairs = media.each().into_iter().zip(budget.each());
        for ((engine, wanted), (_, has)) in pairs {
            if wanted > has {
                return Err(Illegal::MediaBudget { engine, wanted, has });
            }
        }
        Ok(())
    }
}
