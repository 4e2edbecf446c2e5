//! `depends_on`, `count` and `for_each`: what resources and module calls have in common.

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::shape::list;
use crate::syntax::{Body, Expr, Node};

/// How often a resource or module call is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once, without a key.
    Once,
    /// `count`: so many times, with numbers as keys.
    Count(Expr),
    /// `for_each`: once per element, with strings as keys.
    ForEach(Expr),
}

impl Repeat {
    pub(super) fn decode(body: &Body, diagnostics: &mut Diagnostics) -> Self {
        match (body.attribute("count"), body.attribute("for_each")) {
            (None, None) => Self::Once,
            (Some(count), None) => Self::Count(count.value()),
            (None, Some(each)) => Self::ForEach(each.value()),
            // One of them comes from an override file. As in Terraform, count then wins.
            (Some(count), Some(each)) if count.name_span().file != each.name_span().file => Self::Count(count.value()),
            (Some(count), Some(each)) => {
                let detail = "\"count\" and \"for_each\" exclude each other: each says how many instances there are.";
                let diagnostic = Diagnostic::error("Invalid combination of \"count\" and \"for_each\"", detail);
                diagnostics.push(diagnostic.at(each.name_span()).related(count.name_span(), "count is set here"));
                Self::ForEach(each.value())
            }
        }
    }

    /// The expression, if it is repeated.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Once => None,
            Self::Count(expr) | Self::ForEach(expr) => Some(expr),
        }
    }

    /// Where it is repeated.
    pub fn span(&self) -> Option<Span> {
        self.expr().map(Expr::span)
    }
}

/// The traversals in `depends_on`.
pub(super) fn depends_on(body: &Body, diagnostics: &mut Diagnostics) -> Vec<Expr> {
    let list = body.attribute("depends_on");
    list.map_or_else(Vec::new, |list| traversals(&list.value(), Quoted::Deprecated, diagnostics))
}

/// May a reference stand in quotes, as it did before Terraform 0.12?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    Deprecated,
    Never,
}

/// The reference in quotes, with a warning.
pub(super) fn unquoted(element: &Expr, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let (inner, wrong) = element.unquoted()?;
    if wrong.has_errors() || !matches!(inner.node(), Node::Traversal { .. }) {
        let detail = "A reference is required here, such as gpu_pool.dev or module.network.";
        diagnostics.push(Diagnostic::error("Invalid expression", detail).at(element.span()));
        return None;
    }
    let detail = "References stand here as they are; in quotes they are accepted for old configurations only.";
    let diagnostic = Diagnostic::warning("Quoted references are deprecated", detail).at(element.span());
    diagnostics.push(diagnostic.hint("Remove the quotes."));
    Some(inner)
}

/// A list that holds nothing but references.
pub(super) fn traversals(expr: &Expr, quoted: Quoted, diagnostics: &mut Diagnostics) -> Vec<Expr> {
    let mut found = Vec::new();
    for element in list(expr, diagnostics) {
        match element.node() {
            Node::Traversal { .. } => found.push(element),
            // Reported where it was parsed.
            Node::Invalid => {}
            Node::Text(_) if quoted == Quoted::Deprecated => found.extend(unquoted(&element, diagnostics)),
            Node::Text(_) => {
                let detail = "References stand here as they are, not in quotes.";
                let diagnostic = Diagnostic::error("Invalid expression", detail).at(element.span());
                diagnostics.push(diagnostic.hint("Remove the quotes."));
            }
            _ => {
                let detail = "A reference is required here, such as gpu_pool.dev or module.network.";
                diagnostics.push(Diagnostic::error("Invalid expression", detail).at(element.span()));
            }
        }
    }
    found
}
