//! From directories to a source tree. Reads what a configuration consists of, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine_lang::config::{ModuleSource, ROOT, SourceTree, called_modules, join};

use crate::manifest::{Entry, Manifest, ManifestError};

/// The largest file that is read. Real configuration files are below one MiB; something larger is a mistake, and
/// reading it whole could take all memory.
const MAX_FILE: u64 = 16 << 20;

/// How much is read for one configuration.
const MAX_TOTAL: u64 = 256 << 20;

/// Calls deeper than this are not followed: loading refuses them.
const MAX_DEPTH: usize = 64;

/// The manifest, within a data directory.
const MANIFEST: &str = "modules/modules.json";

/// Why a configuration could not be read from disk. What is merely missing is no failure: loading the configuration
/// reports it where it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system did not give a file or directory.
    #[error("cannot read {path}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is larger than any configuration file.
    #[error("{path} is larger than {} MiB, the most that a configuration file may have", MAX_FILE >> 20)]
    FileTooLarge {
        /// Which.
        path: PathBuf,
    },
    /// The manifest says where installed modules are, and cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// All files together are too large.
    #[error("the files of the configuration are larger than {} MiB together; reading stopped at {path}", MAX_TOTAL >> 20)]
    TreeTooLarge {
        /// Where reading stopped.
        path: PathBuf,
    },
}

/// Reads the root module in `root`, its files of variable values, and every module that is called from there, directly
/// or not: local ones where they are, the others where the manifest in the data directory (`.terraform`) says that they
/// were installed. Each directory is read once, however often it is called, and links are followed.
pub fn read_tree(root: &Path, data_directory: &str) -> Result<SourceTree, ReadError> {
    let manifest = Manifest::read(&root.join(data_directory))?.unwrap_or_default();
    read_with(root, data_directory, &manifest)
}

/// The same, with the manifest at hand.
pub fn read_with(root: &Path, data_directory: &str, manifest: &Manifest) -> Result<SourceTree, ReadError> {
    let entries = manifest.modules.iter().map(|entry| (&*entry.key, entry)).collect();
    let mut reader = Reader::new(root);
    let data_directory = &*join(data_directory, ".");
    let mut walk = Walk {
        reader: &mut reader,
        data_directory,
        entries,
        calls: BTreeMap::new(),
        shared: BTreeSet::new(),
        chain: Vec::new(),
    };
    walk.module("", ROOT, None)?;
    if reader.tree.has_installed()
        && let Ok(bytes) = manifest.to_bytes()
    {
        reader.tree.insert(&format!("{data_directory}/{MANIFEST}"), bytes);
    }
    Ok(reader.tree)
}

/// The tree of files that were read before: those of a saved plan.
pub fn tree_of<'a>(files: impl IntoIterator<Item = (&'a str, Arc<[u8]>)>) -> SourceTree {
    let mut tree = SourceTree::new();
    for (path, bytes) in files {
        if let Some(data_directory) = path.strip_suffix(MANIFEST)
            && let Ok(manifest) = Manifest::parse(&bytes)
        {
            for entry in &manifest.modules {
                if let Some(installed) = entry.installed(data_directory) {
                    tree.install(&entry.key, installed);
                }
            }
        }
        tree.insert(path, bytes);
    }
    tree
}

/// A way through all calls.
struct Walk<'a, 'r> {
    reader: &'a mut Reader<'r>,
    data_directory: &'a str,
    entries: BTreeMap<&'a str, &'a Entry>,
    /// By directory.
    calls: BTreeMap<String, Calls>,
    /// Directories in which nothing leads to what was installed: they need no second look.
    shared: BTreeSet<String>,
    /// The directories from the root to here.
    chain: Vec<String>,
}

impl Walk<'_, '_> {
    /// Reads a module and what it calls. Says whether all of it is the same wherever it is called.
    fn module(&mut self, key: &str, directory: &str, package: Option<&str>) -> Result<bool, ReadError> {
        if self.shared.contains(directory) || self.chain.iter().any(|on| on == directory) {
            return Ok(true);
        }
        // Loading tells what is too deep.
        if self.chain.len() > MAX_DEPTH {
            return Ok(true);
        }
        let calls = match self.calls.get(directory) {
            Some(calls) => calls.clone(),
            None => {
                let calls = self.reader.directory(directory)?;
                self.calls.insert(directory.to_owned(), calls.clone());
                calls
            }
        };
        self.chain.push(directory.to_owned());
        let mut is_shared = package.is_none();
        for (name, source) in calls.iter() {
            let key = if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
            is_shared &= match ModuleSource::parse(source, false) {
                Ok(ModuleSource::Local(path)) => self.module(&key, &join(directory, &path), package)?,
                Ok(_) => {
                    match self.entries.get(&*key).copied().and_then(|entry| entry.installed(self.data_directory)) {
                        Some(installed) => {
                            let (directory, package) = (installed.directory.to_string(), installed.package.to_string());
                            self.reader.tree.install(&key, installed);
                            self.module(&key, &directory, Some(&package))?;
                            false
                        }
                        None => true,
                    }
                }
                Err(_) => true,
            };
        }
        self.chain.pop();
        if is_shared {
            self.shared.insert(directory.to_owned());
        }
        Ok(is_shared)
    }
}

