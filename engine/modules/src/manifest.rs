//! `.terraform/modules/modules.json`: which module of the configuration is in which directory. Other tools read it;
//! only `init` writes it; loading local modules does not need it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use engine_lang::config::{Config, join};
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
    /// The manifest of a configuration that was loaded without errors.
    pub fn of(config: &Config) -> Self {
        let mut modules = Vec::new();
        for (path, module) in config.modules() {
            let key = path.0.join(".");
            let call = path
                .0
                .split_last()
                .and_then(|(name, caller)| config.module(&ModulePath(caller.into()))?.calls.get(name));
            let source = call.map_or(String::new(), |call| normal_source(&call.source));
            modules.push(Entry { key, source, version: None, dir: module.directory.to_string() });
        }
        modules.sort_by(|a, b| a.key.cmp(&b.key));
        Self { modules }
    }

    /// Reads the manifest in a data directory (`.terraform`). `None`: there is none.
    pub fn read(data_directory: &Path) -> Result<Option<Self>, ManifestError> {
        let path = file(data_directory);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ManifestError::Io { path, source }),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|source| ManifestError::Format { path, source })
    }

    /// Writes the manifest into a data directory, which is made if need be. It is there whole, or as it was before.
    /// A configuration that calls no modules has no manifest, unless there is one already.
    pub fn write(&self, data_directory: &Path) -> Result<(), ManifestError> {
        let path = file(data_directory);
        if self.modules.len() < 2 && !path.exists() {
            return Ok(());
        }
        let bytes = serde_json::to_vec(self).map_err(|source| ManifestError::Format { path: path.clone(), source })?;
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

/// A local source without what means nothing: `./modules/b/` is `./modules/b`.
fn normal_source(source: &str) -> String {
    match join(".", source) {
        path if path.starts_with("..") => path,
        path if path == "." => path,
        path => format!("./{path}"),
    }
}

#[cfg(test)]
mod tests {
    use engine_diag::Sources;

    use super::*;
    use crate::read_tree;

    #[test]
    fn the_manifest_is_terraforms() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        for (path, text) in [
            ("main.tf", "module \"z\" {\n source=\"./modules/a\"\n}\nmodule \"c\" {\n source=\"./modules/b/\"\n}\n"),
            ("modules/a/main.tf", "module \"b\" {\n source=\"../b\"\n}\n"),
            ("modules/b/x.tf", ""),
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let (config, diagnostics) = engine_lang::config::load(&read_tree(root).unwrap(), &mut Sources::new());
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let manifest = Manifest::of(&config);
        let data = root.join(".terraform");
        assert_eq!(Manifest::read(&data).unwrap(), None);
        manifest.write(&data).unwrap();
        assert_eq!(Manifest::read(&data).unwrap().as_ref(), Some(&manifest));
        // Observed with Terraform 1.11.4 on the same files.
        assert_eq!(
            fs::read_to_string(data.join("modules/modules.json")).unwrap(),
            concat!(
                r#"{"Modules":[{"Key":"","Source":"","Dir":"."},"#,
                r#"{"Key":"c","Source":"./modules/b","Dir":"modules/b"},"#,
                r#"{"Key":"z","Source":"./modules/a","Dir":"modules/a"},"#,
                r#"{"Key":"z.b","Source":"../b","Dir":"modules/b"}]}"#,
            )
        );
    }

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
