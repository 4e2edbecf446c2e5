//! The agent's own memory across a crash: which operation it has begun on the hardware.
//!
//! One small file, replaced as a whole. It is durable before the first change of an operation is made, so that after a
//! crash the agent knows that a difference from the precondition is its own doing, and goes on.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

/// The journal cannot be read or written. Nothing is changed on the node then.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the agent's journal {}", path.display())]
pub struct JournalError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Where the agent remembers what it has begun.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The operation that was begun last.
    pub begun: Option<String>,
    /// The highest fencing token that was obeyed.
    pub fence: u64,
}

impl Journal {
    /// A journal in that file. Its directory must exist and survive a restart of the agent.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn error(&self, source: io::Error) -> JournalError {
        JournalError { path: self.path.clone(), source }
    }

    /// What was begun; nothing where there is no file. A file that is no journal is an error: it is not overwritten.
    pub(crate) fn load(&self) -> Result<Memory, JournalError> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| self.error(io::Error::other(e))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Memory::default()),
            Err(e) => Err(self.error(e)),
        }
    }

    /// Durable when it returns: written beside, synced, renamed, and the directory synced.
    pub(crate) fn store(&self, memory: &Memory) -> Result<(), JournalError> {
        let write = || -> io::Result<()> {
            let beside = self.path.with_extension("new");
            let mut file = File::create(&beside)?;
            file.write_all(&serde_json::to_vec(memory)?)?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)?;
            match self.path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
                Some(dir) => File::open(dir)?.sync_all(),
                None => Ok(()),
            }
        };
        write().map_err(|e| self.error(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_loaded_and_foreign_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("journal"));
        assert_eq!(journal.load().unwrap(), Memory::default());
        let memory = Memory { begun: Some("op-1".to_owned()), fence: 7 };
        journal.store(&memory).unwrap();
        assert_eq!(journal.load().unwrap(), memory);
        fs::write(dir.path().join("journal"), "not a journal").unwrap();
        assert!(journal.load().unwrap_err().to_string().contains("journal"));
        assert_eq!(fs::read_to_string(dir.path().join("journal")).unwrap(), "not a journal");
    }
}
