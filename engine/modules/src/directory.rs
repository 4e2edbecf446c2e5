//! From directories to a source tree. Reads what a configuration consists of, and nothing else.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use engine_lang::config::{ROOT, SourceTree, called_directories, join};

/// The largest file that is read. Real configuration files are below one MiB; something larger is a mistake, and
/// reading it whole could take all memory.
const MAX_FILE: u64 = 16 << 20;

/// How much is read for one configuration.
const MAX_TOTAL: u64 = 256 << 20;

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
    /// All files together are too large.
    #[error("the files of the configuration are larger than {} MiB together; reading stopped at {path}", MAX_TOTAL >> 20)]
    TreeTooLarge {
        /// Where reading stopped.
        path: PathBuf,
    },
}

/// Reads the root module in `root`, its files of variable values, and every local module that is called from there,
/// directly or not. Each directory is read once, however often it is called, and links are followed.
pub fn read_tree(root: &Path) -> Result<SourceTree, ReadError> {
    let mut reader = Reader { root, tree: SourceTree::new(), total: 0 };
    let mut seen = BTreeSet::from([ROOT.to_owned()]);
    let mut todo = vec![ROOT.to_owned()];
    while let Some(directory) = todo.pop() {
        for source in reader.directory(&directory)? {
            let called = join(&directory, &source);
            if seen.insert(called.clone()) {
                todo.push(called);
            }
        }
    }
    Ok(reader.tree)
}

struct Reader<'a> {
    root: &'a Path,
    tree: SourceTree,
    total: u64,
}

impl Reader<'_> {
    /// Reads one directory, and tells the sources of the modules that it calls.
    fn directory(&mut self, directory: &str) -> Result<Vec<String>, ReadError> {
        let path = self.root.join(directory);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(source) => return Err(ReadError::Io { path, source }),
        };
        self.tree.insert_directory(directory);
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| ReadError::Io { path: path.clone(), source })?;
            // A name that is not UTF-8 cannot be that of a configuration file.
            names.extend(entry.file_name().into_string().ok().filter(|name| is_wanted(directory, name)));
        }
        // The order of directory entries is the file system's.
        names.sort_unstable();
        let mut sources = Vec::new();
        for name in names {
            let Some(bytes) = self.file(&path.join(&name))? else { continue };
            if (name.ends_with(".tf") || name.ends_with(".tf.json"))
                && let Ok(text) = str::from_utf8(&bytes)
            {
                sources.extend(called_directories(&name, text).iter().map(ToString::to_string));
            }
            self.tree.insert(&format!("{directory}/{name}"), bytes);
        }
        Ok(sources)
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
        read_tree(root).unwrap().files().map(|(path, _)| path).collect()
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
                ("live/x.tf.json", "{}"),
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
                "m/b/main.tf"
            ]
        );
    }

    #[test]
    fn what_is_missing_is_not_in_the_tree() {
        let temporary = tempfile::tempdir().unwrap();
        assert_eq!(paths(&temporary.path().join("nope")), Vec::<String>::new());
        let tree = read_tree(temporary.path()).unwrap();
        assert!(tree.directory(ROOT).is_some_and(|files| files.is_empty()));
    }

    #[test]
    fn files_are_bounded() {
        let temporary = tempfile::tempdir().unwrap();
        let file = fs::File::create(temporary.path().join("main.tf")).unwrap();
        // A hole: nothing is written.
        file.set_len(MAX_FILE + 1).unwrap();
        assert!(matches!(read_tree(temporary.path()), Err(ReadError::FileTooLarge { .. })));
    }
}
