//! From the slices that a card has to those that are wanted, with the least disruption.
//!
//! Exact: no other placement keeps more slices in use, nor, among those, more slices. Pure and deterministic: the same
//! request has the same answer. It never moves a slice (hardware cannot), and it decides nothing about pods or nodes.

use crate::infeasible::infeasible;
use crate::{CardModel, DriverVersion, Infeasible, Instance, Layout, MigSupport, ProfileCounts, Reason, search};

/// A question to the solver.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The card.
    pub card: &'a CardModel,
    /// The driver that will cut it; not checked when unknown.
    pub driver: Option<&'a DriverVersion>,
    /// What is on the card now.
    pub current: &'a Current,
    /// What is to be on it.
    pub wanted: &'a Wanted,
}

/// What is on a card.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Current {
    /// MIG mode is off.
    Whole {
        /// Whether a pod has the card or a process runs on it.
        in_use: bool,
    },
    /// MIG mode is on, with these slices.
    Mig(Vec<Occupied>),
}

/// A slice and whether somebody has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occupied {
    /// The slice.
    pub instance: Instance,
    /// Whether it is allocated to a pod or held by a process.
    pub in_use: bool,
}

/// What is to be on a card.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wanted {
    /// MIG mode off.
    Whole,
    /// MIG mode on, with so many slices of each profile.
    Mig(ProfileCounts),
}

/// How to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The card afterwards.
    pub layout: Layout,
    /// The slices that are not touched, by start.
    pub kept: Vec<Instance>,
    /// What is in use and must go, by start.
    pub victims: Vec<Victim>,
    /// What to do, in an order in which the hardware allows each step. Empty when the card is as wanted.
    pub steps: Vec<Step>,
}

/// Something in use that the change destroys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Victim {
    /// The whole card is in use, and MIG mode is switched on.
    WholeCard,
    /// A slice.
    Slice(Instance),
}

/// One action on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Destroy a slice.
    Destroy(Instance),
    /// Switch MIG mode. No slice exists at that time.
    SetMigMode {
        /// On or off.
        on: bool,
        /// Whether the card is reset by it, so that nothing at all may run on it.
        needs_reset: bool,
    },
    /// Create a slice at exactly this placement.
    Create(Instance),
}

/// How disruptive a solution is: less is better. For choosing among equal cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Slices or cards in use that must go.
    pub victims: usize,
    /// Whether MIG mode changes.
    pub mode_change: bool,
    /// Slices that are destroyed.
    pub destroyed: usize,
    /// Slices that are created.
    pub created: usize,
}

impl Solution {
    /// Whether the card already is as wanted.
    pub fn is_unchanged(&self) -> bool {
        self.steps.is_empty()
    }

    /// The slices that are destroyed, by start.
    pub fn destroyed(&self) -> impl Iterator<Item = Instance> {
        self.steps.iter().filter_map(|step| match step {
            Step::Destroy(instance) => Some(*instance),
            Step::SetMigMode { .. } | Step::Create(_) => None,
        })
    }

    /// The slices that are created, by start.
    pub fn created(&self) -> impl Iterator<Item = Instance> {
        self.steps.iter().filter_map(|step| match step {
            Step::Create(instance) => Some(*instance),
            Step::SetMigMode { .. } | Step::Destroy(_) => None,
        })
    }

    /// The change of MIG mode, if there is one: whether it resets the card.
    pub fn mode_change(&self) -> Option<bool> {
        self.steps.iter().find_map(|step| match step {
            Step::SetMigMode { needs_reset, .. } => Some(*needs_reset),
            Step::Destroy(_) | Step::Create(_) => None,
        })
    }

    /// How disruptive it is.
    pub fn cost(&self) -> Cost {
        Cost {
            victims: self.victims.len(),
            mode_change: self.mode_change().is_some(),
            destroyed: self.destroyed().count(),
            created: self.created().count(),
        }
    }
}

/// Solves a request.
///
/// Keeps every slice that the new layout can keep: as many in use as any layout could, then as many as any layout
/// could. Slices that the catalog does not know are destroyed. The error says why there is no layout and what would fit.
pub fn solve(request: &Request) -> Result<Solution, Box<Infeasible>> {
    let instances: &[Occupied] = match request.current {
        Current::Whole { .. } => &[],
        Current::Mig(instances) => instances,
    };
    let layout = match request.wanted {
        Wanted::Whole => Layout::Whole,
        Wanted::Mig(counts) => Layout::mig(layout(request, counts, instances)?),
    };
    Ok(transition(request, layout, instances))
}

fn layout(request: &Request, wanted: &ProfileCounts, now: &[Occupied]) -> Result<Vec<Instance>, Box<Infeasible>> {
    let refuse = |reason| Err(Box::new(infeasible(request, wanted, reason)));
    let geometry = match &request.card.mig {
        MigSupport::No => return refuse(Reason::NoMig),
        MigSupport::Unpublished(_) => return refuse(Reason::PlacementsUnpublished),
        MigSupport::Known(geometry) => geometry,
    };
    if let Err(reason) = Reason::of_names(geometry, wanted) {
        return refuse(reason);
    }
    if let Some(driver) = request.driver
        && let Err(reason) = Reason::of_driver(request.card, geometry, wanted, driver)
    {
        return refuse(reason);
    }
    if let Err(illegal) = geometry.check_counts(wanted) {
        return refuse(Reason::Illegal(illegal));
    }
    let of = |in_use| -> Vec<Instance> {
        now.iter().filter(|slice| slice.in_use == in_use).map(|slice| slice.instance).collect()
    };
    match search::place(geometry, wanted, &of(true), &of(false)) {
        Some(placed) => Ok(placed),
        None => refuse(Reason::of_space(geometry, wanted)),
    }
}

// Everything that goes, goes first; then the mode changes; then the new slices come. Each state on the way is a part of
// the old layout or a part of the new one, and a part of a legal layout is legal.
fn transition(request: &Request, layout: Layout, now: &[Occupied]) -> Solution {
    let stays = |instance: &Instance| layout.instances().binary_search(instance).is_ok();
    let mut now = now.to_vec();
    now.sort();
    let (kept, gone): (Vec<Occupied>, Vec<Occupied>) = now.into_iter().partition(|slice| stays(&slice.instance));
    let mut victims: Vec<Victim> =
        gone.iter().filter(|slice| slice.in_use).map(|slice| Victim::Slice(slice.instance)).collect();
    let mut steps: Vec<Step> = gone.iter().map(|slice| Step::Destroy(slice.instance)).collect();
    let was_mig = matches!(request.current, Current::Mig(_));
    if was_mig != layout.is_mig() {
        let needs_reset = match &request.card.mig {
            MigSupport::Known(geometry) => geometry.mode_needs_reset,
            // Not known, so the worse case.
            MigSupport::Unpublished(_) => true,
            MigSupport::No => false,
        };
        steps.push(Step::SetMigMode { on: layout.is_mig(), needs_reset });
        if matches!(request.current, Current::Whole { in_use: true }) {
            victims.push(Victim::WholeCard);
        }
    }
    let kept: Vec<Instance> = kept.into_iter().map(|slice| slice.instance).collect();
    let created = layout.instances().iter().filter(|instance| kept.binary_search(instance).is_err());
    steps.extend(created.map(|instance| Step::Create(*instance)));
    Solution { layout, kept, victims, steps }
}
