//! Which arguments and blocks may stand in a block of the language itself, and the constants that some of them are.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Label, Span};
use engine_value::{Data, Type, Value, convert};

use crate::eval::{did_you_mean, evaluate_constant};
use crate::syntax::{BlockRef, Body, Expr, Node};

/// What may stand in a body.
pub(super) struct Shape {
    pub(super) required: &'static [&'static str],
    pub(super) optional: &'static [&'static str],
    /// Blocks that may stand any number of times.
    pub(super) blocks: &'static [&'static str],
    /// Blocks that may stand once.
    pub(super) single_blocks: &'static [&'static str],
}

impl Shape {
    /// Reports what may not stand in the body, and what is missing.
    pub(super) fn check(&self, body: &Body, diagnostics: &mut Diagnostics) {
        let arguments = || self.required.iter().chain(self.optional).copied();
        let blocks = || self.blocks.iter().chain(self.single_blocks).copied();
        for attribute in body.attributes() {
            let name = &**attribute.name();
            if arguments().any(|known| known == name) {
                continue;
            }
            let mut diagnostic = unsupported_argument(name, arguments()).at(attribute.name_span());
            if blocks().any(|block| block == name) {
                diagnostic.hint = Some(format!("\"{name}\" is a block here: write \"{name} {{ … }}\", without \"=\"."));
            }
            diagnostics.push(diagnostic);
        }
        for block in body.blocks() {
            let kind = &**block.kind();
            if !blocks().any(|known| known == kind) {
                let mut diagnostic = unsupported_block(kind, blocks()).at(block.kind_span());
                if arguments().any(|argument| argument == kind) {
                    diagnostic.hint = Some(format!("\"{kind}\" is an argument here: write \"{kind} = …\"."));
                }
                diagnostics.push(diagnostic);
            }
        }
        for kind in self.single_blocks {
            let mut found = body.blocks().filter(|block| &**block.kind() == *kind);
            let first = found.next().map(BlockRef::header);
            for (again, first) in found.zip(first.into_iter().cycle()) {
                let detail = format!("There may be only one \"{kind}\" block here.");
                diagnostics.push(
                    Diagnostic::error(format!("Duplicate {kind} block"), detail)
                        .at(again.header())
                        .related(first, "the first one"),
                );
            }
        }
        for name in self.required {
            if body.attribute(name).is_none() {
                diagnostics.push(missing_argument(name).at(body.lacks()));
            }
        }
    }
}

pub(super) fn unsupported_argument<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let detail = format!("An argument named \"{name}\" is not expected here.{}", did_you_mean(name, known));
    Diagnostic::error("Unsupported argument", detail)
}

pub(super) fn unsupported_block<'a>(kind: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let detail = format!("Blocks of type \"{kind}\" are not expected here.{}", did_you_mean(kind, known));
    Diagnostic::error("Unsupported block type", detail)
}

fn missing_argument(name: &str) -> Diagnostic {
    let detail = format!("The argument \"{name}\" is required, but no definition was found.");
    Diagnostic::error("Missing required argument", detail)
}

