//! Packages by HTTP: an archive; or an answer that says where the package really is, by the header `X-Terraform-Get` or a
//! `meta` tag.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use engine_lang::config::{ModuleSource, Package, PackageKind, RemoteModule};
use http::HeaderMap;

use super::{Content, FetchError, Fetcher, Url};
use crate::{archive, place};

/// How often an answer may say that the package is elsewhere.
const DETOURS: usize = 8;

/// The longest page that is searched for a `meta` tag.
const PAGE: usize = 1 << 20;

/// What the parameters of a URL ask for.
pub(super) struct Wanted {
    /// Which kind of archive it is. `None`: none.
    pub(super) archive: Option<archive::Kind>,
    pub(super) checksum: Option<String>,
    /// The other parameters, which are the server's.
    query: String,
}

impl Wanted {
    pub(super) fn of(parameters: &[(&str, &str)], url: &str) -> Result<Self, FetchError> {
        let last = |wanted: &str| parameters.iter().rev().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let archive = match last("archive") {
            Some("false" | "0") => None,
            Some(name) => Some(archive::Kind::named(name).ok_or_else(|| {
                FetchError::new(format!("archive={name} is no kind of archive")).hint(archive::KINDS)
            })?),
            None => archive::Kind::of_path(url),
        };
        let others = parameters.iter().filter(|(name, _)| !matches!(*name, "archive" | "checksum"));
        let query: Vec<String> = others.map(|(name, value)| format!("{name}={value}")).collect();
        Ok(Self { archive, checksum: last("checksum").map(str::to_owned), query: query.join("&") })
    }
}

impl Fetcher {
    /// Fetches a package by HTTP. The directory that it is in may be below `into`.
    pub(super) async fn download(&self, package: &Package, into: &Path) -> Result<PathBuf, FetchError> {
        let mut package = package.clone();
        let mut subdirectory = String::new();
        for _ in 0..DETOURS {
            let fetched = match package.kind {
                PackageKind::Http => match self.answer(&package, into).await? {
                    Found::Package => into.to_owned(),
                    Found::Elsewhere(next) => {
                        package = next.package;
                        subdirectory = engine_lang::config::join(&next.subdirectory, &subdirectory);
                        continue;
                    }
                },
                PackageKind::Git => {
                    self.git.fetch(&package, into).await?;
                    into.to_owned()
                }
                PackageKind::File => return Err(own_files(&package)),
            };
            return place::subdirectory(&fetched, &subdirectory).map(|(directory, _)| directory);
        }
        Err(FetchError::new(format!("{} says {DETOURS} times that the package is elsewhere", package.shown())))
    }

    async fn answer(&self, package: &Package, into: &Path) -> Result<Found, FetchError> {
        let (address, parameters) = package.parameters();
        let wanted = Wanted::of(&parameters, address)?;
        let whole = if wanted.query.is_empty() { address.to_owned() } else { format!("{address}?{}", wanted.query) };
        let url = Url::parse(&whole)?;
        let Some(kind) = wanted.archive else {
            if wanted.checksum.is_some() {
                let error = FetchError::new(format!("{url} is no archive, and has no checksum"));
                return Err(error.hint(archive::KINDS));
            }
            return self.elsewhere(&url).await.map(Found::Elsewhere);
        };
        let name = url.path().rsplit('/').next().unwrap_or_default().to_owned();
        let file = self.archive(&url).await?;
        if let Some(checksum) = &wanted.checksum {
            self.verify(file.path(), &name, checksum).await?;
        }
        let unpacked = self.unpack(file.path().to_owned(), kind, None, into).await;
        match unpacked {
            Ok(Content::Directory(_)) => Ok(Found::Package),
            Ok(Content::Link(_)) => Err(FetchError::new("an archive is no link")),
            Err(error) => {
                let hint = error.hint.clone();
                let error = FetchError::new(format!("the archive {url} cannot be used: {error}"));
                Err(hint.into_iter().fold(error, FetchError::hint))
            }
        }
    }

    /// Downloads an archive into a file, which goes when it is dropped.
    async fn archive(&self, url: &Url) -> Result<tempfile::NamedTempFile, FetchError> {
        let mut answer = self.client.get(url, None).await?.successful()?;
        let failed = |error: std::io::Error| FetchError::new(format!("cannot keep what {url} sends: {error}"));
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        let mut total = 0;
        while let Some(piece) = answer.piece().await? {
            total += piece.len() as u64;
            if total > self.limits.download {
                return Err(FetchError::new(format!(
                    "the archive {url} is larger than {} KiB, the most that is downloaded",
                    self.limits.download >> 10
                )));
            }
            file.write_all(&piece).map_err(failed)?;
        }
        file.flush().map_err(failed)?;
        Ok(file)
    }

