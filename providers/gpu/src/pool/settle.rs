//! After the operations: what there is now, and whether it is what was planned.

use providers_api::{Applied, ErrorKind, Outcome, PlannedChange, ProviderError};

use super::{Private, drift};
use crate::world::World;

/// What became of a change. Where some of its nodes are not as planned, the rest is kept all the same.
pub(crate) fn settle(change: &PlannedChange, world: &World) -> Outcome<Applied> {
    if change.after.is_null() {
        return Outcome::gone();
    }
    let mut private = Private::from_bytes(&change.private);
    if let Some(approved) = &private.approved
        && approved.done(world) == approved.nodes.len()
    {
        private.approved = None;
    }
    let (object, notes) = drift::read(&change.after, &private, world);
    let applied = Applied { object, private: private.to_bytes() };
    if notes.is_empty() {
        return Outcome::done(applied);
    }
    let what = format!("{} is not as planned: {}", change.addr, notes.join("; "));
    let error = ProviderError::new(ErrorKind::Conflict, what).hint("Plan again: the next plan starts from what is.");
    Outcome::failed(Some(applied), error)
}
