//! `sandbox reset`: removes the world, so that the next command makes a new one.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::holder;
use crate::store::{OpenError, Store};

/// Removes the world in the folder `dir` and its agents' journals; `false` if there was none. What else is in the folder,
/// such as the state that belongs to the world, is the caller's.
///
/// # Errors
/// A process has it open, or a file cannot be removed.
pub fn reset(dir: &Path) -> Result<bool, SandboxError> {
    let world = dir.join("world");
    if !world.exists() {
        return Ok(false);
    }
    // Held until everything is gone. A damaged store is locked as well as a whole one while it is looked at; then it has
    // no lock, and nobody else can open it either.
    let lock = match Store::open(&world) {
        Err(OpenError::InUse { .. }) => {
            let (dir, holder) = (dir.to_owned(), holder::read(dir));
            return Err(SandboxError::Busy { dir, holder, waited: Duration::ZERO });
        }
        store => store.ok(),
    };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SandboxError::File { action: "remove", path, source }
    };
    Endpoint::remove(dir).map_err(failed(dir))?;
    for part in [dir.join("agents"), world] {
        match fs::remove_dir_all(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&part)(error)),
            _ => {}
        }
    }
    holder::remove(dir);
    drop(lock);
    Ok(true)
}
