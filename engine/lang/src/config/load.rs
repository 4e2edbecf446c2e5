//! Source tree to configuration: parses the files of each module once, decodes their blocks, and follows the calls.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Sources, Span};
use engine_model::address::Mode;

use super::{
    Config,
    call::ModuleCall,
    check::check,
    module::Module,
    output::{Local, Output},
    provider::ProviderBlock,
    refuse,
    resource::Resource,
    shape::{duplicate, unsupported_argument, unsupported_block},
    source::{ROOT, SourceTree, join, path},
    variable::Variable,
};
use crate::syntax::{BlockRef, Body, parse};

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

/// The sources of the module calls in one file: what has to be there so that the configuration can be loaded. Errors
/// are not reported: [`load`] does.
pub fn called_directories(text: &str) -> Vec<Arc<str>> {
    let (body, _) = parse(FileId(0), text);
    let calls = body.blocks().filter(|block| &**block.kind() == "module").filter_map(|block| {
        let source = block.body().attribute("source")?.value();
        source.unparenthesized().as_text().filter(|source| super::call::is_local(source)).cloned()
    });
    calls.collect()
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
        let mut module = Module { directory: directory.into(), ..Module::default() };
        let mut any = false;
        for (name, bytes) in files.iter().filter(|(name, _)| is_configuration(name)) {
            any = true;
            if let Some(body) = self.file(&path(directory, name), name, bytes) {
                self.blocks(&mut module, &body);
            }
        }
        if !any {
            return None;
        }
        self.chain.push(directory.to_owned());
        self.modules.insert(directory.to_owned(), None);
        for call in module.calls.values_mut() {
            call.module = self.called(directory, call);
        }
        self.chain.pop();
        refuse::module(&module, &mut self.diagnostics);
        if let Some(backend) = module.settings.backend.as_ref().filter(|_| directory != ROOT) {
            let detail = "Only the root module says where the state is. This block has no effect.";
            let diagnostic = Diagnostic::warning("Backend configuration ignored", detail).at(backend.span);
            self.diagnostics.push(diagnostic.hint("Remove the block."));
        }
        let module = Arc::new(module);
        self.modules.insert(directory.to_owned(), Some(module.clone()));
        Some(module)
    }

    /// The body of a file; `None` if it cannot be read at all.
    fn file(&mut self, path: &str, name: &str, bytes: &[u8]) -> Option<Body> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let start = error.valid_up_to();
                let text = String::from_utf8_lossy(bytes);
                let file = self.sources.add(path, &*text);
                let detail = "The file is not valid UTF-8 from here on.";
                let diagnostic = Diagnostic::error("Invalid character encoding", detail);
                self.diagnostics.push(diagnostic.at(Span::new(file, start as u32, start as u32)));
                return None;
            }
        };
        let file = self.sources.add(path, text);
        if let Some(refusal) = refuse::file(name) {
            self.diagnostics.push(refusal.at(Span::new(file, 0, 0)));
            return None;
        }
        let (body, diagnostics) = parse(file, text);
        self.diagnostics.extend(diagnostics);
        Some(body)
    }

    fn blocks(&mut self, module: &mut Module, body: &Body) {
        for attribute in body.attributes() {
            let mut diagnostic = unsupported_argument(attribute.name(), []).at(attribute.name_span());
            diagnostic.hint =
                Some("At the top level there are only blocks. Local values stand in a locals block.".into());
            self.diagnostics.push(diagnostic);
        }
        for block in body.blocks() {
            self.block(module, block);
        }
    }

    fn block(&mut self, module: &mut Module, block: BlockRef<'_>) {
        let diagnostics = &mut self.diagnostics;
        match &**block.kind() {
            "terraform" => module.settings.decode(block, diagnostics),
            "provider" => {
                if let Some(one) = ProviderBlock::decode(block, diagnostics) {
                    let (name, span) = (one.name.to_string(), one.span);
                    add(
                        &mut module.providers,
                        one.name.clone(),
                        one,
                        "provider configuration",
                        &name,
                        span,
                        diagnostics,
                    );
                }
            }
            "variable" => {
                if let Some(one) = Variable::decode(block, diagnostics) {
                    let (name, span) = (one.name.clone(), one.span);
                    add(&mut module.variables, name.clone(), one, "variable", &name, span, diagnostics);
                }
            }
            "locals" => {
                for one in Local::decode(block, diagnostics) {
                    let (name, span) = (one.name.clone(), one.span);
                    add(&mut module.locals, name.clone(), one, "local value", &name, span, diagnostics);
                }
            }
            "output" => {
                if let Some(one) = Output::decode(block, diagnostics) {
                    let (name, span) = (one.name.clone(), one.span);
                    add(&mut module.outputs, name.clone(), one, "output", &name, span, diagnostics);
                }
            }
            kind @ ("resource" | "data") => {
                let mode = if kind == "data" { Mode::Data } else { Mode::Managed };
                if let Some(one) = Resource::decode(mode, block, diagnostics) {
                    let (name, span) = (one.name.to_string(), one.span);
                    add(&mut module.resources, one.name.clone(), one, kind, &name, span, diagnostics);
                }
            }
            "module" => {
                if let Some(one) = ModuleCall::decode(block, diagnostics) {
                    let (name, span) = (one.name.clone(), one.span);
                    add(&mut module.calls, name.clone(), one, "module call", &name, span, diagnostics);
                }
            }
            kind => {
                let diagnostic = refuse::block(kind).unwrap_or_else(|| unsupported_block(kind, KINDS));
                diagnostics.push(diagnostic.at(block.header()));
            }
        }
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

/// All kinds of blocks that a file can hold.
const KINDS: [&str; 13] = [
    "terraform",
    "provider",
    "variable",
    "locals",
    "output",
    "resource",
    "data",
    "module",
    "check",
    "moved",
    "removed",
    "import",
    "ephemeral",
];

/// Files that make up a module. Editors' temporary files are left out, as in Terraform.
fn is_configuration(name: &str) -> bool {
    let temporary = name.starts_with(['.', '#']) || name.ends_with('~');
    !temporary && (name.ends_with(".tf") || name.ends_with(".tf.json"))
}

fn add<K: Ord, T: HasSpan>(
    to: &mut BTreeMap<K, T>,
    key: K,
    one: T,
    what: &str,
    name: &str,
    span: Span,
    diagnostics: &mut Diagnostics,
) {
    match to.entry(key) {
        std::collections::btree_map::Entry::Vacant(place) => {
            place.insert(one);
        }
        std::collections::btree_map::Entry::Occupied(first) => {
            diagnostics.push(duplicate(what, name, span, first.get().span()));
        }
    }
}

trait HasSpan {
    fn span(&self) -> Span;
}

macro_rules! has_span {
    ($($ty:ty),*) => {$(
        impl HasSpan for $ty {
            fn span(&self) -> Span {
                self.span
            }
        }
    )*};
}

has_span!(ProviderBlock, Variable, Local, Output, Resource, ModuleCall);
