//! Defaults of variables, and of optional attributes in their types, are of those types.

use engine_diag::Diagnostics;

use crate::{
    config::Variable,
    eval::{ConstraintError, apply_constraint, check_defaults, evaluate_constant, failed_conversion},
    syntax::{Expr, Node},
};

/// Reports defaults of a variable that cannot be.
pub(super) fn check(variable: &Variable, diagnostics: &mut Diagnostics) {
    if let Err(wrong) = check_defaults(&variable.constraint) {
        return diagnostics.extend(wrong);
    }
    let Some(default) = variable.default.as_ref().filter(|default| is_constant(default)) else { return };
    let value = match evaluate_constant(default) {
        Ok(value) => value,
        Err(wrong) => return diagnostics.extend(wrong),
    };
    match apply_constraint(&value, &variable.constraint) {
        Ok(_) => {}
        Err(ConstraintError::Default(wrong)) => diagnostics.extend(wrong),
        Err(ConstraintError::Value(error)) => {
            let mut diagnostic = failed_conversion(default, &error, &format!("default of var.{}", variable.name));
            diagnostic.summary = "Invalid default value for variable".to_owned();
            diagnostics.push(diagnostic);
        }
    }
}

/// What is no constant is reported where the variable is decoded.
fn is_constant(expr: &Expr) -> bool {
    expr.find(|node| matches!(node, Node::Traversal { .. } | Node::Call { .. })).is_empty()
}
