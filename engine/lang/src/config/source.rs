//! The files of a configuration, in memory.
//!
//! Reads no disk: `engine-modules` fills a tree from directories, a plan file from its archive, a test from literals.

use std::{collections::BTreeMap, sync::Arc};

use super::version::Version;

/// Files by directory and name, and where modules were installed that come from elsewhere. Paths are relative to the
/// root module's directory, with `/`; the root itself is `.`, and what lies above it begins with `..`. Absolute paths
/// are those of modules that were installed elsewhere (`TF_DATA_DIR`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTree {
    directories: BTreeMap<Arc<str>, Directory>,
    installed: BTreeMap<Arc<str>, Installed>,
}

/// A module that was fetched from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Where from, in the spelling of [`super::ModuleSource`].
    pub source: Arc<str>,
    /// The version that was chosen, of modules of registries.
    pub version: Option<Version>,
    /// The directory of the package that it belongs to. Local modules that it calls are not outside of it.
    pub package: Arc<str>,
    /// Its own directory, in that of the package.
    pub directory: Arc<str>,
}

/// The files of one directory by their names.
pub type Directory = BTreeMap<Arc<str>, Arc<[u8]>>;

impl SourceTree {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: &str, bytes: impl Into<Arc<[u8]>>) {
        let (directory, name) = path.rsplit_once('/').unwrap_or((ROOT, path));
        self.insert_directory(&join(directory, ".")).insert(name.into(), bytes.into());
    }

    /// Notes that a directory is there, even if it holds no file.
    pub fn insert_directory(&mut self, directory: &str) -> &mut Directory {
        self.directories.entry(directory.into()).or_default()
    }

    /// Notes where a module was installed that is called by `key`: the names of the calls that lead to it, with periods
    /// between them.
    pub fn install(&mut self, key: &str, module: Installed) {
        self.installed.insert(key.into(), module);
    }

    /// Where the module was installed that is called by that key.
    pub fn installed(&self, key: &str) -> Option<&Installed> {
        self.installed.get(key)
    }

    /// Is any module of the configuration from elsewhere?
    pub fn has_installed(&self) -> bool {
        !self.installed.is_empty()
    }

    /// The files of one directory in the order of their names; `None` if there is no such directory.
    pub fn directory(&self, directory: &str) -> Option<&Directory> {
        self.directories.get(directory)
    }

    /// All files with their paths, ordered by directory, then name.
    pub fn files(&self) -> impl Iterator<Item = (String, &Arc<[u8]>)> {
        self.directories
            .iter()
            .flat_map(|(directory, files)| files.iter().map(|(name, bytes)| (path(directory, name), bytes)))
    }

    /// All directories, those without files too.
    pub fn directories(&self) -> impl Iterator<Item = &Arc<str>> {
        self.directories.keys()
    }
}

/// A file of a directory, as a person names it.
pub(super) fn path(directory: &str, name: &str) -> String {
    if directory == ROOT { name.to_owned() } else { format!("{directory}/{name}") }
}

/// The directory of the root module.
pub const ROOT: &str = ".";

/// The directory that `relative` names, seen from `directory`; both with `/`. `.` and `..` are resolved by the text
/// alone, without looking at links.
pub fn join(directory: &str, relative: &str) -> String {
    let is_absolute = directory.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(relative.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            _ => parts.push(part),
        }
    }
    if is_absolute {
        return format!("/{}", parts.join("/"));
    }
    if parts.is_empty() { ROOT.to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_joined_by_text() {
        for (directory, relative, expected) in [
            (".", "./a", "a"),
            ("a", "./b/", "a/b"),
            ("a/b", "../c", "a/c"),
            (".", "../x", "../x"),
            ("../x", "../y", "../y"),
            ("../x", "../../y", "../../y"),
            ("a", "..", "."),
            (".", ".", "."),
            ("/a/b", "../c/./d", "/a/c/d"),
            ("/a", "../../..", "/"),
        ] {
            assert_eq!(join(directory, relative), expected, "{directory} + {relative}");
        }
    }

    #[test]
    fn files_keep_their_paths() {
        let mut tree = SourceTree::new();
        for path in ["main.tf", "./b.tf", "m/x.tf", "../up/y.tf"] {
            tree.insert(path, *b"x");
        }
        let paths: Vec<_> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, ["b.tf", "main.tf", "../up/y.tf", "m/x.tf"]);
    }
}
