//! What JSON alone does not tell: which properties are blocks, and what the strings in the others mean.

/// What may stand in a body.
#[derive(Debug)]
pub struct Grammar {
    /// Properties that are blocks: their name, how many labels they have, and what stands in them.
    pub blocks: &'static [(&'static str, usize, &'static Grammar)],
    /// Properties whose strings mean something else than those of the others.
    pub attributes: &'static [(&'static str, Reading)],
    /// What strings in all other properties mean.
    pub others: Reading,
    /// Is what else stands in it told by a schema? Then any object in it may be a body too
    /// ([`Expr::as_body`](super::super::Expr::as_body)).
    pub open: bool,
}

/// What the strings in a value mean.
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// Templates: `"${var.a}-x"`.
    Template,
    /// Themselves.
    Literal,
    /// Expressions of the native syntax: references, types, keywords.
    Expression,
    /// The value is an object, and its properties are read each in its way; others are literal.
    Members(&'static [(&'static str, Reading)]),
}

impl Grammar {
    pub(super) fn reading(&self, name: &str) -> Reading {
        self.attributes.iter().find(|(known, _)| *known == name).map_or(self.others, |(_, reading)| *reading)
    }

    pub(super) fn block(&self, name: &str) -> Option<(usize, &'static Grammar)> {
        self.blocks.iter().find(|(known, ..)| *known == name).map(|(_, labels, grammar)| (*labels, *grammar))
    }
}

/// What stands in any body whose content a schema tells.
pub(super) static OPEN: Grammar =
    Grammar { blocks: &[("dynamic", 1, &DYNAMIC)], attributes: &[], others: Reading::Template, open: true };

/// What stands in a `dynamic` block.
pub static DYNAMIC: Grammar = Grammar {
    blocks: &[("content", 0, &OPEN)],
    attributes: &[("iterator", Reading::Expression)],
    others: Reading::Template,
    open: false,
};
