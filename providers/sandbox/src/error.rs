//! Why a sandbox cannot be used.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use engine_diag::{Diagnostics, Sources};
use providers_api::ProviderError;

use crate::api::StartError;
use crate::world::WorldError;

/// Why a sandbox cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The fleet's file is wrong.
    #[error("{}", first(sources, diagnostics))]
    Fleet {
        /// The file.
        sources: Sources,
        /// What is wrong with it.
        diagnostics: Diagnostics,
    },
    /// Its files cannot be used.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A file beside the world cannot be used.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another command has it.
    #[error("the sandbox in {} is in use by {holder}; it was waited for {} s", dir.display(), waited.as_secs())]
    Busy {
        /// Where it is.
        dir: PathBuf,
        /// Who has it.
        holder: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Its server does not start.
    #[error("the sandbox's API server does not start")]
    Start(#[from] StartError),
    /// An object of the fleet was refused.
    #[error("the sandbox cannot create {what}: {why}")]
    Create {
        /// The object.
        what: String,
        /// What the API said.
        why: String,
    },
    /// Agents do not report.
    #[error("the sandbox is not ready after {} s: {why}", waited.as_secs())]
    NotReady {
        /// How long it was waited for.
        waited: Duration,
        /// Who is late, and why, as far as is known.
        why: String,
    },
    /// Something went wrong where nobody could be told.
    #[error("the sandbox has failed: {0}")]
    Failed(String),
    /// The API refuses, or does not answer.
    #[error(transparent)]
    Api(#[from] ProviderError),
    /// What was given to a command is wrong.
    #[error("{0}")]
    Argument(String),
}

fn first(sources: &Sources, diagnostics: &Diagnostics) -> String {
    let Some(first) = diagnostics.iter().next() else { return "the fleet is wrong".to_owned() };
    let place = first.span.map_or_else(String::new, |span| format!("{}: ", sources.place(span)));
    format!("{place}{}: {}", first.summary, first.detail)
}
