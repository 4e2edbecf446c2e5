//! What one card becomes, and what that does to it.

use std::collections::BTreeMap;

use providers_agent_api::User;
use providers_catalog::{Current, DriverVersion, Infeasible, Instance, Layout, Request, Wanted, solve};

use super::Cut;
use crate::world::Card;

/// The difference between what a card is and what it becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CardDiff {
    /// Slices that go, by start.
    pub(crate) destroyed: Vec<Instance>,
    /// Slices that come, by start.
    pub(crate) created: Vec<Instance>,
    /// Set where MIG is switched: on or off.
    pub(crate) mode: Option<bool>,
    /// Does that reset the card?
    pub(crate) reset: bool,
    /// Who is on what goes: users of slices that go, and of the card where its mode changes.
    pub(crate) hit: Vec<User>,
}

/// What it takes to bring a card to a layout.
pub(crate) fn card_diff(card: &Card, then: &Layout) -> CardDiff {
    let now = card.layout.instances();
    let mode = (card.layout.is_mig() != then.is_mig()).then(|| then.is_mig());
    let geometry = card.model.and_then(|model| model.geometry());
    // Of a card that the catalog does not know, the worse is assumed.
    let reset = mode.is_some() && geometry.is_none_or(|geometry| geometry.mode_needs_reset);
    let goes = |instance: &Instance| then.instances().binary_search(instance).is_err();
    let mut hit: Vec<User> = card
        .slices
        .iter()
        .filter(|slice| mode.is_some() || goes(&slice.instance))
        .flat_map(|slice| slice.users.iter().cloned())
        .collect();
    if mode.is_some() {
        hit.extend(card.users.iter().cloned());
    }
    hit.sort();
    hit.dedup();
    CardDiff {
        destroyed: now.iter().copied().filter(goes).collect(),
        created: then.instances().iter().copied().filter(|instance| now.binary_search(instance).is_err()).collect(),
        mode,
        reset,
        hit,
    }
}

/// Finds the layout of cards, and remembers what it found: a fleet has many cards and few kinds of them.
#[derive(Default)]
pub(crate) struct Solver(BTreeMap<Question, Result<Layout, Box<Infeasible>>>);

type Question = (String, Option<String>, Current, Cut);

impl Solver {
    /// The layout that a card gets. The one that the snapshot has for it is preferred where it costs nobody more, so that
    /// a slice that is gone comes back where it was.
    ///
    /// # Errors
    /// The card cannot be cut so.
    pub(crate) fn layout(
        &mut self,
        card: &Card,
        cut: &Cut,
        driver: Option<&DriverVersion>,
        snapshot: Option<&Layout>,
    ) -> Result<Layout, Box<Infeasible>> {
        let solved = self.solve(card, cut, driver)?;
        let Some(snapshot) = snapshot.filter(|layout| is_cut(layout, cut)) else { return Ok(solved) };
        let cost = |layout: &Layout| {
            let diff = card_diff(card, layout);
            (diff.hit.len(), diff.destroyed.len(), diff.created.len())
        };
        Ok(if cost(snapshot) <= cost(&solved) { snapshot.clone() } else { solved })
    }

    fn solve(&mut self, card: &Card, cut: &Cut, driver: Option<&DriverVersion>) -> Result<Layout, Box<Infeasible>> {
        let Some(model) = card.model else {
            // Only a profile without a product takes such a card, and those do not cut.
            return Ok(Layout::Whole);
        };
        let question = (card.product.clone(), driver.map(ToString::to_string), card.current(), cut.clone());
        let answer = self.0.entry(question).or_insert_with_key(|(_, _, current, cut)| {
            let wanted: Wanted = cut.wanted();
            solve(&Request { card: model, driver, current, wanted: &wanted }).map(|solution| solution.layout)
        });
        answer.clone()
    }
}

/// Is a card with this layout cut as the profile says, wherever its slices stand?
pub(crate) fn is_cut(layout: &Layout, cut: &Cut) -> bool {
    match cut {
        Cut::Whole => !layout.is_mig(),
        Cut::Mig(counts) => layout.is_mig() && layout.counts() == *counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{a100, mig, pod};

    fn mig_cut(slices: &str) -> Cut {
        Cut::Mig(slices.split(' ').map(|name| name.parse::<providers_catalog::MigProfile>().unwrap()).collect())
    }

    #[test]
    fn a_slice_that_is_gone_comes_back_where_it_was() {
        let card = a100(0, "1g.10gb@0:1 1g.10gb@1:1", &[("1g.10gb@0:1", pod("team-a", "p"))]);
        let snapshot = mig("1g.10gb@0:1 1g.10gb@1:1 1g.10gb@4:1");
        let cut = mig_cut("1g.10gb 1g.10gb 1g.10gb");
        let layout = Solver::default().layout(&card, &cut, None, Some(&snapshot)).unwrap();
        assert_eq!(layout, snapshot);
        let diff = card_diff(&card, &layout);
        assert_eq!(diff.created, ["1g.10gb@4:1".parse().unwrap()]);
        assert_eq!((diff.destroyed, diff.hit, diff.mode), (vec![], vec![], None));
    }

    #[test]
    fn the_snapshot_loses_where_it_would_cost_somebody() {
        // Made anew by hand elsewhere, and in use there: what is wanted is there already.
        let card = a100(0, "1g.10gb@2:1", &[("1g.10gb@2:1", pod("team-a", "p"))]);
        let layout = Solver::default().layout(&card, &mig_cut("1g.10gb"), None, Some(&mig("1g.10gb@0:1"))).unwrap();
        assert_eq!(layout, mig("1g.10gb@2:1"));
    }

    #[test]
    fn users_of_what_stays_are_not_hit() {
        let card = a100(
            0,
            "1g.10gb@0:1 3g.40gb@4:4",
            &[("1g.10gb@0:1", pod("a", "stays")), ("3g.40gb@4:4", pod("a", "goes"))],
        );
        let diff = card_diff(&card, &mig("1g.10gb@0:1 2g.20gb@4:2"));
        assert_eq!(diff.hit, [pod("a", "goes")]);
        let whole = card_diff(&card, &Layout::Whole);
        assert_eq!(whole.hit, [pod("a", "goes"), pod("a", "stays")]);
        assert_eq!((whole.mode, whole.reset), (Some(false), true));
    }
}
