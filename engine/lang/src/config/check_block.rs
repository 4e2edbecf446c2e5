//! `check` blocks: conditions of the whole, with a data source of their own if they need one.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::address::Mode;

use super::{
    condition::{Condition, conditions},
    resource::Resource,
    shape::{Shape, check_name, labels},
};
use crate::syntax::BlockRef;

/// A `check` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: Arc<str>,
    /// What must hold; at least one.
    pub asserts: Vec<Condition>,
    /// The header of its block.
    pub span: Span,
}

const SHAPE: Shape = Shape { required: &[], optional: &[], blocks: &["assert"], single_blocks: &["data"] };

impl Check {
    /// The check, and its data source.
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<(Self, Option<Resource>)> {
        let [(name, name_span)] = labels(block, ["name"], diagnostics)?;
        let body = block.body();
        SHAPE.check(&body, diagnostics);
        check_name("check block", name, name_span, diagnostics);
        let asserts = conditions(&body, "assert", diagnostics);
        if asserts.is_empty() && !body.blocks().any(|inner| &**inner.kind() == "assert") {
            let detail = "Check blocks must have at least one assert block.";
            diagnostics.push(Diagnostic::error("Zero assert blocks", detail).at(block.header()));
        }
        let data = body.blocks().find(|inner| &**inner.kind() == "data");
        let data = data.and_then(|data| {
            let data = Resource::decode(Mode::Data, data, diagnostics)?;
            for meta in ["count", "for_each", "lifecycle"] {
                let argument = data.arguments.body.attribute(meta).map(|argument| argument.name_span());
                let nested = data.arguments.body.blocks().find(|inner| &**inner.kind() == meta);
                if let Some(span) = argument.or(nested.map(BlockRef::header)) {
                    let detail = format!("The data source of a check block has no \"{meta}\".");
                    diagnostics.push(Diagnostic::error(format!("Invalid \"{meta}\" argument"), detail).at(span));
                }
            }
            Some(Resource { check: Some(name.clone()), ..data })
        });
        Some((Self { name: name.clone(), asserts, span: block.header() }, data))
    }
}
