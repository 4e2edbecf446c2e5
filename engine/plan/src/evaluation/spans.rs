//! Where something that is evaluated is written, and what the user calls it.

use engine_diag::Span;
use engine_lang::{
    config::Repeat,
    eval::{Subject, subject_of},
    syntax::{Body, Expr},
};

use super::Key;
use crate::program::Program;

/// What the user calls it.
pub(super) fn name(key: &Key) -> String {
    match key {
        Key::Arguments(addr) | Key::Object(addr) | Key::Postconditions(addr) => addr.to_string(),
        Key::Validated(module, name) => Key::Variable(module.clone(), name.clone()).to_string(),
        Key::Configured(addr) => addr.to_string(),
        Key::Instances(block) | Key::Whole(block) | Key::Needs(block) => block.to_string(),
        Key::Calls(module, name)
        | Key::Module(module, name)
        | Key::Settled(module, name)
        | Key::Contents(module, name)
        | Key::Gate(module, name) => Key::Module(module.clone(), name.clone()).to_string(),
        other => other.to_string(),
    }
}

/// Where it refers to the other, else where it is declared.
pub(super) fn span(program: &Program, key: &Key, next: &Key) -> Option<Span> {
    let (declared, exprs) = written(program, key)?;
    let refers = exprs.iter().flat_map(Expr::traversals).find_map(|traversal| {
        let (subject, span) = subject_of(&traversal).ok()?;
        is_about(&subject, next).then_some(span)
    });
    Some(refers.unwrap_or(declared))
}

/// Where it is declared.
pub(super) fn declared(program: &Program, key: &Key) -> Option<Span> {
    Some(written(program, key)?.0)
}

/// Could the reference be to that?
fn is_about(subject: &Subject, key: &Key) -> bool {
    match (subject, key) {
        (Subject::Variable(name), Key::Variable(_, other)) | (Subject::Local(name), Key::Local(_, other)) => {
            name == other
        }
        (
            Subject::Resource { mode, ty, name, .. },
            Key::Instances(addr) | Key::Whole(addr) | Key::Needs(addr) | Key::Arguments(addr) | Key::Object(addr),
        ) => *mode == addr.mode && *ty == addr.ty && *name == addr.name,
        (Subject::Module { name, .. }, Key::Output(module, _)) => {
            module.0.last().is_some_and(|step| step.name == *name)
        }
        (
            Subject::Module { name, .. },
            Key::Calls(_, other) | Key::Module(_, other) | Key::Settled(_, other) | Key::Gate(_, other),
        ) => name == other,
        _ => false,
    }
}

/// The declaration, and the expressions that make its value.
fn written(program: &Program, key: &Key) -> Option<(Span, Vec<Expr>)> {
    match key {
        Key::Variable(module, name) => match program.call(module) {
            None => Some((program.module(module)?.variables.get(name)?.span, Vec::new())),
            Some((_, call)) => {
                let argument = call.arguments.body.attribute(name);
                Some((argument.map_or(call.span, |a| a.span()), argument.map(|a| a.value()).into_iter().collect()))
            }
        },
        Key::Local(module, name) => {
            let local = program.module(module)?.locals.get(name)?;
            Some((local.span, vec![local.value.clone()]))
        }
        Key::Output(module, name) => {
            let output = program.module(module)?.outputs.get(name)?;
            let exprs = [&output.value].into_iter().chain(&output.depends_on).cloned().collect();
            Some((output.span, exprs))
        }
        Key::Calls(module, name)
        | Key::Module(module, name)
        | Key::Settled(module, name)
        | Key::Contents(module, name)
        | Key::Gate(module, name) => {
            let call = program.module(module)?.calls.get(name)?;
            Some((call.span, repeat(&call.repeat).chain(call.depends_on.iter().cloned()).collect()))
        }
        Key::Instances(addr) => {
            let block = program.resource(addr)?;
            Some((block.span, repeat(&block.repeat).collect()))
        }
        Key::Validated(module, name) => {
            let variable = program.module(module)?.variables.get(name)?;
            let exprs = variable.validations.iter().flat_map(|one| [one.condition.clone(), one.error_message.clone()]);
            Some((variable.span, exprs.collect()))
        }
        Key::Check(module, name) => {
            let check = program.module(module)?.checks.get(name)?;
            Some((check.span, check.asserts.iter().map(|one| one.condition.clone()).collect()))
        }
        Key::Whole(addr) | Key::Needs(addr) | Key::Arguments(addr) | Key::Postconditions(addr) | Key::Object(addr) => {
            let block = program.resource(addr)?;
            let mut exprs: Vec<Expr> = repeat(&block.repeat).chain(block.depends_on.iter().cloned()).collect();
            exprs.extend(body_exprs(&block.arguments.body));
            Some((block.span, exprs))
        }
        Key::Provider(addr) | Key::Configured(addr) => {
            let block = program.provider_block(addr)?;
            Some((block.span, body_exprs(&block.arguments.body)))
        }
    }
}

fn repeat(repeat: &Repeat) -> impl Iterator<Item = Expr> + use<> {
    repeat.expr().cloned().into_iter()
}

/// Every expression in a body, those of nested blocks too.
fn body_exprs(body: &Body) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut todo = vec![body.clone()];
    while let Some(body) = todo.pop() {
        found.extend(body.attributes().map(|attribute| attribute.value()));
        todo.extend(body.blocks().map(|block| block.body()));
    }
    found
}
