//! The files of one directory to what they declare: parses each, decodes their blocks, and lays the blocks of override
//! files over those of the others.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Sources, Span};
use engine_model::address::Mode;

use super::{
    call::ModuleCall,
    check_block::Check,
    json,
    module::Module,
    output::{Local, Output},
    overriding::Overrides,
    provider::ProviderBlock,
    refactor::{Import, Moved, Removed},
    resource::Resource,
    shape::{duplicate, unsupported_argument, unsupported_block},
    source::{Directory, path},
    variable::Variable,
};
use crate::syntax::{BlockRef, Body, parse, parse_json};

/// What the files of a directory declare. `None`: none of them is part of a configuration.
pub(super) fn declared(
    directory: &str,
    files: &Directory,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Module> {
    let mut names = files.keys().filter(|name| is_configuration(name)).peekable();
    names.peek()?;
    let (mut primary, mut overrides) = (Vec::new(), Vec::new());
    for name in names {
        let Some(body) = file(&path(directory, name), name, &files[name], sources, diagnostics) else { continue };
        if is_override(name) { overrides.push(body) } else { primary.push(body) }
    }
    let mut overrides = Overrides::of(&overrides, diagnostics);
    let mut declare = Declare { module: Module { directory: directory.into(), ..Module::default() }, diagnostics };
    for body in &primary {
        top_level(body, declare.diagnostics);
        for block in body.blocks() {
            declare.overridden(block, &mut overrides);
        }
    }
    let Declare { mut module, .. } = declare;
    overrides.finish(&mut module, diagnostics);
    Some(module)
}

/// The body of a file; `None` if it cannot be read at all.
fn file(path: &str, name: &str, bytes: &[u8], sources: &mut Sources, diagnostics: &mut Diagnostics) -> Option<Body> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let start = error.valid_up_to();
            let text = String::from_utf8_lossy(bytes);
            let file = sources.add(path, &*text);
            let detail = "The file is not valid UTF-8 from here on.";
            let diagnostic = Diagnostic::error("Invalid character encoding", detail);
            diagnostics.push(diagnostic.at(Span::new(file, start as u32, start as u32)));
            return None;
        }
    };
    let file = sources.add(path, text);
    let (body, found) = if name.ends_with(".json") { parse_json(file, text, &json::FILE) } else { parse(file, text) };
    diagnostics.extend(found);
    Some(body)
}

/// At the top level of a file there are only blocks.
pub(super) fn top_level(body: &Body, diagnostics: &mut Diagnostics) {
    for attribute in body.attributes() {
        let mut diagnostic = unsupported_argument(attribute.name(), KINDS).at(attribute.name_span());
        diagnostic.hint = Some("At the top level there are only blocks. Local values stand in a locals block.".into());
        diagnostics.push(diagnostic);
    }
}

struct Declare<'a> {
    module: Module,
    diagnostics: &'a mut Diagnostics,
}

