//! A transaction: reads and writes under one lock, committed to log and memory as a whole, or undone.

use std::ops::Bound;
use std::sync::{Arc, MutexGuard};

use serde_json::Value;
use tokio::sync::watch;

use super::key::{Key, Revision};
use super::log::{Entry, LogError};
use super::state::{Change, ChangeKind, State};

/// Whether a transaction may be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It may.
    Write,
    /// It ends in nothing: writes are seen by later reads of the same transaction, use no revision and are undone.
    DryRun,
}

/// See the module. Dropped without [`Transaction::commit`], it leaves no trace.
pub struct Transaction<'a> {
    state: MutexGuard<'a, State>,
    revisions: &'a watch::Sender<Revision>,
    mode: Mode,
    began_at: Revision,
    changes: Vec<Arc<Change>>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(state: MutexGuard<'a, State>, revisions: &'a watch::Sender<Revision>, mode: Mode) -> Self {
        let began_at = state.revision;
        Transaction { state, revisions, mode, began_at, changes: Vec::new() }
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.state.objects.get(key)
    }

    /// All objects of a resource, by namespace and name.
    pub fn list<'s>(&'s self, resource: &'s str) -> impl Iterator<Item = (&'s Key, &'s Arc<Value>)> {
        self.list_after(Key::new(resource, "", "")).take_while(move |(key, _)| key.resource.as_ref() == resource)
    }

    /// All objects of a resource in one namespace, by name.
    pub fn list_namespace<'s>(
        &'s self,
        resource: &'s str,
        namespace: &'s str,
    ) -> impl Iterator<Item = (&'s Key, &'s Arc<Value>)> {
        self.list_after(Key::new(resource, namespace, ""))
            .take_while(move |(key, _)| key.resource.as_ref() == resource && key.namespace.as_ref() == namespace)
    }

    /// Everything that sorts after `key`.
    pub fn list_after(&self, key: Key) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.state.objects.range((Bound::Excluded(key), Bound::Unbounded))
    }

    /// The objects that name `uid` in their owner references.
    pub fn dependants(&self, uid: &str) -> Vec<Key> {
        self.state.owners.dependants(uid)
    }

    /// Creates or replaces an object; returns it with its new `metadata.resourceVersion`. In a dry run the version
    /// stays as it was (absent for a new object).
    pub fn put(&mut self, key: &Key, mut object: Value) -> Arc<Value> {
        let previous = self.state.objects.get(key).cloned();
        let revision = self.state.revision.next();
        match (self.mode, &previous) {
            (Mode::Write, _) => stamp(&mut object, Some(revision.to_string())),
            (Mode::DryRun, None) => stamp(&mut object, None),
            (Mode::DryRun, Some(previous)) => {
                let version = previous.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(str::to_owned);
                stamp(&mut object, version);
            }
        }
        let object = Arc::new(object);
        self.state.set(key, Some(object.clone()));
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        self.record(Change { revision, key: key.clone(), kind, object: object.clone(), previous });
        object
    }

    /// Removes an object and returns its last state.
    pub fn delete(&mut self, key: &Key) -> Option<Arc<Value>> {
        let previous = self.state.set(key, None)?;
        let revision = self.state.revision.next();
        let mut last = (*previous).clone();
        if self.mode == Mode::Write {
            stamp(&mut last, Some(revision.to_string()));
        }
        let object = Arc::new(last);
        let kind = ChangeKind::Deleted;
        self.record(Change { revision, key: key.clone(), kind, object: object.clone(), previous: Some(previous) });
        Some(object)
    }

    fn record(&mut self, change: Change) {
        self.state.revision = change.revision;
        self.changes.push(Arc::new(change));
    }

    /// What this transaction has changed so far, in order.
    pub fn changes(&self) -> &[Arc<Change>] {
        &self.changes
    }

    /// Whether this is a dry run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The clock before this transaction; it does not count writes that are not committed yet.
    pub fn began_at(&self) -> Revision {
        self.began_at
    }

    /// The clock, counting the uncommitted writes of this transaction.
    pub fn revision(&self) -> Revision {
        self.state.revision
    }

    /// The committed changes after `revision`, in order, as far as they are kept (see [`Transaction::oldest_watchable`]).
    pub fn changes_after(&self, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
        let history = &self.state.history;
        let known = history.front().map_or(0, |first| (revision.0 + 1).saturating_sub(first.revision.0));
        let skip = usize::try_from(known).unwrap_or(usize::MAX).min(history.len());
        history.range(skip..)
    }

    /// The oldest revision from which a watch can still start.
    pub fn oldest_watchable(&self) -> Revision {
        self.state.history.front().map_or(self.began_at, |change| Revision(change.revision.0 - 1))
    }

    /// Makes the writes durable and visible. A dry run is undone instead, and succeeds.
    ///
    /// # Errors
    /// The log could not be written: nothing has changed.
    pub fn commit(mut self) -> Result<Revision, LogError> {
        if self.mode == Mode::DryRun || self.changes.is_empty() {
            return Ok(self.began_at);
        }
        let state = &mut *self.state;
        if let Some(persistence) = &mut state.persistence {
            let entries: Vec<Entry> = self.changes.iter().map(|change| Entry::from(change.as_ref())).collect();
            persistence.append(&entries, &state.objects, state.revision)?;
        }
        for change in std::mem::take(&mut self.changes) {
            state.remember(change);
        }
        self.began_at = state.revision;
        self.revisions.send_replace(state.revision);
        Ok(state.revision)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        for change in std::mem::take(&mut self.changes).iter().rev() {
            self.state.set(&change.key, change.previous.clone());
        }
        self.state.revision = self.began_at;
    }
}

fn stamp(object: &mut Value, version: Option<String>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    match version {
        Some(version) => metadata.insert("resourceVersion".to_owned(), Value::String(version)),
        None => metadata.remove("resourceVersion"),
    };
}
