//! The configuration of the working directory: its files, the values of its variables, and the files that functions
//! read, all of them remembered for the plan file.

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{
    config::{self, Config, ROOT, SourceTree},
    eval::{Entry, Files},
};
use engine_plan::{Given, file, given_text, undeclared_variable};

use crate::{
    args::VariableSource,
    session::{Session, failed},
};

/// The largest file of variable values, or file that a function reads: 64 MiB. A plan file holds them all.
const MAX_FILE: u64 = 64 << 20;

/// The configuration of the working directory.
pub(crate) struct Configuration {
    pub(crate) config: Config,
    /// Values of variables by name.
    pub(crate) given: BTreeMap<Arc<str>, Given>,
    /// Every file that it consists of, by path from the root module.
    pub(crate) sources: file::Files,
    /// What functions have read.
    pub(crate) read: Arc<ReadFiles>,
}

/// Loads the configuration, with its warnings. Its own errors are all told at once; those of variables come after.
pub(crate) fn load(
    session: &mut Session,
    given: &[VariableSource],
) -> Result<(Configuration, Diagnostics), Diagnostics> {
    let tree = engine_modules::read_tree(&session.directory, session.data_directory())
        .map_err(|error| Diagnostics::from(failed("Cannot read the configuration", &error)))?;
    let (config, mut warnings) = from_tree(session, &tree)?;
    for (path, bytes) in tree.files() {
        session.log.debug(format_args!("read {path}, {} bytes", bytes.len()));
    }
    let mut sources: file::Files = tree.files().map(|(path, bytes)| (path, bytes.clone())).collect();
    let given = variables(session, &config, &tree, given, &mut sources, &mut warnings)?;
    let read = Arc::new(ReadFiles::on_disk(session.directory.clone()));
    Ok((Configuration { config, given, sources, read }, warnings))
}

/// The configuration in a tree, with its warnings.
fn from_tree(session: &mut Session, tree: &SourceTree) -> Result<(Config, Diagnostics), Diagnostics> {
    if tree.directory(ROOT).is_none_or(|files| !files.keys().any(|name| name.ends_with(".tf"))) {
        let detail = format!("{} has no files that end in .tf.", session.directory.display());
        return Err(Diagnostic::error("No configuration files", detail)
            .hint("Go to the directory of the root module, or name it with -chdir=DIR.")
            .into());
    }
    let (config, diagnostics) = config::load(tree, &mut session.sources);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok((config, diagnostics)) }
}

/// The configuration that a saved plan holds.
pub(crate) fn from_plan(session: &mut Session, plan: &file::PlanFile) -> Result<Config, Diagnostics> {
    let tree = engine_modules::tree_of(plan.sources.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())));
    Ok(from_tree(session, &tree)?.0)
}

/// From the weakest to the strongest: the environment, terraform.tfvars, *.auto.tfvars, then the command line in its own
/// order.
fn variables(
    session: &mut Session,
    config: &Config,
    tree: &SourceTree,
    sources: &[VariableSource],
    files: &mut file::Files,
    warnings: &mut Diagnostics,
) -> Result<BTreeMap<Arc<str>, Given>, Diagnostics> {
    let mut given = BTreeMap::new();
    let mut diagnostics = Diagnostics::new();
    let from_env: Vec<(String, String)> = session
        .env
        .variables
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("TF_VAR_")?.to_owned(), value.clone())))
        .collect();
    for (name, value) in from_env {
        // One that is not declared here is meant for another configuration.
        let Some(variable) = config.root.variables.get(&*name) else { continue };
        let from = format!("TF_VAR_{name} of the environment");
        let (value, wrong) = given_text(variable, &value, &from, &mut session.sources);
        diagnostics.extend(wrong);
        given.insert(name.as_str().into(), value);
    }
    let automatic = tree.directory(ROOT).into_iter().flat_map(|files| files.iter());
    let automatic: BTreeMap<&str, &Arc<[u8]>> = automatic.map(|(name, bytes)| (&**name, bytes)).collect();
    for name in config::automatic_order(automatic.keys().copied()) {
        assigned(session, config, name, automatic[name], &mut given, &mut diagnostics);
    }
    for source in sources {
        match source {
            VariableSource::File(name) => match read_bounded(&session.directory.join(name)) {
                Ok(bytes) => {
                    let bytes: Arc<[u8]> = bytes.into();
                    assigned(session, config, name, &bytes, &mut given, &mut diagnostics);
                    files.insert(name.clone(), bytes);
                }
                Err(error) => diagnostics.push(failed(&format!("Cannot read the variables in {name}"), &error)),
            },
            VariableSource::Value(name, value) => match config.root.variables.get(&**name) {
                Some(variable) => {
                    let from = format!("-var {name}=… of the command line");
                    let (value, wrong) = given_text(variable, value, &from, &mut session.sources);
                    diagnostics.extend(wrong);
                    given.insert(name.as_str().into(), value);
                }
                None => diagnostics.push(undeclared_variable(&config.root, name, None)),
            },
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    warnings.extend(diagnostics);
    Ok(given)
}

fn assigned(
    session: &mut Session,
    config: &Config,
    name: &str,
    bytes: &[u8],
    given: &mut BTreeMap<Arc<str>, Given>,
    diagnostics: &mut Diagnostics,
) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        diagnostics.push(Diagnostic::error("Invalid file of variables", format!("{name} is not UTF-8 text.")));
        return;
    };
    let file = session.sources.add(name, text);
    let (values, wrong) = config::variable_values(file, text);
    diagnostics.extend(wrong);
    for (name, assignment) in values {
        if config.root.variables.contains_key(&name) {
            given.insert(name, Given::Written(assignment));
        } else {
            // As in Terraform: one file may serve several configurations.
            let mut warning = undeclared_variable(&config.root, &name, Some(assignment.span));
            warning.severity = engine_diag::Severity::Warning;
            diagnostics.push(warning);
        }
    }
}

