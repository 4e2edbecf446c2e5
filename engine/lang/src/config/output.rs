//! `locals` and `output` blocks.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    condition::{Condition, conditions},
    depends::depends_on,
    shape::{Shape, boolean_argument, check_name, labels, text_argument, unsupported_block},
};
use crate::syntax::{BlockRef, Expr};

/// A local value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Expr,
    /// The name and the value.
    pub span: Span,
}

/// An output of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Expr,
    /// Never shown.
    pub sensitive: bool,
    /// Never stored.
    pub ephemeral: bool,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// What it depends on beside what its value refers to; traversals.
    pub depends_on: Vec<Expr>,
    /// Conditions that must hold before it is evaluated.
    pub preconditions: Vec<Condition>,
    /// The header of its block.
    pub span: Span,
}

impl Local {
    /// All values of a `locals` block.
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Vec<Self> {
        labels(block, [], diagnostics);
        let body = block.body();
        for inner in body.blocks() {
            diagnostics.push(unsupported_block(inner.kind(), []).at(inner.kind_span()));
        }
        let locals = body.attributes().map(|attribute| Self {
            name: attribute.name().clone(),
            value: attribute.value(),
            span: attribute.span(),
        });
        locals.collect()
    }
}

const SHAPE: Shape = Shape {
    required: &["value"],
    optional: &["description", "sensitive", "ephemeral", "depends_on"],
    blocks: &["precondition", "postcondition"],
    single_blocks: &[],
};

impl Output {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [(name, name_span)] = labels(block, ["name"], diagnostics)?;
        let body = block.body();
        SHAPE.check(&body, diagnostics);
        for postcondition in body.blocks().filter(|inner| &**inner.kind() == "postcondition") {
            let detail = "An output has only preconditions: there is nothing that it becomes.";
            let diagnostic = Diagnostic::error("Postconditions are not allowed", detail).at(postcondition.header());
            diagnostics.push(diagnostic.hint("Write it as a precondition."));
        }
        check_name("output", name, name_span, diagnostics);
        Some(Self {
            name: name.clone(),
            value: body.attribute("value")?.value(),
            sensitive: boolean_argument(&body, "sensitive", diagnostics).unwrap_or(false),
            ephemeral: boolean_argument(&body, "ephemeral", diagnostics).unwrap_or(false),
            description: text_argument(&body, "description", diagnostics),
            depends_on: depends_on(&body, diagnostics),
            preconditions: conditions(&body, "precondition", diagnostics),
            span: block.header(),
        })
    }
}
