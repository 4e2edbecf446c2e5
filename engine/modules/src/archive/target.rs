//! Where an archive is unpacked: names, links and amounts are checked here, whatever the format.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Component, Path, PathBuf},
};

use super::broken;
use crate::{
    fetch::{FetchError, Limits},
    place,
};

/// The longest text of a link.
pub(super) const MAX_LINK: u64 = 4096;

/// A directory in the making.
pub(super) struct Target {
    root: PathBuf,
    /// Links are made last, so that no file is written through one.
    links: Vec<(PathBuf, PathBuf)>,
    entries: u64,
    bytes: u64,
    limits: Limits,
}

impl Target {
    pub(super) fn new(root: &Path, limits: Limits) -> Result<Self, FetchError> {
        fs::create_dir_all(root).map_err(|error| FetchError::io("cannot make", root, &error))?;
        Ok(Self { root: root.to_owned(), links: Vec::new(), entries: 0, bytes: 0, limits })
    }

    /// Notes one more entry, and says where it belongs. `None`: it is the root itself.
    pub(super) fn place(&mut self, name: &str) -> Result<Option<PathBuf>, FetchError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(FetchError::new(format!("it has more than {} entries", self.limits.entries)));
        }
        let mut path = PathBuf::new();
        // Archives made elsewhere may have the other separator, which here would be a part of a name.
        for part in Path::new(&name.replace('\\', "/")).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => path.push(part),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(leads_out(name)),
            }
        }
        if name.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(FetchError::new(format!("{name:?} is no name of a file")));
        }
        Ok((!path.as_os_str().is_empty()).then(|| self.root.join(path)))
    }

    pub(super) fn directory(&self, path: &Path) -> Result<(), FetchError> {
        fs::create_dir_all(path).map_err(|error| self.io(path, &error))
    }

    /// Writes a file with what `content` gives.
    pub(super) fn file(&mut self, path: &Path, content: &mut dyn Read, executable: bool) -> Result<(), FetchError> {
        if let Some(parent) = path.parent() {
            self.directory(parent)?;
        }
        let mode = if executable { 0o755 } else { 0o644 };
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path);
        let mut file = file.map_err(|error| self.io(path, &error))?;
        let left = self.limits.unpacked - self.bytes;
        let mut buffer = vec![0; 64 << 10];
        let mut written = 0;
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(error)),
            };
            written += read as u64;
            if written > left {
                return Err(FetchError::new(format!(
                    "its files are larger than {} KiB together, the most that is unpacked",
                    self.limits.unpacked >> 10
                )));
            }
            file.write_all(&buffer[..read]).map_err(|error| self.io(path, &error))?;
        }
        self.bytes += written;
        Ok(())
    }

    /// Writes a file that is another name of one that was written before.
    pub(super) fn same(&mut self, path: &Path, other: &Path) -> Result<(), FetchError> {
        let mut file = fs::File::open(other).map_err(|error| self.io(other, &error))?;
        if path == other {
            return Ok(());
        }
        let executable = file.metadata().is_ok_and(|metadata| is_executable(&metadata));
        self.file(path, &mut file, executable)
    }

    /// Notes a link.
    pub(super) fn link(&mut self, path: PathBuf, to: &str) -> Result<(), FetchError> {
        if to.is_empty() || to.len() as u64 > MAX_LINK || to.starts_with('/') {
            return Err(leads_out(to));
        }
        self.links.push((path, PathBuf::from(to)));
        Ok(())
    }

    /// Makes the links, and checks that none leads out.
    pub(super) fn finish(self) -> Result<(), FetchError> {
        for (path, to) in &self.links {
            if let Some(parent) = path.parent() {
                self.directory(parent)?;
            }
            symlink(to, path).map_err(|error| self.io(path, &error))?;
            // Before the next one: it could be made through this one.
            place::check_link(&self.root, path)?;
        }
        place::check_links(&self.root)
    }

    fn io(&self, path: &Path, error: &io::Error) -> FetchError {
        let shown = path.strip_prefix(&self.root).unwrap_or(path);
        FetchError::new(format!("cannot write {}: {error}", shown.display()))
    }
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

fn leads_out(name: &str) -> FetchError {
    FetchError::new(format!("its entry {name:?} leads out of the directory"))
        .hint("Nothing of it was used. No honest archive of a module has such an entry.")
}
