//! Templates that a function renders: text from elsewhere, with the variables that the call gives and no others.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Source, Span};
use engine_value::Value;

use crate::{
    eval::{Files, Repetition, Scope, Stop, Subject, Surroundings, expression::Evaluator, undeclared},
    syntax::{Expr, Node, is_identifier, parse_template},
};

/// Why a template could not be rendered.
pub(crate) enum RenderError {
    /// The text is no template.
    Template(String),
    /// The variables are not those of the template.
    Variables(String),
    /// An expression in it failed.
    Failed(String),
}

/// The value of a template: text, or, if it is a single interpolation, what that gives. `name` is what places in it are
/// called by.
///
/// # Errors
/// A fragment, with the place in the template.
pub(crate) fn render(
    name: &str,
    text: &str,
    variables: &Value,
    files: &dyn Files,
    surroundings: &Surroundings,
) -> Result<Value, RenderError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::new(name, text);
    let (template, diagnostics) = parse_template(FileId(0), text);
    if diagnostics.has_errors() {
        return Err(RenderError::Template(told(&source, &diagnostics)));
    }
    let Some(variables) = variables.as_map() else {
        return Err(RenderError::Variables("invalid vars value: must be a map".to_owned()));
    };
    if let Some(wrong) = variables.keys().find(|name| !is_identifier(name)) {
        return Err(RenderError::Variables(format!(
            "invalid template variable name {wrong:?}: must start with a letter, followed by zero or more letters, digits, \
             and underscores"
        )));
    }
    check_names(&template, variables, &source)?;
    let scope = Template { files, surroundings };
    let mut evaluator = Evaluator::new(template.tree(), &scope);
    // What goes wrong is told in one sentence: there is no room for the values of variables.
    evaluator.quiet = 1;
    evaluator.in_template = true;
    evaluator.bound.extend(variables.iter().map(|(name, value)| (Arc::clone(name), value.clone())));
    match evaluator.eval(template.id()) {
        Ok(value) if value.is_null() => {
            let place = place(&source, template.span());
            Err(RenderError::Failed(format!("{place}: the result of the template is null")))
        }
        Ok(value) => Ok(value),
        Err(Stop::Failed(diagnostics)) => Err(RenderError::Failed(told(&source, &diagnostics))),
        Err(Stop::Blocked(never)) => match never {},
    }
}

/// Is every name in the template one of the variables?
fn check_names(template: &Expr, variables: &BTreeMap<Arc<str>, Value>, source: &Source) -> Result<(), RenderError> {
    for traversal in template.traversals() {
        let Node::Traversal { root, .. } = traversal.node() else { continue };
        let name = template.tree().str(root);
        if !variables.contains_key(name) {
            let start = traversal.span().start;
            let place = place(source, Span { start, end: start + name.len() as u32, ..traversal.span() });
            let message = format!("vars map does not contain key \"{name}\", referenced at {place}");
            return Err(RenderError::Variables(message));
        }
    }
    Ok(())
}

/// `name:1,3-8: Summary; detail`, of the first that is wrong.
fn told(source: &Source, diagnostics: &Diagnostics) -> String {
    let Some(first) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) else { return String::new() };
    let place = first.span.map_or_else(|| source.name.to_string(), |span| place(source, span));
    let detail = first.detail.trim_end_matches('.');
    format!("{place}: {}; {detail}", first.summary)
}

/// `name:1,3-8`; over several lines `name:1,3-2,1`.
fn place(source: &Source, span: Span) -> String {
    let (start, end) = (source.position(span.start), source.position(span.end));
    let line = if start.line == end.line { String::new() } else { format!("{},", end.line) };
    format!("{}:{},{}-{line}{}", source.name, start.line, start.column, end.column)
}

/// What names mean in a template: every variable is bound already, so there is nothing.
struct Template<'a> {
    files: &'a dyn Files,
    surroundings: &'a Surroundings,
}

impl Scope for Template<'_> {
    type Key = Infallible;

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<Infallible>> {
        Err(nothing(subject, span).into())
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<Infallible>> {
        Err(nothing(subject, span).into())
    }

    fn files(&self) -> &dyn Files {
        self.files
    }

    fn surroundings(&self) -> &Surroundings {
        self.surroundings
    }
}

fn nothing(subject: &Subject, span: Span) -> Diagnostic {
    undeclared(subject, [], "the template").at(span)
}

/// What the first argument of `templatestring` must be: a name for a text from elsewhere, so that nobody writes a template
/// in a template.
///
/// # Errors
/// A fragment.
pub(crate) fn check_template_argument(argument: &Expr) -> Result<(), String> {
    let elsewhere = "invalid template expression: templatestring is only for rendering templates retrieved dynamically from \
                     elsewhere";
    match argument.node() {
        Node::Traversal { .. } => Ok(()),
        Node::Text(_) => Err(format!(
            "{elsewhere}, and so does not support providing a literal template; use a template expression instead"
        )),
        Node::Wrap(_) | Node::Template(_) => Err(format!(
            "{elsewhere}; to treat the inner expression as a template, write the reference without quotes around it"
        )),
        _ => Err("invalid template expression: must be a direct reference to a single string from elsewhere, containing valid \
                  template syntax"
            .to_owned()),
    }
}
