//! Where this run's state is, and its lock.

use std::{path::Path, sync::Arc, time::Duration};

use engine_diag::{Diagnostic, Diagnostics};
use state::{Fence, FileStore, Loaded, LockError, LockInfo, STATE_FILE, Store};

use crate::session::{Session, failed};

/// How often a lock that is held is asked for again.
const POLL: Duration = Duration::from_millis(250);

/// A state, and the lock on it while this run has one.
pub(crate) struct Storage {
    pub(crate) store: Arc<dyn Store>,
    fence: Option<Fence>,
}

impl Storage {
    /// The state of this run. The sandbox keeps its own, whatever the configuration says.
    pub(crate) fn new(session: &Session, sandbox: Option<&Path>, configured: Option<&str>) -> Self {
        let path = match configured {
            Some(path) if sandbox.is_none() => session.directory.join(path),
            _ => sandbox.unwrap_or(&session.directory).join(STATE_FILE),
        };
        Self { store: Arc::new(FileStore::new(path)), fence: None }
    }

    /// Is there a state, or the journal of a first one?
    pub(crate) fn exists(session: &Session, sandbox: Option<&Path>) -> bool {
        FileStore::files(sandbox.unwrap_or(&session.directory)).iter().any(|file| file.exists())
    }

    /// Takes the lock, or waits for it as long as `timeout`.
    pub(crate) async fn lock(
        &mut self,
        session: &Session,
        operation: &str,
        timeout: Duration,
    ) -> Result<Fence, Diagnostics> {
        let info = LockInfo::new(&*session.host, operation, &session.env.who);
        let deadline = tokio::time::Instant::now() + timeout;
        let mut told = false;
        loop {
            match self.store.lock(&info).await {
                Ok(fence) => {
                    self.fence = Some(fence);
                    return Ok(fence);
                }
                Err(LockError::Held { .. }) if tokio::time::Instant::now() < deadline => {
                    if !std::mem::replace(&mut told, true) {
                        session.print("Acquiring state lock. This may take a few moments...\n");
                    }
                    tokio::select! {
                        () = tokio::time::sleep(POLL) => {}
                        () = session.env.interrupt.cancelled() => {
                            let detail = "An interrupt came before the lock was given. Nothing was changed.";
                            return Err(Diagnostic::error("Interrupted", detail).into());
                        }
                    }
                }
                Err(error) => return Err(refused(&error).into()),
            }
        }
    }

    /// What there is, with notes for the user.
    pub(crate) async fn load(&self, session: &Session) -> Result<Loaded, Diagnostics> {
        let loaded = self.store.load().await.map_err(|error| {
            let hint = error.hint();
            Diagnostics::from(failed("Cannot load the state", &error).hint(hint))
        })?;
        for note in &loaded.notes {
            session.report(&Diagnostic::warning("The journal was cut off", note.clone()).into());
        }
        Ok(loaded)
    }

    /// Gives the lock back. A process that ends gives it back too, so that it fails is only told.
    pub(crate) async fn unlock(&mut self, session: &Session) {
        if let Some(fence) = self.fence.take()
            && let Err(error) = self.store.unlock(fence).await
        {
            session.report(&failed("The lock was not given back", &error).into());
        }
    }
}

fn refused(error: &LockError) -> Diagnostic {
    let diagnostic = failed("Error acquiring the state lock", error);
    match error {
        LockError::Held { .. } => diagnostic.hint(
            "Wait until it has ended, or let this command wait with -lock-timeout=5m. The lock of a process that has died is \
             free by itself.",
        ),
        LockError::Io { .. } => diagnostic,
    }
}
