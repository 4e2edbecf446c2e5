//! What the language has and Sliceform does not execute yet. Whoever makes a plan refuses it where it stands; it is never
//! ignored. It is read and checked all the same, so `validate` tells what is wrong with it.

use std::collections::BTreeSet;

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::Mode;

use super::{
    Config,
    module::Module,
    resource::{IgnoreChanges, Resource},
};

fn refusal(what: &str, instead: &str) -> Diagnostic {
    Diagnostic::error("Not supported yet", format!("Sliceform does not support {what} yet.")).hint(instead)
}

/// What a configuration says that is understood and checked, but not carried out yet: a plan of it would be wrong.
pub fn not_executed(config: &Config) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut seen = BTreeSet::new();
    for (_, module) in config.modules() {
        if seen.insert(module.directory.clone()) {
            self::module(module, &mut diagnostics);
        }
    }
    diagnostics
}

/// Blocks that are not carried out, with what to do instead.
const BLOCKS: [(&str, &str); 5] = [
    ("check", "Remove the block, or look at the condition after apply with an output."),
    ("moved", "Remove the block once the object has been recreated under its new address, or keep the old address."),
    ("removed", "Remove the block and the resource block: its object is then planned to be destroyed."),
    ("import", "Remove the block, and use the import command."),
    ("ephemeral", "Use a data source, and mark the outputs that hold its values as sensitive."),
];

fn blocks(module: &Module, diagnostics: &mut Diagnostics) {
    let is_ephemeral = |resource: &&Resource| resource.name.mode == Mode::Ephemeral;
    let found = [
        module.checks.values().next().map(|one| one.span),
        module.moved.first().map(|one| one.span),
        module.removed.first().map(|one| one.span),
        module.imports.first().map(|one| one.span),
        module.resources.values().find(is_ephemeral).map(|one| one.span),
    ];
    for ((kind, instead), span) in BLOCKS.iter().zip(found) {
        if let Some(span) = span {
            refuse(span, &format!("\"{kind}\" blocks"), instead, diagnostics);
        }
    }
}

/// Refuses what in a module is understood but not executed.
fn module(module: &Module, diagnostics: &mut Diagnostics) {
    blocks(module, diagnostics);
    for variable in module.variables.values() {
        if variable.ephemeral {
            refuse(variable.span, "ephemeral variables", "Set sensitive = true instead.", diagnostics);
        }
    }
    for output in module.outputs.values() {
        if output.ephemeral {
            refuse(output.span, "ephemeral outputs", "Set sensitive = true instead.", diagnostics);
        }
    }
    for resource in module.resources.values() {
        self::resource(resource, diagnostics);
    }
}

fn resource(resource: &Resource, diagnostics: &mut Diagnostics) {
    let lifecycle = &resource.lifecycle;
    if let Some(condition) = lifecycle.postconditions.first() {
        refuse(condition.span, "postconditions", "Remove the block.", diagnostics);
    }
    let ignored = match &lifecycle.ignore_changes {
        IgnoreChanges::Nothing => None,
        IgnoreChanges::All(span) => Some(*span),
        IgnoreChanges::Paths(paths) => paths.first().map(|path| path.span()),
    };
    if let Some(span) = ignored {
        refuse(span, "ignore_changes", "Leave the argument out of the resource block, if it is optional.", diagnostics);
    }
    if let Some(trigger) = lifecycle.replace_triggered_by.first() {
        let instead = "Use triggers_replace of a terraform_data resource, or -replace=ADDRESS.";
        refuse(trigger.span(), "replace_triggered_by", instead, diagnostics);
    }
    for block in resource.arguments.body.blocks() {
        match &**block.kind() {
            "provisioner" | "connection" => {
                let what = format!("\"{}\" blocks", block.kind());
                let instead = "Remove the block: what it runs is not part of a plan, and cannot be reviewed.";
                refuse(block.header(), &what, instead, diagnostics);
            }
            "_" => refuse(block.header(), "escape blocks (\"_\")", "Write its arguments directly.", diagnostics),
            _ => {}
        }
    }
}

fn refuse(span: Span, what: &str, instead: &str, diagnostics: &mut Diagnostics) {
    diagnostics.push(refusal(what, instead).at(span));
}
