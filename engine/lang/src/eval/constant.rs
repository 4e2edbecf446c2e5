//! Constants: expressions that refer to nothing.

use std::{convert::Infallible, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_value::Value;

use crate::{
    eval::{Files, Repetition, Scope, Stop, Subject, evaluate},
    syntax::Expr,
};

/// The value of an expression that refers to nothing and reads no file: a default, a value of a tfvars file.
///
/// # Errors
/// If it is wrong, or refers to something all the same.
pub fn evaluate_constant(expr: &Expr) -> Result<Value, Diagnostics> {
    match evaluate(expr, &Nothing) {
        Ok(value) => Ok(value),
        Err(Stop::Failed(diagnostics)) => Err(diagnostics),
        Err(Stop::Blocked(never)) => match never {},
    }
}

struct Nothing;

impl Scope for Nothing {
    type Key = Infallible;

    fn repetition(&self, _: &Subject, span: Span) -> Result<Repetition, Stop<Infallible>> {
        Err(not_allowed(span).into())
    }

    fn resolve(&self, _: &Subject, span: Span) -> Result<Value, Stop<Infallible>> {
        Err(not_allowed(span).into())
    }

    fn files(&self) -> &dyn Files {
        self
    }
}

fn not_allowed(span: Span) -> Diagnostic {
    Diagnostic::error("Variables not allowed", "Variables may not be used here.").at(span)
}

impl Files for Nothing {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("files may not be read here".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Err("may not be read here".to_owned())
    }
}
