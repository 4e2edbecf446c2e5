//! The file operations that [`crate::FileStore`] is built on: few and small, so that a test can stop at each of them.
//!
//! Nothing is durable before `sync` (what is in a file) and `sync_dir` (what a directory names).

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write},
    path::Path,
};

/// A lock that is held until this is dropped.
pub type Held = Box<dyn Send + Sync>;

/// File operations. All of them block.
pub trait Files: Send + Sync {
    /// The whole file; `None`: there is none.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// The first `keep` bytes of the file stay, and these follow. Made where there is none.
    ///
    /// # Errors
    /// It cannot be written; what lies behind `keep` is then anything.
    fn write(&self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<()>;

    /// What is in the file is durable when this returns.
    ///
    /// # Errors
    /// It may not be durable.
    fn sync(&self, path: &Path) -> io::Result<()>;

    /// What the directory names is durable when this returns.
    ///
    /// # Errors
    /// It may not be durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, in the place of what has that name.
    ///
    /// # Errors
    /// Nothing was done.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file; one that is not there is no error.
    ///
    /// # Errors
    /// It is still there.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Takes the lock that goes with a file, made where there is none. `None`: somebody else holds it. A process that
    /// ends, however it ends, holds it no longer. Whoever removes the file does so while holding the lock.
    ///
    /// # Errors
    /// It cannot be taken.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Held>>;
}

/// The files of the operating system. New ones are readable by their owner alone: state holds secrets in clear.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFiles;

impl OsFiles {
    fn open(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    }
}

impl Files for OsFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = Self::open(path)?;
        file.set_len(keep)?;
        io::Seek::seek(&mut file, io::SeekFrom::Start(keep))?;
        file.write_all(bytes)
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(if path.as_os_str().is_empty() { Path::new(".") } else { path })?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Held>> {
        loop {
            let file = Self::open(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path)? => return Ok(Some(Box::new(file))),
                // The last holder removed it between our opening and our locking: ours is a lock that nobody sees.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

/// Is the open file still what the path names?
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
