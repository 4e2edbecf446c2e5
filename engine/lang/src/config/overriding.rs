//! Override files: what their blocks change in those of the other files.
//!
//! A block of an override file is laid over the block of the same kind and labels as a body over a body
//! ([`Body::with_over`]): its arguments stand in place of those of the same name, its nested blocks in place of all of
//! their kind. Local values are replaced one by one; `terraform` blocks setting by setting.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    declare::{KINDS, top_level},
    module::Module,
    output::Local,
    provider::ProviderBlock,
    shape::unsupported_block,
};
use crate::syntax::{BlockRef, Body, Expr, Node};

/// The blocks of all override files, in the order of the files' names.
pub(super) struct Overrides {
    files: Vec<Body>,
    entries: Vec<Entry>,
}

struct Entry {
    key: Key,
    body: Body,
    span: Span,
    used: bool,
}

/// What a block declares.
#[derive(PartialEq, Eq)]
struct Key {
    kind: Arc<str>,
    labels: Vec<Arc<str>>,
    /// Provider blocks of one name differ by this.
    alias: Option<Arc<str>>,
}

impl Key {
    fn of(block: BlockRef<'_>) -> Self {
        let alias = match &**block.kind() {
            "provider" => block.body().attribute("alias").and_then(|alias| alias.value().as_text().cloned()),
            _ => None,
        };
        Self { kind: block.kind().clone(), labels: block.labels().map(|(label, _)| label.clone()).collect(), alias }
    }
}

/// What an override file may change, and what that is called where it is missing.
const OVERRIDABLE: [(&str, &str); 7] = [
    ("provider", "provider configuration"),
    ("variable", "variable declaration"),
    ("output", "output definition"),
    ("module", "module call"),
    ("resource", "resource"),
    ("data", "data resource"),
    ("ephemeral", "ephemeral resource"),
];

impl Overrides {
    pub(super) fn of(files: &[Body], diagnostics: &mut Diagnostics) -> Self {
        let mut entries = Vec::new();
        for body in files {
            top_level(body, diagnostics);
            for block in body.blocks() {
                let kind = &**block.kind();
                if OVERRIDABLE.iter().any(|(known, _)| *known == kind) {
                    check_depends_on(kind, &block.body(), diagnostics);
                    entries.push(Entry { key: Key::of(block), body: block.body(), span: block.header(), used: false });
                } else if matches!(kind, "check" | "moved" | "removed" | "import") {
                    let detail = format!("A \"{kind}\" block can stand only in a file that is not an override file.");
                    let diagnostic = Diagnostic::error(format!("Cannot override '{kind}' blocks"), detail);
                    diagnostics.push(diagnostic.at(block.header()));
                } else if !KINDS.contains(&kind) {
                    diagnostics.push(unsupported_block(kind, KINDS).at(block.header()));
                }
            }
        }
        Self { files: files.to_vec(), entries }
    }

    /// What is laid over a block.
    pub(super) fn over(&mut self, block: BlockRef<'_>) -> Vec<Body> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let key = Key::of(block);
        let mut found = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| entry.key == key) {
            entry.used = true;
            found.push(entry.body.clone());
        }
        found
    }

    /// What is laid over no block, and what is not laid over one as a whole.
    pub(super) fn finish(self, module: &mut Module, diagnostics: &mut Diagnostics) {
        for file in &self.files {
            for block in file.blocks() {
                match &**block.kind() {
                    "locals" => locals(block, module, diagnostics),
                    "terraform" => module.settings.decode_over(block, diagnostics),
                    // The default configuration of a provider is there even if no block is.
                    "provider" if self.is_unused(block) && Key::of(block).alias.is_none() => {
                        if let Some(one) = ProviderBlock::decode(block, diagnostics) {
                            module.providers.insert(one.name.clone(), one);
                        }
                    }
                    _ => {}
                }
            }
        }
        for entry in self.entries.iter().filter(|entry| !entry.used) {
            let Key { kind, labels, alias } = &entry.key;
            if &**kind == "provider" && alias.is_none() {
                continue;
            }
            let what = OVERRIDABLE.iter().find(|(known, _)| **known == **kind).map_or("block", |(_, what)| what);
            let name = labels.iter().map(|label| format!(" \"{label}\"")).collect::<String>();
            diagnostics.push(missing(what, &format!("{kind}{name}"), entry.span));
        }
    }

    fn is_unused(&self, block: BlockRef<'_>) -> bool {
        self.entries.iter().any(|entry| entry.span == block.header() && !entry.used)
    }
}

fn locals(block: BlockRef<'_>, module: &mut Module, diagnostics: &mut Diagnostics) {
    for one in Local::decode(block, diagnostics) {
        if module.locals.contains_key(&one.name) {
            module.locals.insert(one.name.clone(), one);
        } else {
            let name = format!("local value \"{}\"", one.name);
            diagnostics.push(missing("local value definition", &name, one.span));
        }
    }
}

fn missing(what: &str, name: &str, span: Span) -> Diagnostic {
    let detail = format!(
        "There is no {name} to override. An override file can only change what a file that is not one declares."
    );
    let diagnostic = Diagnostic::error(format!("Missing base {what} to override"), detail).at(span);
    diagnostic.hint("Declare it in another file, or rename this file so that its name does not end with _override.")
}

fn check_depends_on(kind: &str, body: &Body, diagnostics: &mut Diagnostics) {
    if matches!(kind, "variable" | "provider") {
        return;
    }
    let Some(list) = body.attribute("depends_on") else { return };
    let value: Expr = list.value();
    if matches!(value.node(), Node::Tuple(elements) if elements.is_empty()) {
        return;
    }
    let detail = "The depends_on argument may not be overridden.";
    diagnostics.push(Diagnostic::error("Unsupported override", detail).at(value.span()));
}
