//! Where state is kept: the trait, and what its callers may do about each failure.

use std::{error::Error, fmt};

use async_trait::async_trait;
use engine_model::{host::Host, plan::SnapshotIdentity};
use serde::{Deserialize, Serialize};

use crate::{Base, FoldError, JournalError, OpenIntent, Record, Snapshot, record, v4::FormatError};

/// Grows with every run that changes something: an agent never obeys a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who holds a lock: Terraform's own format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LockInfo {
    /// A UUID.
    #[serde(rename = "ID")]
    pub id: String,
    /// What it is held for: "apply".
    pub operation: String,
    /// More about it.
    pub info: String,
    /// By whom: "user@host".
    pub who: String,
    /// Our version.
    pub version: String,
    /// Since when: RFC 3339, UTC.
    pub created: String,
    /// What is locked.
    pub path: String,
}

impl LockInfo {
    /// A lock for an operation, from now on. The store fills in what it locks.
    pub fn new(host: &dyn Host, operation: &str, who: &str) -> Self {
        let mut id = [0; 16];
        host.random(&mut id);
        let created = timestamp(host);
        Self {
            id: uuid::Builder::from_random_bytes(id).into_uuid().to_string(),
            operation: operation.to_owned(),
            info: String::new(),
            who: who.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created,
            path: String::new(),
        }
    }
}

/// Now, as locks and records have it: RFC 3339, UTC. A clock beyond the year 9999 is not worth an error here.
pub fn timestamp(host: &dyn Host) -> String {
    jiff::Timestamp::try_from(host.now()).unwrap_or_default().to_string()
}

impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} since {} (lock {})", self.operation, self.who, self.created, self.id)
    }
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// As it was last committed; `None`: never.
    pub snapshot: Option<Snapshot>,
    /// What was recorded since, and intents that are still open.
    pub records: Vec<Record>,
    /// What should be told: the end of the journal was cut off by a crash.
    pub notes: Vec<String>,
}

impl Loaded {
    /// The state as it is now: the snapshot and what was recorded since. `None`: there is no state yet.
    ///
    /// # Errors
    /// The journal does not belong to the snapshot.
    pub fn fold(&self) -> Result<Option<Snapshot>, FoldError> {
        record::fold(self.snapshot.clone(), &self.records)
    }

    /// What a plan that is made from this is bound to.
    pub fn identity(&self) -> SnapshotIdentity {
        record::identity(self.snapshot.as_ref(), &self.records)
    }

    /// What was begun and not seen to end, in the order in which it was begun.
    pub fn open_intents(&self) -> Vec<OpenIntent<'_>> {
        record::open_intents(&self.records)
    }
}

/// Why a store could not do what was asked of it: the error of what it is built on. Everywhere beside it, `store` says
/// what it happened to, as [`Store::name`] does or more closely: the path or the address of the journal or of the lock.
pub type Cause = Box<dyn Error + Send + Sync>;

/// A lock was not given.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody holds it: try again later, or end with the holder's name.
    #[error("the state {store} is locked{}", holder.as_ref().map(|holder| format!(" for {holder}")).unwrap_or_default())]
    Held {
        /// What is locked.
        store: String,
        /// Who holds it, where that can be read.
        holder: Option<Box<LockInfo>>,
    },
    /// The lock could not be asked for.
    #[error("the lock {store} cannot be taken")]
    Io {
        /// The lock.
        store: String,
        /// Why.
        source: Cause,
    },
}

/// The state could not be loaded. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be read.
    #[error("the state {store} cannot be read")]
    Io {
        /// What was read or written.
        store: String,
        /// Why.
        source: Cause,
    },
    /// It is no state that this release understands.
    #[error("{store} is no state that can be used")]
    Format {
        /// What was read or written.
        store: String,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The journal is damaged.
    #[error("the journal {store} is damaged")]
    Journal {
        /// What was read or written.
        store: String,
        /// Where.
        source: JournalError,
    },
    /// The journal does not belong to the snapshot.
    #[error("the journal {store} does not belong to this state")]
    Foreign {
        /// The journal.
        store: String,
        /// Why.
        source: Box<FoldError>,
    },
}

impl LoadError {
    /// The way out, as a sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { store, .. } => format!("Check that {store} can be read, and run again."),
            Self::Format { store, source } => source.hint(store),
            Self::Journal { store, .. } => format!(
                "Nothing was changed. Keep a copy of {store}, cut it off before the damaged line, and run plan: what \
                 was lost with it shows as drift."
            ),
            Self::Foreign { store, .. } => format!(
                "Nothing was changed. Put back the state that {store} belongs to, or move it away and run plan: what \
                 was done and not yet stored shows as drift."
            ),
        }
    }
}

