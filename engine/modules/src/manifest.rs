//! `.terraform/modules/modules.json`: which module of the configuration is in which directory. Other tools read it;
//! only `init` and `get` write it; loading local modules does not need it.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use engine_diag::Diagnostics;
use engine_lang::config::{Config, Installed, Version, join};
use engine_model::address::ModulePath;
use serde::{Deserialize, Serialize};

/// The manifest of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// One entry per module, the root first, in the order of their keys.
    #[serde(rename = "Modules")]
    pub modules: Vec<Entry>,
}

/// One module of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Entry {
    /// The names of the calls that lead to it, with periods between them; empty for the root.
    pub key: String,
    /// As the call writes it.
    pub source: String,
    /// The version that was chosen, of modules that have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its directory, relative to that of the root module.
    pub dir: String,
}

/// Why the manifest could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The operating system did not let it be read or written.
    #[error("cannot access {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not a manifest. It can be removed: `init` writes it again.
    #[error("{path} is not a module manifest")]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

impl Manifest {
    /// The modules of a configuration that was loaded without errors; versions are those that were installed.
    pub fn of(config: &Config, installed: &Self) -> Self {
        let known: BTreeMap<&str, &Entry> = installed.modules.iter().map(|entry| (&*entry.key, entry)).collect();
        let mut modules = Vec::new();
        for (path, module) in config.modules() {
            let key = path.0.join(".");
            let call = path
                .0
                .split_last()
                .and_then(|(name, caller)| config.module(&ModulePath(caller.into()))?.calls.get(name));
            let source = call.and_then(|call| call.module_source(&mut Diagnostics::new()));
            let source = source.map_or(String::new(), |source| source.to_string());
            let entry = known.get(&*key).filter(|entry| entry.source == source);
            let version = entry.and_then(|entry| entry.version.clone());
            modules.push(Entry { key, source, version, dir: module.directory.to_string() });
        }
        modules.sort_by(|a, b| a.key.cmp(&b.key));
        Self { modules }
    }

    /// The manifest that a text is.
    pub fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Its text, with the characters escaped that Terraform escapes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_string(self)?;
        // They can only stand in strings.
        for (character, escape) in [("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")] {
            text = text.replace(character, escape);
        }
        Ok(text.into_bytes())
    }

    /// Reads the manifest in a data directory (`.terraform`). `None`: there is none.
    pub fn read(data_directory: &Path) -> Result<Option<Self>, ManifestError> {
        let path = file(data_directory);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ManifestError::Io { path, source }),
        };
        Self::parse(&bytes).map(Some).map_err(|source| ManifestError::Format { path, source })
    }

    /// Writes the manifest into a data directory, which is made if need be. It is there whole, or as it was before.
    /// A configuration that calls no modules has no manifest, unless there is one already.
    pub fn write(&self, data_directory: &Path) -> Result<(), ManifestError> {
        let path = file(data_directory);
        if self.modules.len() < 2 && !path.exists() {
            return Ok(());
        }
        let bytes = self.to_bytes().map_err(|source| ManifestError::Format { path: path.clone(), source })?;
        let temporary = path.with_extension("json.tmp");
        let written = fs::create_dir_all(data_directory.join("modules"))
            .and_then(|()| fs::write(&temporary, bytes))
            .and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|source| ManifestError::Io { path, source })
    }
}

fn file(data_directory: &Path) -> PathBuf {
    data_directory.join("modules").join("modules.json")
}

impl Entry {
    /// Where a module from elsewhere was installed; `None`: the entry says nothing that can be followed.
    pub(crate) fn installed(&self, data_directory: &str) -> Option<Installed> {
        let version = match &self.version {
            Some(version) => Some(Version::parse(version)?),
            None => None,
        };
        let directory = join(&self.dir, ".");
        let own = join(data_directory, &format!("modules/{}", self.key));
        let is_within = directory.strip_prefix(&own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let package = if is_within { own } else { directory.clone() };
        Some(Installed {
            source: self.source.as_str().into(),
            version,
            package: package.into(),
            directory: directory.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_calls_there_is_no_manifest() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Entry { key: String::new(), source: String::new(), version: None, dir: ".".into() };
        let manifest = Manifest { modules: vec![root] };
        manifest.write(temporary.path()).unwrap();
        assert!(!temporary.path().join("modules").exists());
        fs::create_dir(temporary.path().join("modules")).unwrap();
        fs::write(temporary.path().join("modules/modules.json"), "{").unwrap();
        assert!(matches!(Manifest::read(temporary.path()), Err(ManifestError::Format { .. })));
        manifest.write(temporary.path()).unwrap();
        assert_eq!(Manifest::read(temporary.path()).unwrap(), Some(manifest));
    }
}
