//! An expression that owns its tree: it can be kept, cloned and passed on without lifetimes.

use std::{fmt, sync::Arc};

use engine_diag::{Diagnostics, Span};

use super::{
    body::Body,
    lexer::Start,
    parser, refers,
    tree::{ExprId, Node, Tree},
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

    /// The expression that is in a string without interpolation, as references were once written, with what is wrong
    /// with it. In JSON there are no such strings: what must be an expression is read as one.
    pub fn unquoted(&self) -> Option<(Expr, Diagnostics)> {
        let text = self.as_text().filter(|_| !self.tree.is_json())?;
        let Span { file, start, end } = self.span();
        // Escapes make it longer than what it stands for; then the whole string is the place.
        let exact = (end - start) as usize == text.len() + 2;
        let place = |at: u32| if exact { start + 1 + at } else { start + at.min(1) * (end - start) };
        let found = parser::embed(Tree::new(file), Vec::new(), text, Start::Normal, &place);
        Some((Expr::new(Arc::new(found.tree), found.expr), found.diagnostics))
    }

    /// The body that it may be, if it is an object in JSON.
    pub fn as_body(&self) -> Option<Body> {
        Some(Body::new(self.tree.clone(), self.tree.body_of(self.id)?))
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