    /// Where a server says that the package is.
    async fn elsewhere(&self, url: &Url) -> Result<RemoteModule, FetchError> {
        let answer = self.client.get(&url.with("terraform-get=1")?, None).await?.successful()?;
        let from = answer.url.clone();
        let location = match header(&answer.headers) {
            Some(location) => Some(location),
            None => meta(&answer.text(PAGE).await?),
        };
        let Some(location) = location else {
            let error = FetchError::new(format!(
                "{url} has the name of no archive, and its answer does not say where the module is (X-Terraform-Get)"
            ));
            return Err(error.hint(format!("If it is an archive, say so: ?archive=tar.gz. {}", archive::KINDS)));
        };
        located(&location, &from)
    }
}

enum Found {
    /// The package is where it was asked for.
    Package,
    Elsewhere(RemoteModule),
}

/// The header that says where a module is.
pub(crate) fn header(headers: &HeaderMap) -> Option<String> {
    headers.get("x-terraform-get").and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// What a server says where a module is: an address like one that is written, or relative to its own.
pub(crate) fn located(location: &str, from: &Url) -> Result<RemoteModule, FetchError> {
    let is_relative = location.starts_with('/') || location.starts_with("./") || location.starts_with("../");
    let absolute = if is_relative {
        // The directory within the package must not be taken for a part of the path.
        let (path, query) = location.find('?').map_or((location, ""), |at| location.split_at(at));
        let (path, directory) = path.split_once("//").unwrap_or((path, ""));
        let url = from.join(path)?.unshown();
        let directory = if directory.is_empty() { String::new() } else { format!("//{directory}") };
        format!("{url}{directory}{query}")
    } else {
        location.to_owned()
    };
    match ModuleSource::parse(&absolute, false) {
        Ok(ModuleSource::Remote(remote)) if is_own(&remote.package) => Err(own_files(&remote.package)),
        Ok(ModuleSource::Remote(remote)) => Ok(remote),
        Ok(_) => Err(FetchError::new(format!("{from} says that the module is at a place that is no address"))),
        Err(error) => Err(FetchError::new(format!("{from} says that the module is elsewhere. {}", error.detail))),
    }
}

fn is_own(package: &Package) -> bool {
    package.kind == PackageKind::File || package.url.starts_with("file:")
}

fn own_files(package: &Package) -> FetchError {
    let shown = package.shown();
    FetchError::new(format!("a server says that the module is at {shown}, which would be on this machine"))
        .hint("Write that address as the source, if it is what you mean.")
}

/// `content` of `<meta name="terraform-get" content="…">`.
fn meta(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find("<meta").map(|at| from + at) {
        let end = lower[at..].find('>').map_or(page.len(), |end| at + end);
        let tag = &page[at + "<meta".len()..end];
        if attribute(tag, "name").as_deref() == Some("terraform-get") {
            return attribute(tag, "content");
        }
        from = end;
    }
    None
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let (front, behind) = rest.split_once('=')?;
        let found = front.trim().rsplit(char::is_whitespace).next()?.eq_ignore_ascii_case(name);
        let behind = behind.trim_start();
        let (value, next) = match behind.chars().next()? {
            quote @ ('"' | '\'') => behind[1..].split_once(quote)?,
            _ => behind.split_once(char::is_whitespace).unwrap_or((behind.trim_end_matches('/'), "")),
        };
        if found {
            return Some(value.replace("&amp;", "&"));
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meta_tag_says_where_a_module_is() {
        for (page, expected) in [
            (
                r#"<html><head><META charset=utf-8><meta name="terraform-get" content="git::https://e.com/x.git?a=1&amp;ref=v1"/>"#,
                Some("git::https://e.com/x.git?a=1&ref=v1"),
            ),
            ("<meta content='https://e.com/x.zip' name='terraform-get'>", Some("https://e.com/x.zip")),
            ("<meta name=terraform-get content=https://e.com/x.zip>", Some("https://e.com/x.zip")),
            ("<meta name=\"other\" content=\"x\">", None),
            ("<meta name=\"terraform-get", None),
            ("", None),
        ] {
            assert_eq!(meta(page).as_deref(), expected, "{page}");
        }
    }

    #[test]
    fn a_server_names_no_files_of_this_machine() {
        let from = Url::parse("https://e.com/a/b?x=1").unwrap();
        for (location, expected) in [
            ("./x.tar.gz//sub?archive=tgz", "https://e.com/a/x.tar.gz//sub?archive=tgz"),
            ("/etc", "https://e.com/etc"),
            ("git::https://other.com/x.git//a?ref=v1", "git::https://other.com/x.git//a?ref=v1"),
        ] {
            assert_eq!(ModuleSource::Remote(located(location, &from).unwrap()).to_string(), expected);
        }
        for location in ["file:///etc", "git::file:///srv/x", "git::/srv/x", "hashicorp/consul/aws", "x", ""] {
            assert!(located(location, &from).is_err(), "{location}");
        }
    }
}
