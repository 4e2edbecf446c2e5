//! Conditions with a message: `validation`, `precondition`, `postcondition`.

use engine_diag::{Diagnostics, Span};

use super::shape::{Shape, labels};
use crate::syntax::{Body, Expr};

/// A condition that must be true, and what is said when it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The condition.
    pub condition: Expr,
    /// The message.
    pub error_message: Expr,
    /// The header of its block.
    pub span: Span,
}

const SHAPE: Shape =
    Shape { required: &["condition", "error_message"], optional: &[], blocks: &[], single_blocks: &[] };

/// The conditions that stand in `body` as blocks of that kind.
pub(super) fn conditions(body: &Body, kind: &str, diagnostics: &mut Diagnostics) -> Vec<Condition> {
    let mut found = Vec::new();
    for block in body.blocks().filter(|block| &**block.kind() == kind) {
        let inner = block.body();
        labels(block, [], diagnostics);
        SHAPE.check(&inner, diagnostics);
        if let (Some(condition), Some(message)) = (inner.attribute("condition"), inner.attribute("error_message")) {
            found.push(Condition {
                condition: condition.value(),
                error_message: message.value(),
                span: block.header(),
            });
        }
    }
    found
}
