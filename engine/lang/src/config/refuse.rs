//! What the language has and Sliceform does not execute yet. Each is refused where it stands, never ignored.

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    module::Module,
    resource::{IgnoreChanges, Resource},
};

fn refusal(what: &str, instead: &str) -> Diagnostic {
    Diagnostic::error("Not supported yet", format!("Sliceform does not support {what} yet.")).hint(instead)
}

/// Why files of that name are not read.
pub(super) fn file(name: &str) -> Option<Diagnostic> {
    if name.ends_with(".json") {
        return Some(refusal(
            "configuration in JSON (*.tf.json)",
            "Write the same in the native syntax, in a .tf file.",
        ));
    }
    let stem = name.strip_suffix(".tf")?;
    (stem == "override" || stem.ends_with("_override")).then(|| {
        refusal(
            "override files (override.tf, *_override.tf)",
            "Make the change in the file that it overrides, or rename this file.",
        )
    })
}

/// Why variable values in JSON are not read.
pub(super) fn json_values() -> Diagnostic {
    let instead = "Write the same values in a .tfvars file: NAME = VALUE.";
    refusal("variable values in JSON (*.tfvars.json)", instead)
}

/// Why blocks of that kind are not executed.
pub(super) fn block(kind: &str) -> Option<Diagnostic> {
    let instead = match kind {
        "check" => "Remove the block, or look at the condition after apply with an output.",
        "moved" => {
            "Remove the block once the object has been recreated under its new address, or keep the old address."
        }
        "removed" => "Remove the resource block itself: its object is then planned to be destroyed.",
        "import" => "Remove the block. Objects that exist already stay with whoever made them.",
        "ephemeral" => "Use a data source, and mark the outputs that hold its values as sensitive.",
        _ => return None,
    };
    Some(refusal(&format!("\"{kind}\" blocks"), instead))
}

/// Refuses what in a module is understood but not executed.
pub(super) fn module(module: &Module, diagnostics: &mut Diagnostics) {
    for variable in module.variables.values() {
        if let Some(validation) = variable.validations.first() {
            refuse(validation.span, "validation of variables", "Narrow the variable's type.", diagnostics);
        }
        if variable.ephemeral {
            refuse(variable.span, "ephemeral variables", "Set sensitive = true instead.", diagnostics);
        }
    }
    for output in module.outputs.values() {
        if let Some(condition) = output.preconditions.first() {
            refuse(condition.span, "preconditions", "Remove the block.", diagnostics);
        }
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
    if let Some(condition) = lifecycle.preconditions.first() {
        refuse(condition.span, "preconditions", "Remove the block.", diagnostics);
    }
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
