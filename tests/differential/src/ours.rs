//! What we make of a case.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostics, FileId, Span};
use engine_lang::{
    config::Constraint,
    eval::{
        ConstraintError, Files, Repetition, Scope, Stop, Subject, apply_constraint, check_call, check_defaults,
        evaluate, references, undeclared,
    },
    syntax::{Expr, Node, parse_expression},
};
use engine_value::{Value, json};

use crate::{
    answer::{Answer, content},
    world,
};

/// The values of the names that cases may use.
pub struct Names(BTreeMap<&'static str, Value>);

impl Default for Names {
    fn default() -> Self {
        let nothing = Self(BTreeMap::new());
        let mut values = BTreeMap::new();
        for (name, text) in world::KNOWN {
            let value = value_of(text, &nothing).expect("the names of the world are right");
            values.insert(*name, value);
        }
        for name in world::UNKNOWN.iter().map(|(name, _)| *name).chain(["id", "any", "su"]) {
            values.insert(name, world::unknown(name).expect("every unknown name has a value"));
        }
        Self(values)
    }
}

impl Scope for Names {
    type Key = std::convert::Infallible;

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<Self::Key>> {
        Err(undeclared(subject, [], "the root module").at(span).into())
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<Self::Key>> {
        match subject {
            Subject::Local(name) if self.0.contains_key(name.as_ref()) => Ok(self.0[name.as_ref()].clone()),
            _ => Err(undeclared(subject, self.0.keys().copied(), "the root module").at(span).into()),
        }
    }

    fn files(&self) -> &dyn Files {
        self
    }
}

impl Files for Names {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("there are no files".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

/// An expression, with the checks that are made before any value is there.
fn parsed(text: &str) -> Result<Expr, Diagnostics> {
    let (expr, diagnostics) = parse_expression(FileId(0), text);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    references(&expr)?;
    match expr.find(|node| matches!(node, Node::Call { .. })).iter().find_map(check_call) {
        Some(wrong) => Err(wrong.into()),
        None => Ok(expr),
    }
}

fn value_of(text: &str, names: &Names) -> Result<Value, Diagnostics> {
    evaluate(&parsed(text)?, names).map_err(|stop| match stop {
        Stop::Failed(diagnostics) => diagnostics,
        Stop::Blocked(never) => match never {},
    })
}

fn constrained(value: &Value, constraint: &str) -> Result<Value, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let (constraint, found) = parse_expression(FileId(0), constraint);
    diagnostics.extend(found);
    let constraint = Constraint::parse(&constraint, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    check_defaults(&constraint)?;
    apply_constraint(value, &constraint).map_err(|error| match error {
        ConstraintError::Default(diagnostics) => diagnostics,
        ConstraintError::Value(error) => {
            let detail = format!("The given value is not suitable: {error}.");
            engine_diag::Diagnostic::error("Invalid value for input variable", detail).into()
        }
    })
}

/// What we make of an expression that is given to a variable of that type.
pub fn answer(constraint: Option<&str>, expression: &str, names: &Names) -> Answer {
    let value = value_of(expression, names);
    let value = match constraint {
        Some(constraint) => value.and_then(|value| constrained(&value, constraint)),
        None => value,
    };
    match value {
        Ok(value) => shown(&value),
        Err(diagnostics) => {
            let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error()).expect("a failure has an error");
            Answer::Fails {
                summary: first.summary.clone(),
                detail: first.detail.split_whitespace().collect::<Vec<_>>().join(" "),
            }
        }
    }
}

fn shown(value: &Value) -> Answer {
    if is_infinite(value) {
        // No plan can hold it.
        return Answer::Fails { summary: "infinite".to_owned(), detail: String::new() };
    }
    let ty = json::type_to_tree(&value.type_of()).to_string();
    let known = json::known_part(value, false);
    let content = content(known.as_ref(), Some(&json::after_unknown(value)), Some(&json::sensitive_part(value)));
    Answer::Value { ty, content }
}

fn is_infinite(value: &Value) -> bool {
    value.as_number().is_some_and(|number| !number.is_finite()) || value.parts().any(is_infinite)
}
