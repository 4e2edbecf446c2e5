//! Files in memory that crash at a chosen operation and lose what was not durable: for tests that enumerate every
//! moment at which a machine may stop.
//!
//! Models what file systems promise and no more: content is durable after `sync`, names after `sync_dir`; without them
//! either may or may not survive, and added bytes may survive in part or as zeros.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::files::{Files, Held};

/// What a crash does to content that was not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is there: only the process died.
    Kept,
    /// It is as it was when it was last durable.
    Lost,
    /// Half of what was added is there.
    Half,
    /// The file is as long as it would be, and zero where it was not durable.
    Zeroed,
}

/// What a crash does to what was not durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// To content.
    pub content: Content,
    /// Names that are as they were when they were last durable.
    pub names: Vec<PathBuf>,
}

/// Files in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct CrashingFiles(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    inodes: Vec<Inode>,
    locks: BTreeSet<PathBuf>,
    operations: usize,
    crash_at: Option<usize>,
}

#[derive(Clone, Debug, Default)]
struct Inode {
    content: Vec<u8>,
    durable: Vec<u8>,
}

struct Unlock(CrashingFiles, PathBuf);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.disk().locks.remove(&self.1);
    }
}

impl CrashingFiles {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, operation number `n` (the next one is 1) and all after it fail and do nothing; `None`: none does.
    pub fn crash_at(&self, n: Option<usize>) {
        let mut disk = self.disk();
        (disk.operations, disk.crash_at) = (0, n);
    }

    /// So many operations were made since the last [`CrashingFiles::crash_at`].
    pub fn operations(&self) -> usize {
        self.disk().operations
    }

    /// Every loss that a crash may bring about now: names that are not durable survive each without the others.
    pub fn losses(&self) -> Vec<Loss> {
        let disk = self.disk();
        let names: BTreeSet<_> = disk.names.keys().chain(disk.durable_names.keys()).collect();
        let changed: Vec<_> =
            names.into_iter().filter(|name| disk.names.get(*name) != disk.durable_names.get(*name)).collect();
        let subsets = (0..1_usize << changed.len()).map(|bits| {
            let lost = changed.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            lost.map(|(_, name)| (*name).clone()).collect()
        });
        let subsets: Vec<Vec<PathBuf>> = subsets.collect();
        let contents = [Content::Kept, Content::Lost, Content::Half, Content::Zeroed];
        contents
            .into_iter()
            .flat_map(|content| subsets.iter().map(move |names| Loss { content, names: names.clone() }))
            .collect()
    }

    /// The machine starts again: another disk, with what survived.
    #[must_use]
    pub fn restarted(&self, loss: &Loss) -> Self {
        let disk = self.disk();
        let inodes: Vec<_> = disk.inodes.iter().map(|inode| inode.after(loss.content)).collect();
        let mut names = disk.names.clone();
        for name in &loss.names {
            match disk.durable_names.get(name) {
                Some(inode) => drop(names.insert(name.clone(), *inode)),
                None => drop(names.remove(name)),
            }
        }
        Self(Arc::new(Mutex::new(Disk { durable_names: names.clone(), names, inodes, ..Disk::default() })))
    }

    /// Everything that has a name.
    pub fn list(&self) -> Vec<PathBuf> {
        self.disk().names.keys().cloned().collect()
    }

    fn operation(&self) -> io::Result<MutexGuard<'_, Disk>> {
        let mut disk = self.disk();
        disk.operations += 1;
        if disk.crash_at.is_some_and(|n| disk.operations >= n) {
            return Err(io::Error::other("the machine has stopped"));
        }
        Ok(disk)
    }
}

impl Inode {
    fn after(&self, loss: Content) -> Self {
        let kept = if self.content.starts_with(&self.durable) { self.durable.len() } else { 0 };
        let added = self.content.len() - kept;
        let content = match loss {
            Content::Kept => self.content.clone(),
            Content::Lost => self.durable.clone(),
            Content::Half => self.content[..kept + added / 2].to_vec(),
            Content::Zeroed => [&self.content[..kept], &vec![0; added]].concat(),
        };
        Self { durable: content.clone(), content }
    }
}

impl Disk {
    fn open(&mut self, path: &Path) -> &mut Inode {
        let inode = *self.names.entry(path.to_owned()).or_insert_with(|| {
            self.inodes.push(Inode::default());
            self.inodes.len() - 1
        });
        &mut self.inodes[inode]
    }
}

impl Files for CrashingFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let disk = self.operation()?;
        Ok(disk.names.get(path).map(|inode| disk.inodes[*inode].content.clone()))
    }

    fn write(&self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.operation()?;
        let content = &mut disk.open(path).content;
        content.resize(keep as usize, 0);
        content.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.operation()?;
        let inode = disk.open(path);
        inode.durable = inode.content.clone();
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.operation()?;
        let inside = |name: &Path| name.parent() == Some(path);
        let now: Vec<_> = disk.names.iter().filter(|(name, _)| inside(name)).map(|(n, i)| (n.clone(), *i)).collect();
        disk.durable_names.retain(|name, _| !inside(name));
        disk.durable_names.extend(now);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.operation()?;
        let inode = disk.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        disk.names.insert(to.to_owned(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operation()?.names.remove(path);
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Held>> {
        let mut disk = self.operation()?;
        disk.open(path);
        let is_free = disk.locks.insert(path.to_owned());
        drop(disk);
        Ok(is_free.then(|| -> Held { Box::new(Unlock(self.clone(), path.to_owned())) }))
    }
}
