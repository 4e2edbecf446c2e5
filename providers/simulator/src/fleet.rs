//! All nodes, and the way in which several parties work on them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::Node;

/// All nodes, by name. Plain data: this is what is written to disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// The nodes.
    pub nodes: BTreeMap<String, Node>,
}

type Recorder = Box<dyn FnMut(&Node) + Send>;

/// A fleet that several parties share. Clones are the same fleet.
#[derive(Clone)]
pub struct SharedFleet(Arc<Mutex<Shared>>);

struct Shared {
    fleet: Fleet,
    record: Recorder,
}

impl SharedFleet {
    /// Shares a fleet that nobody keeps.
    pub fn new(fleet: Fleet) -> Self {
        Self::recorded(fleet, |_| {})
    }

    /// Shares a fleet and hands every node that has changed to `record`, after the change and before whoever made it
    /// has its answer. Changes are recorded one at a time, in their order.
    pub fn recorded(fleet: Fleet, record: impl FnMut(&Node) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Shared { fleet, record: Box::new(record) })))
    }

    /// Looks at the fleet.
    pub fn read<T>(&self, look: impl FnOnce(&Fleet) -> T) -> T {
        look(&self.lock().fleet)
    }

    /// Works on one node; none if there is no such node.
    pub fn with<T>(&self, node: &str, work: impl FnOnce(&mut Node) -> T) -> Option<T> {
        let mut shared = self.lock();
        let Shared { fleet, record } = &mut *shared;
        let node = fleet.nodes.get_mut(node)?;
        let before = node.clone();
        let answer = work(node);
        if *node != before {
            record(node);
        }
        Some(answer)
    }

    // Every change of a node is made by one call that leaves it whole, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|fleet| f.debug_tuple("SharedFleet").field(&fleet.nodes.keys()).finish())
    }
}
