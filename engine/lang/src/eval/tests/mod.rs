//! Tests of the evaluator: facts recorded from Terraform 1.11.4, and what is ours.

mod decode;
mod defaults;
mod facts;
mod provider;
mod scope;
mod widths;

use std::cell::RefCell;

use engine_diag::{Diagnostics, FileId, Span};
use engine_model::schema::Function;
use engine_value::{Value, json};

use crate::{
    eval::{Files, Repetition, Scope, Stop, Subject, evaluate, undeclared},
    syntax::{Expr, parse_expression},
};

/// A scope of named values, which writes down what it is asked for.
#[derive(Default)]
pub(super) struct Names {
    /// Values by the text of their subject.
    pub(super) values: Vec<(&'static str, Value)>,
    /// Repeated resources and modules by their text.
    pub(super) repeated: Vec<(&'static str, Repetition)>,
    pub(super) asked: RefCell<Vec<String>>,
    /// `provider::p::twice`.
    pub(super) function: Option<Function>,
}

impl Scope for Names {
    type Key = String;

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<String>> {
        let text = subject.text();
        let known = self.repeated.iter().find(|(name, _)| *name == text).map(|(_, repetition)| *repetition);
        let single = self.values.iter().any(|(name, _)| name.starts_with(&text)).then_some(Repetition::Single);
        known.or(single).ok_or_else(|| undeclared(subject, [], "the root module").at(span).into())
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<String>> {
        let text = subject.text();
        self.asked.borrow_mut().push(text.clone());
        if text.contains("blocked") {
            return Err(Stop::Blocked(text));
        }
        let declared = self.values.iter().filter_map(|(name, _)| name.strip_prefix("local."));
        match self.values.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(undeclared(subject, declared, "the root module").at(span).into()),
        }
    }

    fn files(&self) -> &dyn Files {
        self
    }

    fn provider_function(&self, name: &str) -> Result<&Function, Vec<String>> {
        match &self.function {
            Some(function) if name == "provider::p::twice" => Ok(function),
            Some(_) => Err(vec!["provider::p::twice".to_owned()]),
            None => Err(Vec::new()),
        }
    }

    fn call_provider(&self, _: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        match arguments[0].as_str() {
            Some("wrong") => Err((Some(0), "it is wrong".to_owned())),
            Some(text) => Ok(format!("{text}{text}").into()),
            None => Err((None, "it is no text".to_owned())),
        }
    }
}

impl Files for Names {
    fn read(&self, path: &str) -> Result<std::sync::Arc<[u8]>, String> {
        match path {
            "hello.txt" => Ok("Hällo\n".as_bytes().into()),
            _ => Err("not found".to_owned()),
        }
    }

    fn exists(&self, path: &str) -> Result<bool, String> {
        match path {
            "." => Err("is a directory, not a file".to_owned()),
            _ => Ok(path == "hello.txt"),
        }
    }
}

pub(super) fn expression(text: &str) -> Expr {
    let (expr, diagnostics) = parse_expression(FileId(0), text);
    assert!(!diagnostics.has_errors(), "{text}: {diagnostics:?}");
    expr
}

pub(super) fn value_of(text: &str, scope: &Names) -> Result<Value, Diagnostics> {
    match evaluate(&expression(text), scope) {
        Ok(value) => Ok(value),
        Err(Stop::Failed(diagnostics)) => Err(diagnostics),
        Err(Stop::Blocked(key)) => panic!("{text} is blocked by {key}"),
    }
}

pub(super) fn value_from(json: &str) -> Value {
    json::infer(json).unwrap()
}
