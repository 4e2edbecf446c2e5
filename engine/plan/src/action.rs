//! What happens to one configured object, and why: from everything that is known of it.

use engine_model::{
    change::{Action, ReplaceOrder},
    reason::Reason,
    schema::Block,
};
use engine_value::{Path, Value};
use providers_api::PlannedReason;

use crate::reason;

/// Everything that decides what happens to a configured object.
pub(crate) struct Situation<'a> {
    /// The schema of its type.
    pub(crate) block: &'a Block,
    /// As the state has it; null where it has none.
    pub(crate) stored: &'a Value,
    /// As it was read; null where there is none.
    pub(crate) prior: &'a Value,
    /// As it will be.
    pub(crate) after: &'a Value,
    /// Paths that the provider cannot change in place.
    pub(crate) replace: &'a [Path],
    /// Why the provider says.
    pub(crate) reason: Option<&'a PlannedReason>,
    /// Must the change be carried out although the object stays equal?
    pub(crate) pending: bool,
    /// Did its creation fail half way?
    pub(crate) tainted: bool,
    /// Did `-replace` ask for it?
    pub(crate) requested: bool,
}

/// Must the object go and come anew, and why? The order is settled later, when every replacement is known.
pub(crate) fn must_replace(s: &Situation<'_>) -> Option<Reason> {
    if s.prior.is_null() {
        None
    } else if s.tainted {
        Some(Reason::Tainted)
    } else if s.requested {
        Some(Reason::Requested)
    } else if !s.replace.is_empty() {
        Some(Reason::Immutable(s.replace.to_vec()))
    } else {
        None
    }
}

/// What happens, and why.
pub(crate) fn decide(s: &Situation<'_>) -> (Action, Option<Reason>) {
    let given = s.reason.map(|reason| match reason {
        PlannedReason::Unfinished { done, total, unit } => {
            Reason::Unfinished { done: *done, total: *total, unit: unit.clone() }
        }
        PlannedReason::NodesJoined(nodes) => Reason::NodesJoined(nodes.clone()),
    });
    if s.prior.is_null() {
        // What the state has and the world has not is gone: the whole of it drifted.
        let reason = if s.stored.is_null() { Reason::New } else { Reason::Drift(vec![Path::root()]) };
        return (Action::Create, Some(given.unwrap_or(reason)));
    }
    if let Some(reason) = must_replace(s) {
        return (Action::Replace(ReplaceOrder::DestroyThenCreate), Some(reason));
    }
    if s.after == s.prior && !s.pending {
        return (Action::NoOp, None);
    }
    (Action::Update, Some(given.unwrap_or_else(|| reason::of_update(s.block, s.stored, s.prior, s.after))))
}

#[cfg(test)]
mod tests {
    use engine_model::schema::{Attribute, Usage};
    use engine_value::Type;

    use super::*;

    #[test]
    fn every_situation_has_its_action_and_reason() {
        let block = Block::new([("a", Attribute::new(Type::String, Usage::Optional, ""))], "");
        let object = |a: &str| Value::object([("a", Value::from(a))]);
        let (null, one, two) = (Value::null(Type::Dynamic), object("1"), object("2"));
        let path = Path::root().attr("a");
        let unfinished = PlannedReason::Unfinished { done: 3, total: 10, unit: "nodes".into() };
        let joined = PlannedReason::NodesJoined(vec!["gpu-07".into()]);
        let base = Situation {
            block: &block,
            stored: &one,
            prior: &one,
            after: &one,
            replace: &[],
            reason: None,
            pending: false,
            tainted: false,
            requested: false,
        };
        let replace = Action::Replace(ReplaceOrder::DestroyThenCreate);
        let paths = [path.clone()];
        for (situation, expected) in [
            (Situation { ..base }, (Action::NoOp, None)),
            (Situation { stored: &null, prior: &null, ..base }, (Action::Create, Some(Reason::New))),
            (Situation { prior: &null, ..base }, (Action::Create, Some(Reason::Drift(vec![Path::root()])))),
            (Situation { after: &two, ..base }, (Action::Update, Some(Reason::Configuration(vec![path.clone()])))),
            (Situation { prior: &two, ..base }, (Action::Update, Some(Reason::Drift(vec![path.clone()])))),
            (Situation { tainted: true, ..base }, (replace, Some(Reason::Tainted))),
            (Situation { requested: true, ..base }, (replace, Some(Reason::Requested))),
            (
                Situation { after: &two, replace: &paths, ..base },
                (replace, Some(Reason::Immutable(vec![path.clone()]))),
            ),
            (
                Situation { pending: true, reason: Some(&unfinished), ..base },
                (Action::Update, Some(Reason::Unfinished { done: 3, total: 10, unit: "nodes".into() })),
            ),
            (
                Situation { pending: true, reason: Some(&joined), ..base },
                (Action::Update, Some(Reason::NodesJoined(vec!["gpu-07".into()]))),
            ),
        ] {
            assert_eq!(decide(&situation), expected);
        }
    }
}
