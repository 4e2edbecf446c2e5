//! Source tree to configuration: parses the files of each module once, decodes their blocks, and follows the calls.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Sources};

use super::{
    Config,
    call::ModuleCall,
    check::check,
    declare::{calls_in, declared},
    module::Module,
    source::{ROOT, SourceTree, join},
};

/// How deeply modules may call each other. Real configurations stay below ten.
const MAX_CALLS: usize = 64;

/// Reads the configuration whose root module is the directory `.` of the tree. Every file that is read is added to
/// `sources`. What could be understood is returned even if there are errors.
pub fn load(tree: &SourceTree, sources: &mut Sources) -> (Config, Diagnostics) {
    let mut loader =
        Loader { tree, sources, modules: BTreeMap::new(), chain: Vec::new(), diagnostics: Diagnostics::new() };
    let root = loader.module(ROOT);
    if root.is_none() {
        let detail = "The directory holds no configuration files (*.tf).";
        let hint = "Run this in the directory of a configuration, or name it with -chdir=DIR.";
        loader.diagnostics.push(Diagnostic::error("No configuration files", detail).hint(hint));
    }
    let config = Config { root: root.unwrap_or_default() };
    let mut diagnostics = loader.diagnostics;
    check(&config, &mut diagnostics);
    (config, diagnostics)
}

/// The sources of the module calls in one file of that name: what has to be there so that the configuration can be
/// loaded. Errors are not reported: [`load`] does.
pub fn called_directories(name: &str, text: &str) -> Vec<Arc<str>> {
    calls_in(name, text)
}

struct Loader<'a> {
    tree: &'a SourceTree,
    sources: &'a mut Sources,
    /// By directory. `None` while it is being loaded.
    modules: BTreeMap<String, Option<Arc<Module>>>,
    /// The directories from the root to the module that is being loaded.
    chain: Vec<String>,
    diagnostics: Diagnostics,
}

impl Loader<'_> {
    /// The module in a directory; `None` if there is none.
    fn module(&mut self, directory: &str) -> Option<Arc<Module>> {
        let files = self.tree.directory(directory)?;
        let mut module = declared(directory, files, self.sources, &mut self.diagnostics)?;
        self.chain.push(directory.to_owned());
        self.modules.insert(directory.to_owned(), None);
        for call in module.calls.values_mut() {
            call.module = self.called(directory, call);
        }
        self.chain.pop();
        if let Some(backend) = module.settings.backend.as_ref().filter(|_| directory != ROOT) {
            let detail = "Only the root module says where the state is. This block has no effect.";
            let diagnostic = Diagnostic::warning("Backend configuration ignored", detail).at(backend.span);
            self.diagnostics.push(diagnostic.hint("Remove the block."));
        }
        let module = Arc::new(module);
        self.modules.insert(directory.to_owned(), Some(module.clone()));
        Some(module)
    }

    /// The module that a call calls.
    fn called(&mut self, from: &str, call: &ModuleCall) -> Option<Arc<Module>> {
        let source = call.local_source(&mut self.diagnostics)?;
        let directory = join(from, source);
        match self.modules.get(&directory) {
            Some(Some(module)) => return Some(module.clone()),
            Some(None) if self.chain.contains(&directory) => {
                let chain: Vec<&str> = self.chain.iter().map(String::as_str).chain([&*directory]).collect();
                let detail = format!("This call comes back to a module that is calling: {}.", chain.join(" → "));
                let diagnostic = Diagnostic::error("Module calls itself", detail).at(call.source_span);
                self.diagnostics.push(diagnostic.hint("Move what both need into a module of its own."));
                return None;
            }
            Some(None) => return None,
            None => {}
        }
        if self.chain.len() == MAX_CALLS {
            let detail = format!("Modules may call each other {MAX_CALLS} levels deep; this is deeper.");
            self.diagnostics.push(Diagnostic::error("Modules nested too deeply", detail).at(call.source_span));
            return None;
        }
        let module = self.module(&directory);
        if module.is_none() {
            let detail = match self.tree.directory(&directory) {
                Some(_) => format!("The directory \"{directory}\" holds no configuration files (*.tf)."),
                None => format!("There is no directory \"{directory}\"."),
            };
            let hint = format!("The source \"{source}\" is relative to the directory of the file that it stands in.");
            self.diagnostics.push(Diagnostic::error("Module not found", detail).at(call.source_span).hint(hint));
        }
        module
    }
}
