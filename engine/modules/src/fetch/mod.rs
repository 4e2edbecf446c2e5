//! Packages, from where they are to a directory of this machine. Every text that comes from here is without passwords and
//! tokens.

mod checksum;
mod client;
mod download;
mod git;
mod tls;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use engine_lang::config::{Package, PackageKind};

pub(crate) use client::{Client, Url};
pub(crate) use download::{header, located};

use crate::{archive, credentials::Credentials};

/// What a package may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an archive.
    pub download: u64,
    /// Bytes of all files in it.
    pub unpacked: u64,
    /// Files, directories and links in it.
    pub entries: u64,
}

/// Archives of modules are below one MiB; repositories with tests and pictures reach some tens of MiB. What is larger by
/// an order of magnitude is a mistake, or a bomb.
impl Default for Limits {
    fn default() -> Self {
        Self { download: 256 << 20, unpacked: 1 << 30, entries: 100_000 }
    }
}

/// Why something could not be fetched, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct FetchError {
    message: String,
    pub(crate) hint: Option<String>,
}

impl FetchError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn io(what: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("{what} {}: {error}", path.display()))
    }
}

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The package's files, in a directory that is ours to move.
    Directory(PathBuf),
    /// A directory that somebody keeps on this machine: it is used where it is.
    Link(PathBuf),
}

/// Fetches packages.
pub(crate) struct Fetcher {
    pub(crate) client: Client,
    git: git::Git,
    limits: Limits,
}

impl Fetcher {
    pub(crate) fn new(
        variables: &BTreeMap<String, String>,
        credentials: &Credentials,
        limits: Limits,
    ) -> Result<Self, FetchError> {
        let client = Client::new(variables, credentials.netrc.clone())?;
        Ok(Self { client, git: git::Git::new(variables), limits })
    }

    /// Fetches a package into a directory that does not exist yet.
    pub(crate) async fn fetch(&self, package: &Package, into: &Path) -> Result<Content, FetchError> {
        match package.kind {
            PackageKind::Git => {
                self.git.fetch(package, into).await?;
                Ok(Content::Directory(into.to_owned()))
            }
            PackageKind::Http => self.download(package, into).await.map(Content::Directory),
            PackageKind::File => self.local(package, into).await,
        }
    }

    /// A directory, or an archive, of this machine.
    async fn local(&self, package: &Package, into: &Path) -> Result<Content, FetchError> {
        let (url, parameters) = package.parameters();
        let path = url.strip_prefix("file://").filter(|path| path.starts_with('/'));
        let path = path.ok_or_else(|| {
            FetchError::new(format!("{} is no absolute path", package.shown())).hint("Write file:///DIRECTORY.")
        })?;
        let path = PathBuf::from(percent_decoded(path));
        let metadata = std::fs::metadata(&path).map_err(|error| FetchError::io("cannot read", &path, &error))?;
        if metadata.is_dir() {
            return Ok(Content::Link(path));
        }
        let wanted = download::Wanted::of(&parameters, url)?;
        let Some(kind) = wanted.archive else {
            let error = FetchError::new(format!("{} is neither a directory nor an archive", path.display()));
            return Err(error.hint(archive::KINDS));
        };
        self.unpack(path, kind, wanted.checksum.as_deref(), into).await
    }

    /// Checks an archive that lies on this machine, and unpacks it.
    async fn unpack(
        &self,
        file: PathBuf,
        kind: archive::Kind,
        checksum: Option<&str>,
        into: &Path,
    ) -> Result<Content, FetchError> {
        if let Some(checksum) = checksum {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            self.verify(&file, &name, checksum).await?;
        }
        let (limits, target) = (self.limits, into.to_owned());
        let unpacked = tokio::task::spawn_blocking(move || archive::unpack(&file, kind, &target, limits)).await;
        unpacked.map_err(|_| FetchError::new("unpacking was interrupted"))??;
        Ok(Content::Directory(into.to_owned()))
    }
}

/// `%41` is `A`. What is no escape stays as it is.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
