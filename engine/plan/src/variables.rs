//! Values of variables: as text, and brought to the type that the variable declares.

use engine_diag::{Diagnostic, Diagnostics, Sources, Span};
use engine_lang::{
    config::{Assignment, Module, Variable},
    eval::{ConstraintError, apply_constraint},
    syntax::parse_expression,
};
use engine_value::{Marks, Type, Value};

use crate::program::Given;

/// What a text means that is given to a variable of the root module on the command line or in the environment: the text
/// itself where the variable is a string or says no type, else an expression. `from` says where it was given, for error
/// messages: `-var of "x"`.
pub fn given_text(variable: &Variable, text: &str, from: &str, sources: &mut Sources) -> (Given, Diagnostics) {
    if !variable.has_type || variable.constraint.ty == Type::String {
        return (Given::Value(Value::from(text)), Diagnostics::new());
    }
    let file = sources.add(format!("<{from}>"), text);
    let (value, diagnostics) = parse_expression(file, text);
    let span = value.span();
    (Given::Written(Assignment { value, span }), diagnostics)
}

/// The error for a value that is given to a variable that the root module does not declare.
pub fn undeclared_variable(root: &Module, name: &str, span: Option<Span>) -> Diagnostic {
    let detail = format!("The root module declares no variable \"{name}\".");
    let error = Diagnostic::error("Value for undeclared variable", detail).at_opt(span);
    match crate::providers::nearest(name, root.variables.keys().map(|name| &**name)) {
        Some(near) => error.hint(format!("Did you mean \"{near}\"?")),
        None => error.hint(format!("Declare it with variable \"{name}\" {{ }}, or leave the value out.")),
    }
}

/// The value of a variable from what was given: of its type, with its defaults, and sensitive where it says so.
pub(crate) fn finished(variable: &Variable, value: &Value, span: Span) -> Result<Value, Diagnostics> {
    let value = apply_constraint(value, &variable.constraint).map_err(|error| match error {
        ConstraintError::Default(diagnostics) => diagnostics,
        ConstraintError::Value(error) => {
            let detail = format!("The given value is not suitable for var.{}: {error}.", variable.name);
            let error = Diagnostic::error("Invalid value for variable", detail).at(span);
            if span == variable.span {
                error.into()
            } else {
                error.related(variable.span, "it is declared here").into()
            }
        }
    })?;
    Ok(if variable.sensitive { value.mark(Marks::SENSITIVE) } else { value })
}
