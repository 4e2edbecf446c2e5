//! Handles that own their tree: an expression, body or block that can be kept, cloned and passed on without lifetimes.

use std::{fmt, sync::Arc};

use engine_diag::Span;

use super::{
    refers,
    tree::{Attribute, Block, BodyId, ExprId, Node, Tree},
};

/// An expression and the tree that it is part of. Cloning costs one reference count.
#[derive(Clone)]
pub struct Expr {
    tree: Arc<Tree>,
    id: ExprId,
}

impl Expr {
    /// The expression `id` of `tree`.
    pub fn new(tree: Arc<Tree>, id: ExprId) -> Self {
        Self { tree, id }
    }

    /// Its tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Its number in the tree.
    pub fn id(&self) -> ExprId {
        self.id
    }

    /// What it is.
    pub fn node(&self) -> Node {
        self.tree.node(self.id)
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.tree.span(self.id)
    }

    /// Another expression of the same tree.
    #[must_use]
    pub fn with(&self, id: ExprId) -> Self {
        Self { tree: self.tree.clone(), id }
    }

    /// The same without parentheses around it.
    #[must_use]
    pub fn unparenthesized(&self) -> Self {
        let mut id = self.id;
        while let Node::Paren(inner) = self.tree.node(id) {
            id = inner;
        }
        self.with(id)
    }

    /// The text, if it is a string without interpolation.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match self.node() {
            Node::Text(symbol) => Some(self.tree.str(symbol)),
            _ => None,
        }
    }

    /// The name, if it is a bare word: `string`, `all`.
    pub fn as_keyword(&self) -> Option<&Arc<str>> {
        match self.node() {
            Node::Traversal { root, steps } if steps.is_empty() => Some(self.tree.str(root)),
            _ => None,
        }
    }

    /// The traversals in it, in source order, without those whose root is bound by a `for` inside of it.
    /// Traversals inside of index keys are included, after the traversal that holds them.
    pub fn traversals(&self) -> Vec<Expr> {
        refers::traversals(&self.tree, self.id).into_iter().map(|id| self.with(id)).collect()
    }

    /// The expressions in it whose node is wanted, itself included, in source order.
    pub fn find(&self, wanted: impl Fn(Node) -> bool) -> Vec<Expr> {
        refers::find(&self.tree, self.id, wanted).into_iter().map(|id| self.with(id)).collect()
    }
}

/// Shows the node and its place, not the whole tree.
impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = self.span();
        write!(f, "Expr({:?} at {}..{} of file {})", self.node(), span.start, span.end, span.file.0)
    }
}

/// The same expression of the same tree (not: an expression with the same text).
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tree, &other.tree) && self.id == other.id
    }
}

impl Eq for Expr {}

/// A body and the tree that it is part of. Cloning costs one reference count.
#[derive(Clone)]
pub struct Body {
    tree: Arc<Tree>,
    id: BodyId,
}

impl Body {
    /// The body `id` of `tree`.
    pub fn new(tree: Arc<Tree>, id: BodyId) -> Self {
        Self { tree, id }
    }

    /// Its tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Its number in the tree.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// From the opening brace to the closing one, both exclusive.
    pub fn span(&self) -> Span {
        let body = self.tree.body(self.id);
        self.tree.at((body.start, body.end))
    }

    /// Where something that is missing in it is reported: its closing brace.
    pub fn end(&self) -> Span {
        let body = self.tree.body(self.id);
        self.tree.at((body.end, body.end))
    }

    /// Its attributes, in the order of the file.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = AttributeRef<'_>> {
        let list = self.tree.body(self.id).attributes;
        self.tree.attributes(list).iter().map(|attribute| AttributeRef { tree: &self.tree, attribute })
    }

    /// One attribute by its name. Linear in the number of attributes.
    pub fn attribute(&self, name: &str) -> Option<AttributeRef<'_>> {
        self.attributes().find(|attribute| &**attribute.name() == name)
    }

    /// Its blocks, in the order of the file.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = BlockRef<'_>> {
        let list = self.tree.body(self.id).blocks;
        self.tree.blocks(list).iter().map(|block| BlockRef { tree: &self.tree, block })
    }
}

/// Shows the place.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = self.span();
        write!(f, "Body({}..{} of file {})", span.start, span.end, span.file.0)
    }
}

/// The same body of the same tree.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tree, &other.tree) && self.id == other.id
    }
}

impl Eq for Body {}

/// `name = value` in a [`Body`].
#[derive(Clone, Copy)]
pub struct AttributeRef<'a> {
    tree: &'a Arc<Tree>,
    attribute: &'a Attribute,
}

impl<'a> AttributeRef<'a> {
    /// The name.
    pub fn name(self) -> &'a Arc<str> {
        self.tree.str(self.attribute.name)
    }

    /// Where the name stands.
    pub fn name_span(self) -> Span {
        self.tree.at(self.attribute.name_span)
    }

    /// The value.
    pub fn value(self) -> Expr {
        Expr::new(self.tree.clone(), self.attribute.value)
    }

    /// From the name to the end of the value.
    pub fn span(self) -> Span {
        self.name_span().to(self.tree.span(self.attribute.value))
    }
}

/// `kind "label" { … }` in a [`Body`].
#[derive(Clone, Copy)]
pub struct BlockRef<'a> {
    tree: &'a Arc<Tree>,
    block: &'a Block,
}

impl<'a> BlockRef<'a> {
    /// The first word.
    pub fn kind(self) -> &'a Arc<str> {
        self.tree.str(self.block.kind)
    }

    /// Where the first word stands.
    pub fn kind_span(self) -> Span {
        self.tree.at(self.block.kind_span)
    }

    /// The labels with their places.
    pub fn labels(self) -> impl ExactSizeIterator<Item = (&'a Arc<str>, Span)> {
        self.tree.labels(self.block.labels).iter().map(|label| (self.tree.str(label.text), self.tree.at(label.span)))
    }

    /// What stands between the braces.
    pub fn body(self) -> Body {
        Body::new(self.tree.clone(), self.block.body)
    }

    /// The first word and the labels: where the block as a whole is reported.
    pub fn header(self) -> Span {
        match self.labels().last() {
            Some((_, last)) => self.kind_span().to(last),
            None => self.kind_span(),
        }
    }

    /// From the first word to the closing brace.
    pub fn span(self) -> Span {
        self.tree.at((self.block.kind_span.0, self.block.end))
    }
}
