//! A configuration in a temporary directory, and what installing does to it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use engine_diag::{Diagnostics, Sources};
use engine_modules::{Installation, Limits, install, read_tree};

pub(crate) struct Site {
    temporary: tempfile::TempDir,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) limits: Limits,
    pub(crate) data_directory: String,
}

impl Site {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        for name in ["root", "home"] {
            fs::create_dir(temporary.path().join(name)).unwrap();
        }
        let home = temporary.path().join("home").to_str().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        let variables = [("HOME", home.as_str()), ("PATH", &path), ("GIT_CONFIG_NOSYSTEM", "1")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { temporary, variables, limits: Limits::default(), data_directory: ".terraform".to_owned() }
    }

    /// A path beside the root module.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.beside("root")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    /// The root module calls `x`.
    pub(crate) fn call(&self, source: &str) {
        self.write("main.tf", &format!("module \"x\" {{\n  source = \"{source}\"\n}}\n"));
    }

    pub(crate) fn call_version(&self, source: &str, version: &str) {
        self.write("main.tf", &format!("module \"x\" {{\n  source  = \"{source}\"\n  version = \"{version}\"\n}}\n"));
    }

    /// What installing tells, or what is wrong.
    pub(crate) async fn install(&self) -> Result<String, String> {
        self.install_with(false).await
    }

    pub(crate) async fn install_with(&self, upgrade: bool) -> Result<String, String> {
        let root = self.root();
        let installation = Installation {
            root: &root,
            data_directory: &self.data_directory,
            upgrade,
            variables: &self.variables,
            limits: self.limits,
        };
        let mut told = String::new();
        let done = install(&installation, &mut Sources::new(), &mut |line| told.push_str(line)).await;
        done.map(|_| told).map_err(|wrong| text(&wrong))
    }

    /// What is wrong with the configuration as it is now, and the directories of its modules.
    pub(crate) fn load(&self) -> (Vec<String>, String) {
        let tree = read_tree(&self.root(), &self.data_directory).unwrap();
        let (config, diagnostics) = engine_lang::config::load(&tree, &mut Sources::new());
        let modules = config.modules().iter().map(|(path, module)| format!("{path}={}", module.directory)).collect();
        (modules, text(&diagnostics))
    }

    /// The manifest, with this site's own paths replaced.
    pub(crate) fn manifest(&self) -> String {
        let path = self.root().join(&self.data_directory).join("modules/modules.json");
        let text = fs::read_to_string(path).unwrap();
        text.replace(self.temporary.path().to_str().unwrap(), "SITE")
    }

    /// Everything below the data directory, but for what is in repositories.
    pub(crate) fn files(&self) -> Vec<String> {
        let data = self.root().join(&self.data_directory);
        let mut files = Vec::new();
        let mut todo = vec![data.clone()];
        while let Some(directory) = todo.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    todo.push(path);
                } else {
                    files.push(path.strip_prefix(&data).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        files
    }

    /// A new repository beside the root module, with one commit of these files.
    pub(crate) fn repository(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let directory = self.beside(name);
        fs::create_dir_all(&directory).unwrap();
        git(&directory, &["init", "-q", "-b", "main", "."]);
        commit(&directory, files);
        directory
    }
}

pub(crate) fn commit(directory: &Path, files: &[(&str, &str)]) -> String {
    for (path, text) in files {
        write(&directory.join(path), text);
    }
    git(directory, &["add", "-A", "."]);
    git(directory, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(directory, &["rev-parse", "HEAD"])
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(directory).args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(arguments);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn text(diagnostics: &Diagnostics) -> String {
    let one = |d: &engine_diag::Diagnostic| {
        format!("{}: {} {}\n", d.summary, d.detail, d.hint.as_deref().unwrap_or_default())
    };
    diagnostics.iter().map(one).collect()
}
