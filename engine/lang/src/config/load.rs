//! Source tree to configuration: parses the files of each module once, decodes their blocks, and follows the calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine_diag::{Diagnostic, Diagnostics, Sources};

use super::{
    Config,
    call::ModuleCall,
    check::check,
    declare::{calls_in, declared},
    module::Module,
    module_source::ModuleSource,
    source::{ROOT, SourceTree, join},
};

/// How deeply modules may call each other. Real configurations stay below ten.
const MAX_CALLS: usize = 64;

/// How many modules a configuration may have, each counted as often as it is called. Modules that call each other twice
/// on every level double with each; this many still fit into memory.
const MAX_MODULES: usize = 100_000;

/// Reads the configuration whose root module is the directory `.` of the tree. Every file that is read is added to
/// `sources`. What could be understood is returned even if there are errors.
pub fn load(tree: &SourceTree, sources: &mut Sources) -> (Config, Diagnostics) {
    let mut loader = Loader::new(tree, sources);
    let root = loader.module(&Place { key: String::new(), directory: ROOT.to_owned(), package: None });
    if root.is_none() {
        let detail = "The directory holds no configuration files (*.tf).";
        let hint = "Run this in the directory of a configuration, or name it with -chdir=DIR.";
        loader.diagnostics.push(Diagnostic::error("No configuration files", detail).hint(hint));
    }
    let config = Config { root: root.map(|found| found.module).unwrap_or_default() };
    let mut diagnostics = loader.diagnostics;
    check(&config, &mut diagnostics);
    (config, diagnostics)
}

/// The calls in one directory of a tree, with what is wrong with its files. `None`: it holds no configuration.
pub fn module_calls(
    tree: &SourceTree,
    directory: &str,
    sources: &mut Sources,
) -> (Option<Vec<ModuleCall>>, Diagnostics) {
    let mut loader = Loader::new(tree, sources);
    let module = loader.declared(directory);
    (module.map(|module| module.calls.into_values().collect()), loader.diagnostics)
}

/// The names and sources of the module calls in one file of that name: what has to be there so that the configuration can
/// be loaded. Errors are not reported: [`load`] does.
pub fn called_modules(name: &str, text: &str) -> Vec<(Arc<str>, Arc<str>)> {
    if text.contains("module") { calls_in(name, text) } else { Vec::new() }
}

struct Loader<'a> {
    tree: &'a SourceTree,
    sources: &'a mut Sources,
    /// What the files of a directory declare, with calls that lead nowhere yet. `None`: they declare nothing.
    declared: BTreeMap<String, Option<Module>>,
    /// By directory: modules that are the same wherever they are called, because nothing in them was installed.
    shared: BTreeMap<String, Found>,
    /// Directories whose modules could not be loaded, which is reported.
    failed: BTreeSet<String>,
    /// The directories from the root to the module that is being loaded.
    chain: Vec<String>,
    diagnostics: Diagnostics,
}

/// Where a module is, and how it is called.
struct Place {
    /// The names of the calls that lead to it, with periods between them.
    key: String,
    directory: String,
    /// The directory of the package that it belongs to; `None`: it was not fetched from elsewhere.
    package: Option<Arc<str>>,
}

#[derive(Clone)]
struct Found {
    module: Arc<Module>,
    /// Is it the same wherever it is called?
    is_shared: bool,
    /// How many modules it is, with those that it calls.
    count: usize,
}

impl<'a> Loader<'a> {
    fn new(tree: &'a SourceTree, sources: &'a mut Sources) -> Self {
        Self {
            tree,
            sources,
            declared: BTreeMap::new(),
            shared: BTreeMap::new(),
            failed: BTreeSet::new(),
            chain: Vec::new(),
            diagnostics: Diagnostics::new(),
        }
    }

    /// What the files of a directory declare; `None` if there are none. Each is read once.
    fn declared(&mut self, directory: &str) -> Option<Module> {
        if let Some(module) = self.declared.get(directory) {
            return module.clone();
        }
        let files = self.tree.directory(directory)?;
        let module = declared(directory, files, self.sources, &mut self.diagnostics);
        let backend = module.as_ref().and_then(|module| module.settings.backend.as_ref());
        if let Some(backend) = backend.filter(|_| directory != ROOT) {
            let detail = "Only the root module says where the state is. This block has no effect.";
            let diagnostic = Diagnostic::warning("Backend configuration ignored", detail).at(backend.span);
            self.diagnostics.push(diagnostic.hint("Remove the block."));
        }
        self.declared.insert(directory.to_owned(), module.clone());
        module
    }

