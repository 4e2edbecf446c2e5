//! `variable` blocks.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};

use super::{
    condition::{Condition, conditions},
    constraint::Constraint,
    shape::{Shape, boolean_argument, check_name, constant, labels, text_argument},
};
use crate::syntax::{BlockRef, Expr, Node};

/// An input of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// What a value is converted to.
    pub constraint: Constraint,
    /// Is a type written at all? Without one, the text of a `TF_VAR_` variable is taken as it is.
    pub has_type: bool,
    /// The value when none is given, a constant expression. Without it, the variable must be given.
    pub default: Option<Expr>,
    /// Never shown.
    pub sensitive: bool,
    /// Never stored.
    pub ephemeral: bool,
    /// May it be null? If not, null stands for the default.
    pub nullable: bool,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Conditions that its value must satisfy.
    pub validations: Vec<Condition>,
    /// The header of its block.
    pub span: Span,
}

const SHAPE: Shape = Shape {
    required: &[],
    optional: &["type", "default", "description", "sensitive", "ephemeral", "nullable"],
    blocks: &["validation"],
    single_blocks: &[],
};

/// Names that mean something else in a `module` block.
const RESERVED: [&str; 8] =
    ["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];

impl Variable {
    pub(super) fn decode(block: BlockRef<'_>, diagnostics: &mut Diagnostics) -> Option<Self> {
        let [(name, name_span)] = labels(block, ["name"], diagnostics)?;
        let body = block.body();
        SHAPE.check(&body, diagnostics);
        check_name("variable", name, name_span, diagnostics);
        if RESERVED.contains(&&**name) {
            let detail =
                format!("The name \"{name}\" means something else in a module block, so no variable can have it.");
            diagnostics.push(Diagnostic::error("Invalid variable name", detail).at(name_span));
        }
        let ty = body.attribute("type").map(|attribute| attribute.value());
        let constraint = ty.as_ref().map_or_else(Constraint::any, |ty| Constraint::parse(ty, diagnostics));
        let default = body.attribute("default").map(|attribute| attribute.value());
        let nullable = boolean_argument(&body, "nullable", diagnostics).unwrap_or(true);
        if let Some(default) = &default {
            constant(default, diagnostics);
            if !nullable && matches!(default.unparenthesized().node(), Node::Null) {
                let detail = "The default must not be null when nullable is false.";
                let diagnostic = Diagnostic::error("Invalid default value for variable", detail).at(default.span());
                diagnostics.push(diagnostic.hint("Leave the default out to make the variable required."));
            }
        }
        Some(Self {
            name: name.clone(),
            constraint,
            has_type: ty.is_some(),
            default,
            sensitive: boolean_argument(&body, "sensitive", diagnostics).unwrap_or(false),
            ephemeral: boolean_argument(&body, "ephemeral", diagnostics).unwrap_or(false),
            nullable,
            description: text_argument(&body, "description", diagnostics),
            validations: conditions(&body, "validation", diagnostics),
            span: block.header(),
        })
    }
}
