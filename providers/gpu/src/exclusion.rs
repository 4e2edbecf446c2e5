//! Whether a node must be left alone, and why. A pure function of one node; one place for all who ask.

use std::time::Duration;

use engine_model::{
    name::NodeName,
    operation::{Excluded, ExclusionReason},
};
use providers_agent_api::{HEARTBEAT_LIMIT, OperationPhase};

use crate::{
    pool::NodeState,
    world::{Heartbeat, Node, Report, World},
};

/// Why a node is left alone; `None`: it may be changed. `stored` is what the state knows of it.
pub(crate) fn exclusion(name: &NodeName, world: &World, stored: Option<&NodeState>) -> Option<Excluded> {
    let (why, detail) = match world.nodes.get(name) {
        None => (ExclusionReason::Vanished, "there is no such node in the cluster".to_owned()),
        Some(node) => reason(node, stored)?,
    };
    Some(Excluded { node: name.clone(), why, detail })
}

/// For people and for the state: no detail that changes with time.
pub(crate) fn short(why: ExclusionReason) -> &'static str {
    match why {
        ExclusionReason::Vanished => "vanished",
        ExclusionReason::NotReady => "not ready",
        ExclusionReason::AgentDown => "agent down",
        ExclusionReason::Unreadable => "unreadable",
        ExclusionReason::CardExchanged => "card exchanged",
        ExclusionReason::CardFrozen => "card frozen",
        ExclusionReason::OtherOwner => "other owner",
        ExclusionReason::Protected => "protected",
    }
}

fn reason(node: &Node, stored: Option<&NodeState>) -> Option<(ExclusionReason, String)> {
    if let Some(why) = &node.not_ready {
        return Some((ExclusionReason::NotReady, why.clone()));
    }
    match node.heartbeat {
        Heartbeat::Never => return Some((ExclusionReason::AgentDown, "its agent was never heard".to_owned())),
        Heartbeat::Age(age) if age > HEARTBEAT_LIMIT => {
            return Some((ExclusionReason::AgentDown, format!("no heartbeat for {}", duration(age))));
        }
        Heartbeat::Age(_) => {}
    }
    let Some(report) = &node.report else {
        return Some((ExclusionReason::Unreadable, "its agent has not reported any card yet".to_owned()));
    };
    if let Some(error) = &report.error {
        return Some((ExclusionReason::Unreadable, error.clone()));
    }
    if report.is_busy() {
        return Some((ExclusionReason::Unreadable, "an operation on it has not come to its end".to_owned()));
    }
    exchanged(report, stored)
        .map(|detail| (ExclusionReason::CardExchanged, detail))
        .or_else(|| Some((ExclusionReason::CardFrozen, frozen(report)?)))
}

// A card is known by its place and its UUID. Anything but the same cards in the same places stops changes on the node.
fn exchanged(report: &Report, stored: Option<&NodeState>) -> Option<String> {
    // A node that was excluded when it was stored has no cards to compare with.
    let stored = stored.filter(|stored| !stored.cards.is_empty())?;
    for (pci, card) in &stored.cards {
        match report.cards.iter().find(|found| found.pci == *pci) {
            None => return Some(format!("the card at {pci} ({}) is gone", card.uuid)),
            Some(found) if found.uuid != card.uuid => {
                return Some(format!("the card at {pci} was {} and is {}", card.uuid, found.uuid));
            }
            Some(_) => {}
        }
    }
    let added = report.cards.iter().find(|card| !stored.cards.contains_key(&card.pci))?;
    Some(format!("there is a new card at {} ({})", added.pci, added.uuid))
}

fn frozen(report: &Report) -> Option<String> {
    // A mode that waits for a reset after an operation of ours failed is for the next operation to finish.
    let ours = report.operation.as_ref().is_some_and(|operation| operation.phase == OperationPhase::Failed);
    report.cards.iter().find_map(|card| {
        let why = card.frozen.clone();
        let why = why.or_else(|| (card.mig_pending && !ours).then(|| "its MIG mode waits for a reset".to_owned()))?;
        Some(format!("{}: {why}", card.label()))
    })
}

/// `40 s`, `3 m`, `2 h`.
fn duration(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} m", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