/// The state could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The lock is not, or no longer, held with this fence: stop at once.
    #[error("the lock of the state {store} is not held by this run any more")]
    NotLocked {
        /// What should be locked.
        store: String,
    },
    /// It could not be written. What was there is still there.
    #[error("{store} cannot be written")]
    Io {
        /// What was read or written.
        store: String,
        /// Why.
        source: Cause,
    },
    /// What is there cannot be understood, and is not overwritten.
    #[error("the state is not overwritten")]
    Load(#[source] Box<LoadError>),
    /// The snapshot does not follow from what is stored: it is of another lineage, or of an older serial.
    #[error("the state {store} has serial {stored}, and serial {given} was to be stored in its place")]
    Stale {
        /// What is stored.
        store: String,
        /// Its serial.
        stored: u64,
        /// The serial of the snapshot that was to be stored.
        given: u64,
    },
    /// The snapshot is of another state.
    #[error("the state {store} has lineage {stored}, and a state with lineage {given} was to be stored in its place")]
    OtherLineage {
        /// What is stored.
        store: String,
        /// Its lineage.
        stored: crate::Lineage,
        /// The lineage of the snapshot that was to be stored.
        given: crate::Lineage,
    },
}

/// Where state is kept. All calls are made by one run at a time; whoever writes holds the lock.
#[async_trait]
pub trait Store: Send + Sync {
    /// What it is, for messages: a path or an address.
    fn name(&self) -> String;

    /// Can records be appended? Where not, callers commit snapshots instead, and say so.
    fn appends(&self) -> bool {
        true
    }

    /// Takes the lock, or says at once who holds it: waiting is the caller's loop. A holder that died holds nothing.
    ///
    /// # Errors
    /// [`LockError`].
    async fn lock(&self, info: &LockInfo) -> Result<Fence, LockError>;

    /// Loads what there is. Changes nothing, and needs no lock.
    ///
    /// # Errors
    /// [`LoadError`].
    async fn load(&self) -> Result<Loaded, LoadError>;

    /// Appends records; all of them are durable when this returns. One flush, however many they are. The first record
    /// of a run is [`Record::Begin`], also where it only says what became of an earlier one. After an error some may be there and some not.
    ///
    /// # Errors
    /// [`WriteError`].
    async fn append(&self, records: &[Record], fence: Fence) -> Result<(), WriteError>;

    /// Stores a snapshot in place of the last one and of all that was recorded since, but for intents that are still
    /// open. Atomic: after a crash there is the old one with its records, or the new one. Returns the serial, which is
    /// one higher if the snapshot says anything else than the last one.
    ///
    /// # Errors
    /// [`WriteError`].
    async fn commit(&self, snapshot: &Snapshot, fence: Fence) -> Result<u64, WriteError>;

    /// Gives the lock back.
    ///
    /// # Errors
    /// [`WriteError`]; a process that ends gives it back too.
    async fn unlock(&self, fence: Fence) -> Result<(), WriteError>;
}

/// Can a snapshot take the place of the stored one?
pub(crate) fn check_successor(stored: &Base, given: &Snapshot, store: &str) -> Result<(), WriteError> {
    if stored.lineage != given.lineage {
        let (stored, given) = (stored.lineage.clone(), given.lineage.clone());
        return Err(WriteError::OtherLineage { store: store.to_owned(), stored, given });
    }
    if stored.serial > given.serial {
        return Err(WriteError::Stale { store: store.to_owned(), stored: stored.serial, given: given.serial });
    }
    Ok(())
}

/// The fence of the next lock: above that of every run that ever began, and not below the time at which the lock was asked
/// for, in seconds since 1970. So a state that was lost and begun anew still comes after what nodes have obeyed. A lock
/// under which no run begins leaves no trace in the world, so the next one may have the same.
pub(crate) fn next_fence(loaded: Option<&Loaded>, info: &LockInfo) -> Fence {
    let now = info.created.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    let runs = loaded.into_iter().flat_map(|loaded| {
        let stored = loaded.snapshot.iter().filter_map(|snapshot| snapshot.last_run.as_ref()).map(|run| run.fence);
        let recorded = loaded.records.iter().filter_map(|record| match record {
            Record::Begin(begin) => Some(begin.fence),
            _ => None,
        });
        stored.chain(recorded)
    });
    Fence((runs.max().unwrap_or_default().0 + 1).max(u64::try_from(now).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;

    use super::*;

    #[test]
    fn a_state_that_was_lost_comes_after_what_nodes_have_obeyed() {
        let info = |seconds| LockInfo::new(&FixedHost::new(seconds), "apply", "me@here");
        let mut snapshot = Snapshot::new(crate::Lineage("l".into()));
        snapshot.last_run = Some(crate::LastRun { plan: "p".into(), fence: Fence(2_000) });
        let loaded = Loaded { snapshot: Some(snapshot), ..Loaded::default() };
        assert_eq!(next_fence(Some(&loaded), &info(1_000)), Fence(2_001), "a clock that went back");
        assert_eq!(next_fence(Some(&loaded), &info(3_000)), Fence(3_000));
        assert_eq!(next_fence(None, &info(3_000)), Fence(3_000));
        assert_eq!(next_fence(None, &info(0)), Fence(1));
    }
}
