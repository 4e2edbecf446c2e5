//! Snapshots, the state file, the journal, backends and locks.
//!
//! A [`Snapshot`] is what state remembers. A run that changes something appends [`Record`]s to a [`Store`]: an
//! [`Intent`] before a provider is called, a [`StepResult`] after it; and commits a snapshot at its end. Whoever comes
//! next loads both, folds the records into the snapshot and asks what became of intents that are still open.
//!
//! Knows no provider, no configuration and no terminal.

#![forbid(unsafe_code)]

pub mod crashing;
mod dependants;
mod effect;
mod file_store;
pub mod files;
mod journal;
mod memory;
mod patch;
mod record;
mod snapshot;
mod store;
pub mod v4;
mod value;

pub use dependants::Ancestor;
pub use effect::{Effect, EffectError};
pub use file_store::{FileStore, STATE_FILE};
pub use journal::JournalError;
pub use memory::MemoryStore;
pub use patch::{Edit, EditError, Key};
pub use record::{
    Base, Begin, Ended, FoldError, Found, Intent, OpenIntent, Record, Recovered, StepResult, Work, fold, identity,
    open_intents,
};
pub use snapshot::{
    Dependencies, LastRun, Lineage, Object, Output, Resource, Slot, Snapshot, Status, TERRAFORM_VERSION,
};
pub use store::{Cause, Fence, LoadError, Loaded, LockError, LockInfo, Store, WriteError, timestamp};
