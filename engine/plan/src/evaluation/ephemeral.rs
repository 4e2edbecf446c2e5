//! Ephemeral values: where they may go. They are kept nowhere, so they may not become part of what is.

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{
    config::{Arguments, Output, Variable},
    eval::place_of,
};
use engine_model::schema::{AttributeType, Block};
use engine_value::{Marks, Path, Step, Value};

/// The value of an output as what refers to it sees it.
pub(super) fn of_output(output: &Output, is_root: bool, value: Value) -> Result<Value, Box<Diagnostic>> {
    if value.contains_ephemeral() && (is_root || !output.ephemeral) {
        let detail = format!("The output \"{}\" holds an ephemeral value, and outputs are kept.", output.name);
        let error = Diagnostic::error("Ephemeral value not allowed", detail).at(output.value.span());
        let hint = if is_root {
            "Outputs of the root module cannot hold ephemeral values."
        } else {
            "Mark it with ephemeral = true."
        };
        return Err(Box::new(error.hint(hint)));
    }
    Ok(if output.ephemeral { value.mark(Marks::EPHEMERAL) } else { value })
}

/// The value of a variable as what refers to it sees it.
pub(super) fn of_variable(variable: &Variable, value: Value, at: engine_diag::Span) -> Result<Value, Box<Diagnostic>> {
    if value.contains_ephemeral() && !variable.ephemeral {
        let detail = format!("The value is ephemeral, and the variable \"{}\" is not.", variable.name);
        let error = Diagnostic::error("Ephemeral value not allowed", detail).at(at);
        let hint = "Declare it with ephemeral = true.";
        return Err(Box::new(error.related(variable.span, "it is declared here").hint(hint)));
    }
    Ok(if variable.ephemeral { value.mark(Marks::EPHEMERAL) } else { value })
}

/// Reports ephemeral values in arguments that are kept: in all but write-only ones.
pub(super) fn in_arguments(arguments: &Arguments, schema: &Block, value: &Value) -> Result<(), Diagnostics> {
    if !value.contains_ephemeral() {
        return Ok(());
    }
    let mut wrong = Diagnostics::new();
    value.walk(&mut |path, part| {
        if !part.marks.ephemeral {
            return true;
        }
        if !is_write_only(schema, path) {
            let detail =
                format!("The argument {path} is kept in plan and state, and ephemeral values are kept nowhere.");
            let span = place_of(arguments, schema, path).unwrap_or_else(|| arguments.body.lacks());
            wrong.push(Diagnostic::error("Invalid use of ephemeral value", detail).at(span));
        }
        false
    });
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Does the path lead into an argument that is never kept?
fn is_write_only(schema: &Block, path: &Path) -> bool {
    let names = path.0.iter().filter_map(|step| match step {
        Step::Attr(name) => Some(name),
        _ => None,
    });
    let mut block = schema;
    let mut attributes = &schema.attributes;
    for name in names {
        if let Some(attribute) = attributes.get(name) {
            match &attribute.ty {
                _ if attribute.write_only => return true,
                AttributeType::Nested { attributes: inner, .. } => attributes = inner,
                AttributeType::Plain(_) => return false,
            }
        } else if let Some(nested) = block.blocks.get(name) {
            block = &nested.block;
            attributes = &block.attributes;
        } else {
            return false;
        }
    }
    false
}
