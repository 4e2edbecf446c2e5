//! What can go wrong between a provider and the world.

use std::time::Duration;

/// What a caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The same call may succeed later; the server may have said when.
    Transient {
        /// Not before so long.
        after: Option<Duration>,
    },
    /// The world is not as the plan saw it: plan again.
    Conflict,
    /// This identity may not do it.
    Forbidden,
    /// What it speaks to does not answer.
    Unreachable,
    /// It was cancelled at a safe point.
    Cancelled,
    /// It did not finish in time.
    Timeout,
    /// The same call will fail again.
    Permanent,
}

/// An error of a provider. `Display` is a lowercase fragment without its source.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ProviderError {
    /// What a caller may do.
    pub kind: ErrorKind,
    /// What failed: "cannot read the nodes of the cluster".
    pub what: String,
    /// The way out, as a sentence.
    pub hint: Option<String>,
    /// Why.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    /// An error without source and hint.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), hint: None, source: None }
    }

    /// The same call will fail again.
    pub fn permanent(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Permanent, what)
    }

    /// The same with the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// May the same call succeed later?
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, ErrorKind::Transient { .. })
    }
}
