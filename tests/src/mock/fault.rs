//! Failures that a test has scripted.

use providers_api::{ErrorKind, ProviderError};

use super::call::Verb;

/// How a call fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing is done.
    Refused(ErrorKind),
    /// Nothing is done, and the error repeats what it likes.
    Says(ErrorKind, String),
    /// A part is done: a broken object, the first of several arguments, an operation without its answer.
    Half,
}

/// A failure that is still to come.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) verb: Verb,
    pub(super) about: String,
    pub(super) how: How,
    /// So many calls fail.
    pub(super) times: usize,
}

impl How {
    /// The error that the caller sees.
    pub(super) fn error(&self, doing: &str) -> ProviderError {
        match self {
            Self::Refused(kind) => ProviderError::new(*kind, format!("the world refused to {doing}")),
            Self::Says(kind, text) => ProviderError::new(*kind, text.clone()).hint(format!("Look at {text}.")),
            Self::Half => ProviderError::permanent(format!("the world stopped half way while it was asked to {doing}")),
        }
    }
}
