//! State in files beside the configuration: the state file, its journal, its backup, its lock.
//!
//! | File | What it is |
//! |---|---|
//! | `sliceform.tfstate` | the snapshot, version 4 |
//! | `sliceform.tfstate.backup` | the one before it |
//! | `sliceform.tfstate.journal` | what was recorded since |
//! | `.sliceform.tfstate.lock.info` | who holds the lock; the lock itself is the operating system's |

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    Base, Fence, LoadError, Loaded, LockError, LockInfo, Record, Snapshot, Store, TERRAFORM_VERSION, WriteError,
    files::{Files, Held, OsFiles},
    journal, record,
    store::{check_successor, next_fence},
    v4,
};

/// The name of the state file.
pub const STATE_FILE: &str = "sliceform.tfstate";

/// State in files. File work is small and blocks.
pub struct FileStore<F = OsFiles> {
    files: F,
    paths: Paths,
    lock: Mutex<Option<Lock>>,
}

#[derive(Clone, Debug)]
struct Paths {
    dir: PathBuf,
    state: PathBuf,
    backup: PathBuf,
    journal: PathBuf,
    lock: PathBuf,
    temporary: PathBuf,
}

/// A lock that this store holds, and what is known under it: nobody else writes.
struct Lock {
    fence: Fence,
    /// Until when a run may append: it has said that it begins.
    begun: bool,
    stored: Option<Stored>,
    /// What was loaded when the lock was taken, for the first `load` after it.
    loaded: Option<Loaded>,
    /// Dropped last.
    _held: Held,
}

/// What the files hold.
#[derive(Clone, Debug)]
struct Stored {
    /// Of the snapshot; `None`: there is none.
    head: Option<Head>,
    /// So many bytes of the journal are whole.
    journal: u64,
}

/// What stands above the contents of a snapshot.
#[derive(Clone, Debug)]
struct Head {
    base: Base,
    terraform_version: String,
}

impl FileStore<OsFiles> {
    /// The state in this file; it need not be there yet, but its directory must.
    pub fn new(state: PathBuf) -> Self {
        Self::with(OsFiles, state)
    }

    /// Every file that the state in this directory may have; none need be there. What is left of a write that was cut
    /// off by a crash is among them.
    pub fn files(dir: &Path) -> [PathBuf; 5] {
        let Paths { dir: _, state, backup, journal, lock, temporary } = Paths::of(dir.join(STATE_FILE));
        [state, backup, journal, lock, temporary]
    }
}

impl<F: Files> FileStore<F> {
    /// The same over other file operations.
    pub fn with(files: F, state: PathBuf) -> Self {
        Self { files, paths: Paths::of(state), lock: Mutex::new(None) }
    }

    fn guard(&self) -> MutexGuard<'_, Option<Lock>> {
        // Nothing under the lock is left half done: files are, and they are read again.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, LoadError> {
        self.files.read(path).map_err(|source| LoadError::Io { store: name(path), source: source.into() })
    }

    fn read_all(&self) -> Result<(Loaded, Stored), LoadError> {
        let Paths { state, journal: path, .. } = &self.paths;
        let snapshot = match self.read(state)? {
            None => None,
            Some(bytes) => Some(v4::read(&bytes).map_err(|source| LoadError::Format { store: name(state), source })?),
        };
        let tail = journal::read(&self.read(path)?.unwrap_or_default())
            .map_err(|source| LoadError::Journal { store: name(path), source })?;
        let mut notes = Vec::new();
        if tail.torn > 0 {
            notes.push(format!(
                "The end of {} was cut off by a crash: {} bytes of a record that was never confirmed are left out.",
                path.display(),
                tail.torn
            ));
        }
        let stored = Stored {
            head: snapshot.as_ref().map(|s| Head { base: s.base(), terraform_version: s.terraform_version.clone() }),
            journal: tail.whole as u64,
        };
        let records = record::effective(snapshot.as_ref(), tail.records);
        let loaded = Loaded { snapshot, records, notes };
        if !loaded.records.is_empty() {
            loaded.fold().map_err(|source| LoadError::Foreign { store: name(path), source: Box::new(source) })?;
        }
        Ok((loaded, stored))
    }

    fn locked<'a>(&self, guard: &'a mut Option<Lock>, fence: Fence) -> Result<&'a mut Lock, WriteError> {
        match guard {
            Some(lock) if lock.fence == fence => Ok(lock),
            _ => Err(WriteError::NotLocked { store: self.name() }),
        }
    }

    /// What the files hold, known since the lock was taken or read now; what cannot be understood is not overwritten.
    fn stored(&self, lock: &mut Lock) -> Result<Stored, WriteError> {
        if let Some(stored) = &lock.stored {
            return Ok(stored.clone());
        }
        let (_, stored) = self.read_all().map_err(|error| WriteError::Load(Box::new(error)))?;
        Ok(lock.stored.insert(stored).clone())
    }

    /// Puts a file with these bytes in the place of another; durable once the directory is.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let temporary = &self.paths.temporary;
        let written = self
            .files
            .write(temporary, 0, bytes)
            .and_then(|()| self.files.sync(temporary))
            .and_then(|()| self.files.rename(temporary, path));
        written.map_err(failed(path))
    }

    fn sync_dir(&self) -> Result<(), WriteError> {
        self.files.sync_dir(&self.paths.dir).map_err(failed(&self.paths.dir))
    }

    /// The snapshot, its backup first. Where it says what is stored, nothing is written.
    fn write_snapshot(&self, stored: Option<Head>, snapshot: &Snapshot) -> Result<Head, WriteError> {
        let path = &self.paths.state;
        if let Some(stored) = stored {
            check_successor(&stored.base, snapshot, &self.name())?;
            let before = self.files.read(path).map_err(failed(path))?.unwrap_or_default();
            if stored.of(snapshot).as_bytes() == before {
                return Ok(stored);
            }
            self.replace(&self.paths.backup, &before)?;
        }
        let base = Base { serial: snapshot.serial + 1, ..snapshot.base() };
        let next = Head { base, terraform_version: TERRAFORM_VERSION.to_owned() };
        self.replace(path, next.of(snapshot).as_bytes())?;
        self.sync_dir()?;
        Ok(next)
    }

    /// The journal, without what the snapshot now holds. Returns its length.
    fn cut_journal(&self, whole: u64) -> Result<u64, WriteError> {
        let path = &self.paths.journal;
        let Some(bytes) = self.files.read(path).map_err(failed(path))? else { return Ok(0) };
        let tail = journal::read(&bytes[..bytes.len().min(whole as usize)])
            .map_err(|source| WriteError::Load(Box::new(LoadError::Journal { store: name(path), source })))?;
        let carried = journal::write(&record::carried_over(&tail.records));
        if carried.is_empty() {
            self.files.remove(path).map_err(failed(path))?;
        } else {
            self.replace(path, &carried)?;
        }
        self.sync_dir()?;
        Ok(carried.len() as u64)
    }
}

