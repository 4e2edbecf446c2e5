//! What a node is, and what its agent reports.

use std::{collections::BTreeMap, time::Duration};

use providers_agent_api::{OperationPhase, OperationStatus, User};
use providers_catalog::DriverVersion;

use super::{Card, PodName};
use crate::resource::Amounts;

/// A node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Its labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// Why Kubernetes does not call it ready; `None`: it does.
    pub(crate) not_ready: Option<String>,
    /// Is it cordoned (by whomever: we never cordon)?
    pub(crate) cordoned: bool,
    /// What it offers of GPU resources. What is offered as zero is left out.
    pub(crate) allocatable: Amounts,
    /// When its agent was last heard.
    pub(crate) heartbeat: Heartbeat,
    /// What its agent says; `None` where there has never been one.
    pub(crate) report: Option<Report>,
    /// Pods on it that ask for GPUs and have not ended.
    pub(crate) pods: Vec<PodName>,
}

impl Node {
    /// Everything that uses one of its cards, as the agent reports it.
    pub(crate) fn users(&self) -> impl Iterator<Item = &User> {
        let cards = self.report.iter().flat_map(|report| &report.cards);
        cards.flat_map(|card| card.users.iter().chain(card.slices.iter().flat_map(|slice| &slice.users)))
    }
}

impl Report {
    /// Is there an operation that has not come to its end? What the cards are then is half of something.
    pub(crate) fn is_busy(&self) -> bool {
        match (&self.asked, &self.operation) {
            (Some(_), None) => true,
            (Some(asked), Some(operation)) => *asked != operation.id || operation.phase == OperationPhase::Running,
            (None, operation) => operation.as_ref().is_some_and(|operation| operation.phase == OperationPhase::Running),
        }
    }
}

/// When an agent was last heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Heartbeat {
    /// Never.
    #[default]
    Never,
    /// So long ago.
    Age(Duration),
}

/// What an agent says about its node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The driver, where its version can be read.
    pub(crate) driver: Option<DriverVersion>,
    /// The cards in order of PCI address.
    pub(crate) cards: Vec<Card>,
    /// Why the cards cannot be read.
    pub(crate) error: Option<String>,
    /// How far its last operation is.
    pub(crate) operation: Option<OperationStatus>,
    /// The operation that it was last asked for.
    pub(crate) asked: Option<String>,
}
