//! The whole command in this process, in a directory of its own, as one user of a cluster.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use engine_cli::{Environment, Out, Shared, run};
use engine_model::host::Host;
use tokio_util::sync::CancellationToken;

/// A directory with a configuration and its state. It ends with this.
pub struct Desk {
    directory: tempfile::TempDir,
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: u8,
    /// Both streams.
    pub text: String,
}

impl Ran {
    /// Checks the exit code.
    ///
    /// # Panics
    /// When it is another.
    #[track_caller]
    pub fn check(self, code: u8) -> String {
        assert_eq!(self.code, code, "{}", self.text);
        self.text
    }
}

/// This machine's clock and randomness: the agents of a fleet and whoever asks how old a heartbeat is live at one time.
#[derive(Debug)]
pub struct Machine;

impl Host for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes)).unwrap();
    }
}

/// What a command has printed so far.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Desk {
    /// An empty directory.
    ///
    /// # Panics
    /// When none can be made.
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// A file of the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs `sliceform ARGS` against the cluster of a kubeconfig.
    pub async fn run(&self, kubeconfig: &Path, args: &[&str]) -> Ran {
        let printed = Printed::default();
        let text = |path: &Path| path.display().to_string();
        let variables = BTreeMap::from([
            ("HOME".to_owned(), text(self.directory.path())),
            ("KUBE_CONFIG_PATH".to_owned(), text(kubeconfig)),
        ]);
        let environment = Environment {
            variables,
            directory: self.directory.path().to_owned(),
            input: Box::new(Cursor::new(Vec::new())),
            interactive: false,
            editor: None,
            who: "ops@host".to_owned(),
            interrupt: CancellationToken::new(),
            providers: Vec::new(),
        };
        let out = Out { stdout: Shared::new(printed.clone()), stderr: Shared::new(printed.clone()), terminal: false };
        let args = ["sliceform"].iter().chain(args).map(std::ffi::OsString::from);
        let exit = run(args, environment, Arc::new(Machine), out).await;
        let text = String::from_utf8_lossy(&printed.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
        Ran { code: exit.code(), text }
    }
}

impl Default for Desk {
    fn default() -> Self {
        Self::new()
    }
}