/// The names and sources of the calls of a module.
type Calls = Arc<[(Arc<str>, Arc<str>)]>;

pub(crate) struct Reader<'a> {
    root: &'a Path,
    pub(crate) tree: SourceTree,
    total: u64,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, tree: SourceTree::new(), total: 0 }
    }

    /// Reads one directory, and tells the names and sources of the modules that it calls.
    fn directory(&mut self, directory: &str) -> Result<Calls, ReadError> {
        self.directory_at(directory, &self.root.join(directory))?;
        let files = self.tree.directory(directory).into_iter().flatten();
        let files = files.filter(|(name, _)| name.ends_with(".tf") || name.ends_with(".tf.json"));
        let texts = files.filter_map(|(name, bytes)| Some((name, str::from_utf8(bytes).ok()?)));
        Ok(texts.flat_map(|(name, text)| called_modules(name, text)).collect())
    }

    /// Reads one directory that is at `path` by now.
    pub(crate) fn directory_at(&mut self, directory: &str, path: &Path) -> Result<(), ReadError> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            Err(source) => return Err(ReadError::Io { path: path.to_owned(), source }),
        };
        self.tree.insert_directory(directory);
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
            // A name that is not UTF-8 cannot be that of a configuration file.
            names.extend(entry.file_name().into_string().ok().filter(|name| is_wanted(directory, name)));
        }
        for name in names {
            if let Some(bytes) = self.file(&path.join(&name))? {
                self.tree.insert(&format!("{directory}/{name}"), bytes);
            }
        }
        Ok(())
    }

    /// The bytes of a regular file; `None` for a directory and the like.
    fn file(&mut self, path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
        let failed = |source| ReadError::Io { path: path.to_owned(), source };
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Ok(None);
        }
        if metadata.len() > MAX_FILE {
            return Err(ReadError::FileTooLarge { path: path.to_owned() });
        }
        self.total += metadata.len();
        if self.total > MAX_TOTAL {
            return Err(ReadError::TreeTooLarge { path: path.to_owned() });
        }
        fs::read(path).map(Some).map_err(failed)
    }
}

/// Is a file of this name part of a configuration? Variable values count in the root module alone.
fn is_wanted(directory: &str, name: &str) -> bool {
    let values = |name: &str| name == "terraform.tfvars" || name.ends_with(".auto.tfvars");
    name.ends_with(".tf")
        || name.ends_with(".tf.json")
        || (directory == ROOT && values(name.strip_suffix(".json").unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn paths(root: &Path) -> Vec<String> {
        read_tree(root, ".terraform").unwrap().files().map(|(path, _)| path).collect()
    }

    #[test]
    fn called_modules_are_read_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("live");
        write(
            temporary.path(),
            &[
                (
                    "live/main.tf",
                    "module \"a\" {\n  source = \"./m/a\"\n}\nmodule \"s\" {\n  source = \"../shared\"\n}\n",
                ),
                ("live/terraform.tfvars", "x = 1\n"),
                ("live/b.auto.tfvars", ""),
                ("live/other.tfvars", ""),
                ("live/README.md", ""),
                ("live/x.tf.json", "{\"module\": {\"j\": {\"source\": \"./m/j\"}}}"),
                ("live/m/j/main.tf.json", "{}"),
                ("live/dir.tf/x", ""),
                (
                    "live/m/a/main.tf",
                    "module \"b\" {\n  source = \"../b\"\n}\nmodule \"no\" {\n  source = \"./no\"\n}\n",
                ),
                ("live/m/a/x.auto.tfvars", ""),
                ("live/m/b/main.tf", "module \"a\" {\n  source = \"../a\"\n}\n"),
                ("live/m/unused/main.tf", ""),
                ("shared/main.tf", "module \"r\" {\n  source = \"hashicorp/consul/aws\"\n}\n"),
            ],
        );
        assert_eq!(
            paths(&root),
            [
                "b.auto.tfvars",
                "main.tf",
                "terraform.tfvars",
                "x.tf.json",
                "../shared/main.tf",
                "m/a/main.tf",
                "m/b/main.tf",
                "m/j/main.tf.json"
            ]
        );
    }

    #[test]
    fn what_is_missing_is_not_in_the_tree() {
        let temporary = tempfile::tempdir().unwrap();
        assert_eq!(paths(&temporary.path().join("nope")), Vec::<String>::new());
        let tree = read_tree(temporary.path(), ".terraform").unwrap();
        assert!(tree.directory(ROOT).is_some_and(|files| files.is_empty()));
    }

    #[test]
    fn files_are_bounded() {
        let temporary = tempfile::tempdir().unwrap();
        let file = fs::File::create(temporary.path().join("main.tf")).unwrap();
        // A hole: nothing is written.
        file.set_len(MAX_FILE + 1).unwrap();
        assert!(matches!(read_tree(temporary.path(), ".terraform"), Err(ReadError::FileTooLarge { .. })));
    }
}