impl Declare<'_> {
    /// A block with what override files lay over it. It must be right by itself too.
    fn overridden(&mut self, block: BlockRef<'_>, overrides: &mut Overrides) {
        let over = overrides.over(block);
        if over.is_empty() {
            return self.block(block);
        }
        let before = self.diagnostics.0.len();
        let mut alone = Diagnostics::new();
        Declare { module: Module::default(), diagnostics: &mut alone }.block(block);
        self.block(block.with_over(&over));
        alone.0.retain(|one| !self.diagnostics.0[before..].contains(one));
        self.diagnostics.extend(alone);
    }

    fn block(&mut self, block: BlockRef<'_>) {
        let Self { module, diagnostics, .. } = self;
        match &**block.kind() {
            "terraform" => module.settings.decode(block, diagnostics),
            "provider" => {
                if let Some(one) = ProviderBlock::decode(block, diagnostics) {
                    let found = Found { what: "provider configuration", name: one.name.to_string(), span: one.span };
                    add(&mut module.providers, one.name.clone(), one, found, |one| one.span, diagnostics);
                }
            }
            "variable" => {
                if let Some(one) = Variable::decode(block, diagnostics) {
                    let found = Found { what: "variable", name: one.name.to_string(), span: one.span };
                    add(&mut module.variables, one.name.clone(), one, found, |one| one.span, diagnostics);
                }
            }
            "locals" => {
                for one in Local::decode(block, diagnostics) {
                    let found = Found { what: "local value", name: one.name.to_string(), span: one.span };
                    add(&mut module.locals, one.name.clone(), one, found, |one| one.span, diagnostics);
                }
            }
            "output" => {
                if let Some(one) = Output::decode(block, diagnostics) {
                    let found = Found { what: "output", name: one.name.to_string(), span: one.span };
                    add(&mut module.outputs, one.name.clone(), one, found, |one| one.span, diagnostics);
                }
            }
            kind @ ("resource" | "data" | "ephemeral") => {
                let mode = match kind {
                    "data" => Mode::Data,
                    "ephemeral" => Mode::Ephemeral,
                    _ => Mode::Managed,
                };
                if let Some(one) = Resource::decode(mode, block, diagnostics) {
                    self.resource(one);
                }
            }
            "module" => {
                if let Some(one) = ModuleCall::decode(block, diagnostics) {
                    let found = Found { what: "module call", name: one.name.to_string(), span: one.span };
                    add(&mut module.calls, one.name.clone(), one, found, |one| one.span, diagnostics);
                }
            }
            "check" => {
                let Some((one, data)) = Check::decode(block, diagnostics) else { return };
                let found = Found { what: "check", name: one.name.to_string(), span: one.span };
                add(&mut module.checks, one.name.clone(), one, found, |one| one.span, diagnostics);
                if let Some(data) = data {
                    self.resource(data);
                }
            }
            "moved" => module.moved.extend(Moved::decode(block, diagnostics)),
            "removed" => module.removed.extend(Removed::decode(block, diagnostics)),
            "import" => module.imports.extend(Import::decode(block, diagnostics)),
            kind => diagnostics.push(unsupported_block(kind, KINDS).at(block.header())),
        }
    }

    fn resource(&mut self, one: Resource) {
        let what = match one.name.mode {
            Mode::Managed => "resource",
            Mode::Data => "data",
            Mode::Ephemeral => "ephemeral resource",
        };
        let found = Found { what, name: one.name.to_string(), span: one.span };
        add(&mut self.module.resources, one.name.clone(), one, found, |one| one.span, self.diagnostics);
    }
}

/// All kinds of blocks that a file can hold.
pub(super) const KINDS: [&str; 13] = [
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
pub(super) fn is_configuration(name: &str) -> bool {
    let temporary = name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !temporary && (name.ends_with(".tf") || name.ends_with(".tf.json"))
}

/// Files whose blocks are laid over those of the others.
fn is_override(name: &str) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let stem = stem.strip_suffix(".tf").unwrap_or(stem);
    stem == "override" || stem.ends_with("_override")
}

/// What was found, for the message about what was there before.
struct Found {
    what: &'static str,
    name: String,
    span: Span,
}

fn add<K: Ord, T>(
    to: &mut BTreeMap<K, T>,
    key: K,
    one: T,
    found: Found,
    span: impl Fn(&T) -> Span,
    diagnostics: &mut Diagnostics,
) {
    match to.get(&key) {
        Some(first) => diagnostics.push(duplicate(found.what, &found.name, found.span, span(first))),
        None => {
            to.insert(key, one);
        }
    }
}

/// The names and sources of the module calls in one file: what has to be there so that the configuration can be loaded.
/// Errors are not reported: loading does.
pub(super) fn calls_in(name: &str, text: &str) -> Vec<(Arc<str>, Arc<str>)> {
    let file = engine_diag::FileId(0);
    let (body, _) = if name.ends_with(".json") { parse_json(file, text, &json::FILE) } else { parse(file, text) };
    let calls = body.blocks().filter(|block| &**block.kind() == "module").filter_map(|block| {
        let (name, _) = block.labels().next()?;
        let source = block.body().attribute("source")?.value();
        Some((name.clone(), source.unparenthesized().as_text()?.clone()))
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_names() {
        for (name, configuration, overriding) in [
            ("main.tf", true, false),
            ("main.tf.json", true, false),
            ("override.tf", true, true),
            ("x_override.tf.json", true, true),
            ("overrides.tf", true, false),
            ("xoverride.tf", true, false),
            (".main.tf", false, false),
            ("main.tf~", false, false),
            ("#main.tf#", false, false),
            ("#main.tf", true, false),
            ("main.tofu", false, false),
            ("main.json", false, false),
        ] {
            assert_eq!(is_configuration(name), configuration, "{name}");
            assert!(!configuration || is_override(name) == overriding, "{name}");
        }
    }
}
