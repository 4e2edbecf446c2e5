//! The object store behind the embedded API server: objects by key, one logical clock for all of them, a feed of changes,
//! and an append-only log that has every write before it is answered.
//!
//! The store knows nothing about Kubernetes but two fields: it stamps `metadata.resourceVersion`, and it indexes
//! `metadata.ownerReferences[].uid`, because both must change in the same step as the object.

mod feed;
mod key;
mod log;
mod owners;
mod snapshot;
mod state;
mod transaction;

pub use feed::{Compacted, Feed};
pub use key::{Key, Revision};
pub use log::LogError;
pub use snapshot::OpenError;
pub use state::{Change, ChangeKind, Store};
pub use transaction::{Mode, Transaction};
