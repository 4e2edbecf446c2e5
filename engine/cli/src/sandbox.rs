//! The embedded cluster, as commands open and close it.

use std::path::{Path, PathBuf};

use engine_diag::{Diagnostic, Diagnostics};
use providers_kubernetes::ConnectionOverride;
use providers_sandbox::{Options, Sandbox, SandboxError};

use crate::session::{Exit, Session, failed};

/// Where the embedded cluster lives, with the state that belongs to it.
pub(crate) fn directory(session: &Session) -> PathBuf {
    session.directory.join(".sliceform/sandbox")
}

/// The embedded cluster while a command has it.
pub(crate) struct World {
    sandbox: Sandbox,
    directory: PathBuf,
}

impl World {
    /// Opens it, or joins the one that `sandbox serve` serves. `fleet` is a file; empty: the default one.
    pub(crate) async fn open(session: &Session, fleet: &str, command: &str) -> Result<Self, Diagnostics> {
        let directory = directory(session);
        let text = fleet_text(session, fleet)?;
        let fleet = text.as_ref().map(|text| (fleet, text.as_str()));
        let options = Options::new(session.host.clone(), command);
        let sandbox = Sandbox::open(&directory, fleet, options).await.map_err(|error| told(session, &error))?;
        Ok(Self { sandbox, directory })
    }

    /// For providers that speak to a cluster.
    pub(crate) fn connection(&self) -> ConnectionOverride {
        self.sandbox.connection()
    }

    /// Where it lives.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// For the commands that drive it.
    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Closes it. That its last writes failed is worse than whatever the command came to.
    pub(crate) async fn close(self, session: &Session, exit: Exit) -> Exit {
        match self.sandbox.close().await {
            Ok(()) => exit,
            Err(error) => session.fail(told(session, &error)),
        }
    }
}

/// The text of a fleet's file.
pub(crate) fn fleet_text(session: &Session, fleet: &str) -> Result<Option<String>, Diagnostics> {
    if fleet.is_empty() {
        return Ok(None);
    }
    std::fs::read_to_string(session.directory.join(fleet))
        .map(Some)
        .map_err(|error| failed(&format!("Cannot read the fleet {fleet}"), &error).into())
}

/// An error of the sandbox. One in the fleet's file is shown there.
pub(crate) fn told(session: &Session, error: &SandboxError) -> Diagnostics {
    if let SandboxError::Fleet { sources, diagnostics } = error {
        session.report_in(diagnostics, sources);
        let detail = "The sandbox was not made. Nothing was changed.";
        return Diagnostic::error("The fleet cannot be used", detail).into();
    }
    let diagnostic = failed("The sandbox cannot be used", error);
    let hint = match error {
        SandboxError::Busy { .. } => Some("Wait until the other command has ended."),
        SandboxError::World(_) => {
            Some("sandbox reset removes it with its state, and the next command makes a new one.")
        }
        _ => None,
    };
    match hint {
        Some(hint) => diagnostic.hint(hint).into(),
        None => diagnostic.into(),
    }
}
