//! A reader of the store's history: what happened after a revision, and then what happens.

use std::sync::Arc;

use tokio::sync::watch;

use super::key::Revision;
use super::state::{Change, Store};

/// The revision asked for is older than what the store still knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("revision {asked} is too old: changes are known from {oldest} on")]
pub struct Compacted {
    /// What was asked for.
    pub asked: Revision,
    /// The oldest revision that can be asked for.
    pub oldest: Revision,
}

/// A position in the history. It holds no queue: a slow reader costs nothing, and is told when it is too late.
pub struct Feed {
    store: Arc<Store>,
    revisions: watch::Receiver<Revision>,
    position: Revision,
}

pub(super) fn subscribe(
    store: Arc<Store>,
    revisions: watch::Receiver<Revision>,
    from: Revision,
) -> Result<Feed, Compacted> {
    let oldest = store.read().oldest_watchable();
    if from < oldest {
        return Err(Compacted { asked: from, oldest });
    }
    Ok(Feed { store, revisions, position: from })
}

impl Feed {
    /// The changes since the last call, without waiting; empty when there are none.
    ///
    /// # Errors
    /// The reader is so late that changes it has not seen are forgotten.
    pub fn poll(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        let state = self.store.lock();
        let Some(first) = state.history.front() else {
            return if self.position < state.revision {
                Err(Compacted { asked: self.position, oldest: state.revision })
            } else {
                Ok(Vec::new())
            };
        };
        if self.position.next() < first.revision {
            return Err(Compacted { asked: self.position, oldest: Revision(first.revision.0 - 1) });
        }
        let skip = (self.position.0 + 1 - first.revision.0) as usize;
        let changes: Vec<_> = state.history.range(skip.min(state.history.len())..).cloned().collect();
        if let Some(last) = changes.last() {
            self.position = last.revision;
        }
        Ok(changes)
    }

    /// The next changes, at least one. Cancelling this future loses nothing.
    ///
    /// # Errors
    /// As [`Feed::poll`].
    pub async fn next(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        loop {
            self.revisions.borrow_and_update();
            let changes = self.poll()?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            if self.revisions.changed().await.is_err() {
                // The sender lives in the store that this feed holds, so it cannot be gone.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Up to where this reader has seen everything.
    pub fn position(&self) -> Revision {
        self.position
    }
}
