//! The record of calls: what was asked of the API, by whom, and what it answered. Tests read it to see that a plan writes
//! nothing; people read it as an audit log.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Calls that are kept; a long-lived sandbox forgets the oldest. At about 150 bytes each this is 15 MB.
const KEPT: usize = 100_000;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`.
    pub verb: &'static str,
    /// The path, without the query.
    pub path: String,
    /// The user's name; empty for an unknown token.
    pub user: String,
    /// Nothing was to be written.
    pub dry_run: bool,
    /// The HTTP status code; 0 when there was no answer.
    pub code: u16,
}

impl Call {
    /// Whether this call was to change something, and did.
    pub fn has_written(&self) -> bool {
        let reads = ["get", "list", "watch"].contains(&self.verb);
        !reads && !self.dry_run && (200..300).contains(&self.code)
    }
}

/// All calls since the server began, in the order of their answers.
#[derive(Debug, Default)]
pub struct Calls(Mutex<VecDeque<Call>>);

impl Calls {
    /// A copy of the record.
    pub fn all(&self) -> Vec<Call> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Begins anew, and returns what there was.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }

    pub(super) fn add(&self, call: Call) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() == KEPT {
            calls.pop_front();
        }
        calls.push_back(call);
    }
}
