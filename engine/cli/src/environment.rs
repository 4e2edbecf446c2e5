//! What a run of the command gets from outside, so that a test gives it the same.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Write},
    path::PathBuf,
    sync::{Arc, Mutex},
};

use providers_api::Provider;
use tokio_util::sync::CancellationToken;

/// Where a run comes from.
pub struct Environment {
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// Standard input.
    pub input: Box<dyn BufRead + Send>,
    /// Is somebody there to answer?
    pub interactive: bool,
    /// Where somebody types lines: how they are edited.
    pub editor: Option<Box<dyn LineEditor>>,
    /// "user@host", for locks and the journal.
    pub who: String,
    /// Cancelled at the first interrupt.
    pub interrupt: CancellationToken,
    /// Providers besides those that are compiled in: none but in tests.
    pub providers: Vec<Arc<dyn Provider>>,
}

/// Lines that somebody types.
pub trait LineEditor: Send {
    /// The next line, without its end; `None`: there are no more.
    fn line(&mut self, prompt: &str) -> Option<String>;
}

/// Where a run writes.
#[derive(Clone)]
pub struct Out {
    /// Standard output.
    pub stdout: Shared,
    /// Standard error.
    pub stderr: Shared,
    /// Is standard output a terminal?
    pub terminal: bool,
}

/// Something that several tasks write to, a whole piece at a time.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<dyn Write + Send>>);

impl Shared {
    /// Writes to that.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(out)))
    }

    fn with<T>(&self, write: impl FnOnce(&mut dyn Write) -> T) -> T {
        // A panic while writing leaves at most half a line behind.
        write(&mut *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|out| out.write(bytes))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|out| out.write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|out| out.flush())
    }
}