    /// The module at a place, with all that it calls; `None` if there is none.
    fn module(&mut self, place: &Place) -> Option<Found> {
        if let Some(found) = self.shared.get(&place.directory) {
            return Some(found.clone());
        }
        let mut module = self.declared(&place.directory)?;
        let (mut is_shared, mut count) = (place.package.is_none(), 1);
        self.chain.push(place.directory.clone());
        for call in module.calls.values_mut() {
            let Some(found) = self.called(place, call) else { continue };
            is_shared &= found.is_shared;
            count += found.count;
            if count > MAX_MODULES {
                let detail =
                    format!("With what this call brings, the configuration has more than {MAX_MODULES} modules.");
                self.diagnostics.push(Diagnostic::error("Too many modules", detail).at(call.span));
                count -= found.count;
                continue;
            }
            call.module = Some(found.module);
        }
        self.chain.pop();
        let found = Found { module: Arc::new(module), is_shared, count };
        if is_shared {
            self.shared.insert(place.directory.clone(), found.clone());
        }
        Some(found)
    }

    /// The module that a call calls.
    fn called(&mut self, from: &Place, call: &ModuleCall) -> Option<Found> {
        let source = call.module_source(&mut self.diagnostics)?;
        let key = if from.key.is_empty() { call.name.to_string() } else { format!("{}.{}", from.key, call.name) };
        let place = match &source {
            ModuleSource::Local(path) => self.local(from, call, path, key)?,
            ModuleSource::Registry(_) | ModuleSource::Remote(_) => self.installed(call, &source, key)?,
        };
        if self.chain.contains(&place.directory) {
            let chain: Vec<&str> = self.chain.iter().map(String::as_str).chain([&*place.directory]).collect();
            let detail = format!("This call comes back to a module that is calling: {}.", chain.join(" → "));
            let diagnostic = Diagnostic::error("Module calls itself", detail).at(call.source_span);
            self.diagnostics.push(diagnostic.hint("Move what both need into a module of its own."));
            return None;
        }
        if self.chain.len() == MAX_CALLS {
            let detail = format!("Modules may call each other {MAX_CALLS} levels deep; this is deeper.");
            self.diagnostics.push(Diagnostic::error("Modules nested too deeply", detail).at(call.source_span));
            return None;
        }
        let found = self.module(&place);
        if found.is_none() && self.failed.insert(place.directory.clone()) {
            let directory = &place.directory;
            let detail = match self.tree.directory(directory) {
                Some(_) => format!("The directory \"{directory}\" holds no configuration files (*.tf)."),
                None => format!("There is no directory \"{directory}\"."),
            };
            let diagnostic = Diagnostic::error("Module not found", detail).at(call.source_span);
            let hint = match source {
                ModuleSource::Local(path) => {
                    format!("The source \"{path}\" is relative to the directory of the file that it stands in.")
                }
                _ => "Check the directory behind // in the source.".to_owned(),
            };
            self.diagnostics.push(diagnostic.hint(hint));
        }
        found
    }

    fn local(&mut self, from: &Place, call: &ModuleCall, path: &str, key: String) -> Option<Place> {
        let directory = join(&from.directory, path);
        if let Some(package) = &from.package
            && !is_within(&directory, package)
        {
            let detail = format!(
                "The directory \"{path}\" would be outside of the package that the calling module was fetched with."
            );
            let diagnostic = Diagnostic::error("Local module path escapes module package", detail);
            let hint = "Only what is in the package was fetched. Give the address of the other package instead.";
            self.diagnostics.push(diagnostic.at(call.source_span).hint(hint));
            return None;
        }
        Some(Place { key, directory, package: from.package.clone() })
    }

    /// Where `init` has put the module.
    fn installed(&mut self, call: &ModuleCall, source: &ModuleSource, key: String) -> Option<Place> {
        let (summary, detail) = match self.tree.installed(&key) {
            None => ("Module not installed", "This module is not yet installed.".to_owned()),
            Some(installed) if *installed.source != source.to_string() => (
                "Module source has changed",
                "The source address was changed since this module was installed.".to_owned(),
            ),
            Some(installed) => match (&call.version, &installed.version) {
                (Some((constraints, _)), Some(version)) if !constraints.select(version) => (
                    "Module version requirements have changed",
                    format!(
                        "The version requirements have changed since this module was installed, and the installed \
                         version ({version}) is no longer acceptable."
                    ),
                ),
                _ if self.tree.directory(&installed.directory).is_none() => (
                    "Module not installed",
                    format!("This module's directory {} could not be read.", installed.directory),
                ),
                _ => {
                    let directory = installed.directory.to_string();
                    return Some(Place { key, directory, package: Some(installed.package.clone()) });
                }
            },
        };
        let hint = "Run \"sliceform init\" to install all modules that this configuration requires.";
        self.diagnostics.push(Diagnostic::error(summary, detail).at(call.source_span).hint(hint));
        None
    }
}

/// Is it that directory, or one in it?
fn is_within(directory: &str, package: &str) -> bool {
    directory.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
