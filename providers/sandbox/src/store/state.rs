//! The store itself: what is in it, and how it is opened and read.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::feed::Feed;
use super::key::{Key, Revision};
use super::log::{Entry, LogError};
use super::owners::Owners;
use super::snapshot::{self, OpenError, Persistence};
use super::transaction::{Mode, Transaction};
use super::{Compacted, feed};

/// Changes that are kept for watchers. A watcher that is further behind gets [`Compacted`] and lists again; etcd keeps
/// five minutes by default, which this exceeds for any fleet that one machine simulates.
const HISTORY: usize = 16_384;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It was there before.
    Modified,
    /// It is gone; the change carries its last state.
    Deleted,
}

/// One object's step from one state to the next.
#[derive(Clone, Debug)]
pub struct Change {
    /// When, on the store's clock.
    pub revision: Revision,
    /// Which object.
    pub key: Key,
    /// What happened.
    pub kind: ChangeKind,
    /// The new state; for a deletion the last one, stamped with the deletion's revision.
    pub object: Arc<Value>,
    /// The state before, if there was one.
    pub previous: Option<Arc<Value>>,
}

pub(super) struct State {
    pub(super) objects: BTreeMap<Key, Arc<Value>>,
    pub(super) owners: Owners,
    pub(super) revision: Revision,
    /// Invariant: consecutive revisions, the last of which is `revision` (or empty).
    pub(super) history: VecDeque<Arc<Change>>,
    pub(super) persistence: Option<Persistence>,
}

impl State {
    /// Puts one object in place (or away) and returns what was there.
    pub(super) fn set(&mut self, key: &Key, object: Option<Arc<Value>>) -> Option<Arc<Value>> {
        let previous = self.objects.get(key).cloned();
        self.owners.replace(key, previous.as_deref(), object.as_deref());
        match object {
            Some(object) => self.objects.insert(key.clone(), object),
            None => self.objects.remove(key),
        };
        previous
    }

    pub(super) fn remember(&mut self, change: Arc<Change>) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(change);
    }
}

/// Objects with a history. One process has it open at a time; any number of threads use it.
pub struct Store {
    state: Mutex<State>,
    revision: watch::Sender<Revision>,
}

impl Store {
    /// A store that lives as long as this value.
    pub fn in_memory() -> Store {
        Store::new(BTreeMap::new(), Revision(0), None)
    }

    /// Opens (or begins) the store in folder `dir`, which holds `lock`, `snapshot.json` and `log.jsonl`.
    ///
    /// # Errors
    /// Another process has it open, a file cannot be read, or one is damaged.
    pub fn open(dir: &Path) -> Result<Store, OpenError> {
        let (persistence, objects, revision) = snapshot::open(dir)?;
        Ok(Store::new(objects, revision, Some(persistence)))
    }

    fn new(objects: BTreeMap<Key, Arc<Value>>, revision: Revision, persistence: Option<Persistence>) -> Store {
        let mut owners = Owners::default();
        for (key, object) in &objects {
            owners.replace(key, None, Some(object));
        }
        let state = State { objects, owners, revision, history: VecDeque::new(), persistence };
        Store { state: Mutex::new(state), revision: watch::Sender::new(revision) }
    }

    /// Begins a transaction: the only way to read or write. Others wait until it ends, so keep it short.
    pub fn begin(&self, mode: Mode) -> Transaction<'_> {
        Transaction::new(self.lock(), &self.revision, mode)
    }

    /// A consistent look at everything.
    pub fn read(&self) -> Transaction<'_> {
        self.begin(Mode::DryRun)
    }

    /// The clock, as of the last commit.
    pub fn revision(&self) -> Revision {
        *self.revision.borrow()
    }

    /// Forgets all changes up to now, as a compaction does: who has not seen them must list again.
    pub fn forget_history(&self) {
        self.lock().history.clear();
    }

    /// The changes after `from`, and those to come.
    ///
    /// # Errors
    /// [`Compacted`] when `from` is older than what is kept.
    pub fn subscribe(self: &Arc<Self>, from: Revision) -> Result<Feed, Compacted> {
        feed::subscribe(self.clone(), self.revision.subscribe(), from)
    }

    /// Writes everything into one snapshot file and empties the log.
    ///
    /// # Errors
    /// The file system refused; nothing is lost, the log still holds what it held.
    pub fn compact(&self) -> Result<(), LogError> {
        let mut state = self.lock();
        let state = &mut *state;
        match &mut state.persistence {
            Some(persistence) => persistence.compact(&state.objects, state.revision),
            None => Ok(()),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A transaction undoes itself when it unwinds, so the state is whole even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&Change> for Entry {
    fn from(change: &Change) -> Entry {
        let object = (change.kind != ChangeKind::Deleted).then(|| change.object.clone());
        Entry { revision: change.revision, key: change.key.clone(), object }
    }
}
