//! Bodies, their attributes and blocks: a body owns its tree, and may have other bodies over it.

use std::{fmt, sync::Arc};

use engine_diag::Span;

use super::{
    handle::Expr,
    tree::{Attribute, Block, BodyId, Label, Node, Tree},
};

/// A body and the tree that it is part of. Cloning costs one reference count.
#[derive(Clone)]
pub struct Body {
    tree: Arc<Tree>,
    id: BodyId,
    /// Bodies whose attributes and blocks stand in place of those of this one, later ones in place of earlier ones.
    over: Option<Arc<[Body]>>,
}

impl Body {
    /// The body `id` of `tree`.
    pub fn new(tree: Arc<Tree>, id: BodyId) -> Self {
        Self { tree, id, over: None }
    }

    /// This body with others over it, as override files have them: an attribute of one of them stands in place of that
    /// of the same name, and its blocks of one kind in place of all of that kind.
    #[must_use]
    pub fn with_over(self, over: Vec<Self>) -> Self {
        if over.is_empty() {
            return self;
        }
        Self { over: Some(over.into()), ..self }
    }

    /// This body alone, then those over it.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Self> {
        let own = Self { over: None, ..self.clone() };
        std::iter::once(own).chain(self.over().to_vec())
    }

    fn over(&self) -> &[Self] {
        self.over.as_deref().unwrap_or_default()
    }

    /// The layer of that number and those over it.
    fn split(&self, layer: usize) -> (&Self, &[Self]) {
        match layer.checked_sub(1) {
            None => (self, self.over()),
            Some(at) => (&self.over()[at], &self.over()[layer..]),
        }
    }

    /// From the opening brace to the closing one, both exclusive.
    pub fn span(&self) -> Span {
        let body = self.tree.body(self.id);
        self.tree.at((body.start, body.end))
    }

    /// Where something that is missing in it is reported: its opening brace; in JSON its closing one.
    pub fn lacks(&self) -> Span {
        let body = self.tree.body(self.id);
        match self.tree.is_json() {
            true => self.tree.at((body.end, body.end)),
            false => self.tree.at((body.start.saturating_sub(1), body.start)),
        }
    }

    fn own_attributes(&self) -> impl Iterator<Item = AttributeRef<'_>> {
        let list = self.tree.body(self.id).attributes;
        self.tree.attributes(list).iter().map(|attribute| AttributeRef { tree: &self.tree, attribute })
    }

    fn own_blocks(&self) -> impl Iterator<Item = BlockRef<'_>> {
        let list = self.tree.body(self.id).blocks;
        self.tree.blocks(list).iter().map(|block| BlockRef { tree: &self.tree, block: *block, label: None, over: &[] })
    }

    /// Its attributes, in the order of the file.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeRef<'_>> {
        (0..=self.over().len()).flat_map(|layer| {
            let (own, later) = self.split(layer);
            let hidden = |name: &str| later.iter().any(|body| body.own_attributes().any(|a| &**a.name() == name));
            own.own_attributes().filter(move |attribute| !hidden(attribute.name()))
        })
    }

    /// One attribute by its name. Linear in the number of attributes.
    pub fn attribute(&self, name: &str) -> Option<AttributeRef<'_>> {
        self.attributes().find(|attribute| &**attribute.name() == name)
    }

    /// Its blocks, in the order of the file.
    pub fn blocks(&self) -> impl Iterator<Item = BlockRef<'_>> {
        (0..=self.over().len()).flat_map(|layer| {
            let (own, later) = self.split(layer);
            let hidden = |kind: &str| later.iter().any(|body| body.own_blocks().any(|b| b.makes() == kind));
            own.own_blocks().filter(move |block| !hidden(block.makes()))
        })
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
        Arc::ptr_eq(&self.tree, &other.tree) && self.id == other.id && self.over() == other.over()
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

    /// The blocks that it is, where a schema says so: in JSON an argument and a block look the same. `labelled`: is each
    /// under a name of its own? `None`: it can only be an argument.
    pub fn as_blocks(self, labelled: bool) -> Option<Vec<BlockRef<'a>>> {
        if !self.tree.is_json() {
            return None;
        }
        let objects = match self.tree.node(self.attribute.value) {
            Node::Null => Vec::new(),
            Node::Object(_) => vec![self.attribute.value],
            Node::Tuple(elements) => self.tree.exprs(elements).to_vec(),
            _ => return None,
        };
        let mut blocks = Vec::new();
        for object in objects {
            let body = self.tree.body_of(object)?;
            if !labelled {
                blocks.push(self.block(body, None));
                continue;
            }
            for inner in self.tree.attributes(self.tree.body(body).attributes) {
                let label = Label { text: inner.name, span: inner.name_span };
                let inner = AttributeRef { tree: self.tree, attribute: inner };
                let found = inner.as_blocks(false)?;
                blocks.extend(found.into_iter().map(|block| self.block(block.block.body, Some(label))));
            }
        }
        Some(blocks)
    }

    fn block(self, body: BodyId, label: Option<Label>) -> BlockRef<'a> {
        let Attribute { name, name_span, .. } = *self.attribute;
        let labels = super::tree::List::append(&mut Vec::new(), &[]);
        let end = self.tree.body(body).end + 1;
        BlockRef {
            tree: self.tree,
            block: Block { kind: name, kind_span: name_span, labels, body, end },
            label,
            over: &[],
        }
    }
}

/// `kind "label" { … }` in a [`Body`].
#[derive(Clone, Copy)]
pub struct BlockRef<'a> {
    tree: &'a Arc<Tree>,
    block: Block,
    /// A label beside those in the tree.
    label: Option<Label>,
    /// Bodies that are laid over its own.
    over: &'a [Body],
}

impl<'a> BlockRef<'a> {
    /// The first word.
    pub fn kind(self) -> &'a Arc<str> {
        self.tree.str(self.block.kind)
    }

    /// The kind of blocks that it makes: its own, or what a `dynamic` block is for.
    fn makes(&self) -> &'a str {
        match (&**self.kind(), self.labels().next()) {
            ("dynamic", Some((kind, _))) => kind,
            (kind, _) => kind,
        }
    }

    /// Where the first word stands.
    pub fn kind_span(self) -> Span {
        self.tree.at(self.block.kind_span)
    }

    /// The labels with their places.
    pub fn labels(self) -> impl Iterator<Item = (&'a Arc<str>, Span)> {
        let labels = self.tree.labels(self.block.labels).iter().copied().chain(self.label);
        labels.map(|label| (self.tree.str(label.text), self.tree.at(label.span)))
    }

    /// What stands between the braces.
    pub fn body(self) -> Body {
        Body::new(self.tree.clone(), self.block.body).with_over(self.over.to_vec())
    }

    /// The same block with other bodies over its own: see [`Body::with_over`].
    #[must_use]
    pub fn with_over(self, over: &'a [Body]) -> Self {
        Self { over, ..self }
    }

    /// The first word and the labels: where the block as a whole is reported. In JSON the opening brace, since several
    /// blocks can be under the same words.
    pub fn header(self) -> Span {
        if self.tree.is_json() {
            let start = self.tree.body(self.block.body).start;
            return self.tree.at((start.saturating_sub(1), start));
        }
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