fn read_bounded(path: &std::path::Path) -> io::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > MAX_FILE {
        return Err(io::Error::other(format!("it has {size} bytes, and {MAX_FILE} are allowed")));
    }
    fs::read(path)
}

/// What is in a directory, in the order of names; `None` if there is no such directory. Names that are no text cannot be
/// named, and what is neither file nor directory is no part of a configuration.
fn listing(directory: &std::path::Path) -> io::Result<Option<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut lines = Vec::new();
    for entry in entries {
        let entry = entry?;
        // Through links: what does not lead anywhere is an error, as it may be a mistake.
        let kind = fs::metadata(entry.path())?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if kind.is_dir() {
            lines.push(format!("{name}/\n"));
        } else if kind.is_file() {
            lines.push(format!("{name}\n"));
        }
    }
    lines.sort();
    Ok(Some(lines.concat()))
}

/// Files that functions read, remembered. Read once, so that a plan is of one moment.
#[derive(Debug)]
pub(crate) struct ReadFiles {
    /// `None`: only what is remembered is there, as in a saved plan.
    directory: Option<PathBuf>,
    seen: Mutex<BTreeMap<String, Option<Arc<[u8]>>>>,
}

impl ReadFiles {
    fn on_disk(directory: PathBuf) -> Self {
        Self { directory: Some(directory), seen: Mutex::default() }
    }

    /// What a saved plan has read, and nothing else.
    pub(crate) fn remembered(files: BTreeMap<String, Option<Arc<[u8]>>>) -> Self {
        Self { directory: None, seen: Mutex::new(files) }
    }

    /// Everything that was read.
    pub(crate) fn seen(&self) -> BTreeMap<String, Option<Arc<[u8]>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn look(&self, path: &str) -> Result<Option<Arc<[u8]>>, String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = seen.get(path) {
            return Ok(found.clone());
        }
        let Some(directory) = &self.directory else {
            return Err("the saved plan did not read it".to_owned());
        };
        let full = directory.join(path);
        let found = match read_bounded(&full) {
            Ok(bytes) => Some(Arc::from(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) if full.is_dir() => return Err("is a directory, not a file".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        seen.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

impl Files for ReadFiles {
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        self.look(path)?.ok_or_else(|| "no such file".to_owned())
    }

    fn exists(&self, path: &str) -> Result<bool, String> {
        Ok(self.look(path)?.is_some())
    }

    /// Remembered like a file, under the path with a slash: a line for each entry, directories with a slash, too.
    fn list(&self, directory: &str) -> Result<Option<Arc<[Entry]>>, String> {
        let name = format!("{directory}/");
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match (seen.get(&name), &self.directory) {
            (Some(found), _) => found.clone(),
            (None, None) => return Err(format!("the saved plan did not look into {directory}")),
            (None, Some(root)) => {
                let listing = listing(&root.join(directory)).map_err(|error| format!("{directory}: {error}"))?;
                let found = listing.map(|text| Arc::from(text.into_bytes()));
                seen.insert(name, found.clone());
                found
            }
        };
        let entries = |text: &str| {
            let entry = |line: &str| match line.strip_suffix('/') {
                Some(name) => Entry { name: name.to_owned(), is_directory: true },
                None => Entry { name: line.to_owned(), is_directory: false },
            };
            text.lines().map(entry).collect()
        };
        Ok(found.map(|bytes: Arc<[u8]>| entries(&String::from_utf8_lossy(&bytes))))
    }
}
