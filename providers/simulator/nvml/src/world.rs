//! The file that holds the node.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use providers_simulator::Node;

/// Why the node cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The file system refuses.
    #[error("cannot use the simulated node in {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file does not hold a node.
    #[error("{path} does not hold a simulated node")]
    Form {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// The node in that file.
pub fn read(path: &Path) -> Result<Node, WorldError> {
    let text = fs::read(path).map_err(|source| WorldError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| WorldError::Form { path: path.to_owned(), source })
}

/// Works on the node in that file while nobody else does, and writes it back if it has changed.
pub fn edit<T>(path: &Path, work: impl FnOnce(&mut Node) -> T) -> Result<T, WorldError> {
    let failed = |source| WorldError::Io { path: path.to_owned(), source };
    // Beside the file and not on it, since the file is replaced. Closing it unlocks.
    let lock = File::create(path.with_extension("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let before = read(path)?;
    let mut node = before.clone();
    let answer = work(&mut node);
    if node != before {
        let text =
            serde_json::to_vec_pretty(&node).map_err(|source| WorldError::Form { path: path.to_owned(), source })?;
        let new = path.with_extension("new");
        fs::write(&new, text).map_err(failed)?;
        fs::rename(&new, path).map_err(failed)?;
    }
    Ok(answer)
}