#[async_trait]
impl<F: Files> Store for FileStore<F> {
    fn name(&self) -> String {
        name(&self.paths.state)
    }

    async fn lock(&self, info: &LockInfo) -> Result<Fence, LockError> {
        let path = &self.paths.lock;
        let io = |source: io::Error| LockError::Io { store: name(path), source: source.into() };
        let mut guard = self.guard();
        let Some(held) = self.files.try_lock(path).map_err(io)? else {
            let holder = self.files.read(path).ok().flatten();
            let holder = holder.and_then(|bytes| serde_json::from_slice(&bytes).ok()).map(Box::new);
            return Err(LockError::Held { store: self.name(), holder });
        };
        let info = LockInfo { path: self.name(), ..info.clone() };
        let text = serde_json::to_vec(&info).expect("a lock has nothing that JSON cannot say");
        self.files.write(path, 0, &text).map_err(io)?;
        // What cannot be loaded cannot be written either: `load` will say why.
        let (loaded, stored) = self.read_all().ok().unzip();
        let fence = next_fence(loaded.as_ref(), &info);
        *guard = Some(Lock { fence, begun: false, stored, loaded, _held: held });
        Ok(fence)
    }

    async fn load(&self) -> Result<Loaded, LoadError> {
        if let Some(loaded) = self.guard().as_mut().and_then(|lock| lock.loaded.take()) {
            return Ok(loaded);
        }
        Ok(self.read_all()?.0)
    }

    async fn append(&self, records: &[Record], fence: Fence) -> Result<(), WriteError> {
        let mut guard = self.guard();
        let lock = self.locked(&mut guard, fence)?;
        let Some(first) = records.first() else { return Ok(()) };
        assert!(lock.begun || matches!(first, Record::Begin(_)), "the first record of a run begins it");
        let Stored { head, journal: end } = self.stored(lock)?;
        lock.loaded = None;
        let (path, bytes) = (&self.paths.journal, journal::write(records));
        let written = self.files.write(path, end, &bytes).and_then(|()| self.files.sync(path));
        written.map_err(failed(path))?;
        if end == 0 {
            self.sync_dir()?;
        }
        lock.begun = true;
        lock.stored = Some(Stored { head, journal: end + bytes.len() as u64 });
        Ok(())
    }

    async fn commit(&self, snapshot: &Snapshot, fence: Fence) -> Result<u64, WriteError> {
        let mut guard = self.guard();
        let lock = self.locked(&mut guard, fence)?;
        let stored = self.stored(lock)?;
        // Whatever happens on the way: look at the files again.
        (lock.stored, lock.loaded, lock.begun) = (None, None, false);
        let head = self.write_snapshot(stored.head, snapshot)?;
        let serial = head.base.serial;
        let journal = self.cut_journal(stored.journal)?;
        lock.stored = Some(Stored { head: Some(head), journal });
        Ok(serial)
    }

    async fn unlock(&self, fence: Fence) -> Result<(), WriteError> {
        let mut guard = self.guard();
        self.locked(&mut guard, fence)?;
        let removed = self.files.remove(&self.paths.lock).map_err(failed(&self.paths.lock));
        *guard = None;
        removed
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let store = name(path);
    move |source| WriteError::Io { store, source: source.into() }
}

/// A file as messages name it.
fn name(path: &Path) -> String {
    path.display().to_string()
}

impl Head {
    /// The file that has this above the contents of a snapshot.
    fn of(&self, snapshot: &Snapshot) -> String {
        let Self { base: Base { serial, .. }, terraform_version } = self.clone();
        v4::write(&Snapshot { serial, terraform_version, ..snapshot.clone() })
    }
}

impl Paths {
    fn of(state: PathBuf) -> Self {
        let name = state.file_name().unwrap_or(STATE_FILE.as_ref()).to_owned();
        let around = |before: &str, after: &str| {
            let mut file = OsString::from(before);
            file.push(&name);
            file.push(after);
            state.with_file_name(file)
        };
        Self {
            dir: state.parent().unwrap_or(Path::new("")).to_owned(),
            backup: around("", ".backup"),
            journal: around("", ".journal"),
            lock: around(".", ".lock.info"),
            temporary: around(".", ".tmp"),
            state,
        }
    }
}