/// The labels of a block, which must be as many as `names`.
pub(super) fn labels<'a, const N: usize>(
    block: BlockRef<'a>,
    names: [&str; N],
    diagnostics: &mut Diagnostics,
) -> Option<[(&'a Arc<str>, Span); N]> {
    let kind = block.kind();
    let found: Vec<_> = block.labels().collect();
    let expected = match names.join(", ") {
        none if none.is_empty() => "no labels".to_owned(),
        names if N == 1 => format!("one label ({names})"),
        names => format!("{N} labels ({names})"),
    };
    if let Some((_, extra)) = found.get(N) {
        let detail = format!("A {kind} block has {expected}.");
        diagnostics.push(Diagnostic::error(format!("Extraneous label for {kind}"), detail).at(*extra));
        return None;
    }
    match <[_; N]>::try_from(found) {
        Ok(labels) => Some(labels),
        Err(found) => {
            let missing = names[found.len()];
            let detail = format!("A {kind} block has {expected}.");
            diagnostics.push(Diagnostic::error(format!("Missing {missing} for {kind}"), detail).at(block.header()));
            None
        }
    }
}

/// Is it a name of the language?
pub(super) fn is_name(text: &str) -> bool {
    crate::syntax::is_identifier(text)
}

/// Reports a name that is none.
pub(super) fn check_name(what: &str, name: &str, span: Span, diagnostics: &mut Diagnostics) {
    if !is_name(name) {
        let detail = "A name must start with a letter or underscore and may contain only letters, digits, underscores, \
                      and dashes.";
        diagnostics.push(Diagnostic::error(format!("Invalid {what} name"), detail).at(span));
    }
}

/// The error for a second definition of the same thing.
pub(super) fn duplicate(what: &str, name: &str, again: Span, first: Span) -> Diagnostic {
    let detail = format!("A {what} named \"{name}\" is already defined in this module. Names must be unique.");
    let mut diagnostic = Diagnostic::error(format!("Duplicate {what} definition"), detail).at(again);
    diagnostic.related.push(Label { span: first, text: "first defined here".to_owned() });
    diagnostic
}

/// A constant text. A number or a template of constants is one too.
pub(super) fn text(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<Arc<str>> {
    if let Some(text) = expr.as_text() {
        return Some(text.clone());
    }
    match constant_as(expr, &Type::String, "a quoted string", diagnostics)?.data {
        Data::String(text) => Some(text),
        _ => None,
    }
}

/// A constant `true` or `false`. As everywhere in the language, the quoted words mean the same.
pub(super) fn boolean(expr: &Expr, diagnostics: &mut Diagnostics) -> Option<bool> {
    match constant_as(expr, &Type::Bool, "true or false", diagnostics)?.data {
        Data::Bool(value) => Some(value),
        _ => None,
    }
}

/// The value of a constant; null is as good as nothing.
fn constant_as(expr: &Expr, ty: &Type, expected: &str, diagnostics: &mut Diagnostics) -> Option<Value> {
    if !expr.traversals().is_empty() {
        let detail = format!("Variables may not be used here: it must be {expected} that is known before evaluation.");
        diagnostics.push(Diagnostic::error("Variables not allowed", detail).at(expr.span()));
        return None;
    }
    let before = diagnostics.0.len();
    constant(expr, diagnostics);
    if diagnostics.0.len() > before || !expr.find(|node| matches!(node, Node::Invalid)).is_empty() {
        return None;
    }
    let value = match evaluate_constant(expr) {
        Ok(value) => value,
        Err(wrong) => {
            diagnostics.extend(wrong);
            return None;
        }
    };
    match convert(&value, ty) {
        Ok(value) => Some(value),
        Err(_) => {
            let detail = format!("This must be {expected}.");
            diagnostics.push(Diagnostic::error("Unsuitable value type", detail).at(expr.span()));
            None
        }
    }
}

/// `name = "text"` in a body, if it is there.
pub(super) fn text_argument(body: &Body, name: &str, diagnostics: &mut Diagnostics) -> Option<Arc<str>> {
    text(&body.attribute(name)?.value(), diagnostics)
}

/// `name = true` in a body, if it is there.
pub(super) fn boolean_argument(body: &Body, name: &str, diagnostics: &mut Diagnostics) -> Option<bool> {
    boolean(&body.attribute(name)?.value(), diagnostics)
}

/// The elements of `[a, b]`, which must be written as a list.
pub(super) fn list(expr: &Expr, diagnostics: &mut Diagnostics) -> Vec<Expr> {
    let inner = expr.unparenthesized();
    match inner.node() {
        Node::Tuple(elements) => inner.tree().exprs(elements).iter().map(|id| inner.with(*id)).collect(),
        _ => {
            let detail = "A list is required here, written out in brackets.";
            diagnostics.push(Diagnostic::error("Invalid expression", detail).at(expr.span()));
            Vec::new()
        }
    }
}

/// The items of `{ a = 1 }`, which must be written as an object.
pub(super) fn object(expr: &Expr, diagnostics: &mut Diagnostics) -> Vec<(Expr, Expr)> {
    let inner = expr.unparenthesized();
    match inner.node() {
        Node::Object(items) => {
            inner.tree().items(items).iter().map(|item| (inner.with(item.key), inner.with(item.value))).collect()
        }
        _ => {
            let detail = "An object is required here, written out in braces.";
            diagnostics.push(Diagnostic::error("Invalid expression", detail).at(expr.span()));
            Vec::new()
        }
    }
}

/// Reports references and calls in an expression that must be a constant.
pub(super) fn constant(expr: &Expr, diagnostics: &mut Diagnostics) {
    for traversal in expr.traversals() {
        let detail = "Variables may not be used here: the value must be a constant.";
        diagnostics.push(Diagnostic::error("Variables not allowed", detail).at(traversal.span()));
    }
    for call in expr.find(|node| matches!(node, Node::Call { .. })) {
        let detail = "Functions may not be called here: the value must be a constant.";
        diagnostics.push(Diagnostic::error("Function calls not allowed", detail).at(call.span()));
    }
}
