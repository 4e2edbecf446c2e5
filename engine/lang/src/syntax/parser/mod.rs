//! Tokens to a syntax tree: a recursive descent with bounded depth that goes on after an error.
//!
//! An error inside of one argument or block header gives one diagnostic and skips to the end of it; the rest of the
//! file is parsed. So one run reports several errors, and each is about something else.

mod body;
mod expression;
mod found;
mod literal;
mod recovery;
mod template;

use std::{marker::PhantomData, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};
pub(crate) use literal::normalized;
use rustc_hash::FxHashMap;

use super::{
    body::Body,
    handle::Expr,
    lexer::{Start, lex},
    token::{Token, TokenKind},
    tree::{Attribute, Block, ExprId, Label, List, MAX_NESTING, Node, ObjectItem, Part, Step, StepKind, Symbol, Tree},
};

/// Parses a configuration file. The body holds all that could be parsed, even if there are errors.
pub fn parse(file: FileId, text: &str) -> (Body, Diagnostics) {
    let mut parser = Parser::new(file, text, Start::Normal);
    let body = parser.file();
    let (tree, diagnostics) = parser.finish();
    (Body::new(tree, body), diagnostics)
}

/// Parses a text that is one expression, such as the value of `-var`. Line ends inside of it mean nothing.
pub fn parse_expression(file: FileId, text: &str) -> (Expr, Diagnostics) {
    let mut parser = Parser::new(file, text, Start::Normal);
    parser.newlines = false;
    let expr = parser.whole_expression();
    let expr = parser.or_invalid(expr, (0, text.len() as u32));
    let (tree, diagnostics) = parser.finish();
    (Expr::new(tree, expr), diagnostics)
}

/// Parses a text that is a template, such as the file of `templatefile`.
pub fn parse_template(file: FileId, text: &str) -> (Expr, Diagnostics) {
    let mut parser = Parser::new(file, text, Start::Template);
    let expr = parser.whole_template();
    let expr = parser.or_invalid(expr, (0, text.len() as u32));
    let (tree, diagnostics) = parser.finish();
    (Expr::new(tree, expr), diagnostics)
}

/// What [`embed`] gives back.
pub(super) struct Embedded {
    pub(super) tree: Tree,
    pub(super) heights: Vec<u16>,
    pub(super) expr: ExprId,
    pub(super) diagnostics: Diagnostics,
}

/// Parses a text that stands decoded inside of a file of another syntax, as one expression or template, into the tree of
/// that file. `place` tells where a byte of the text stands in the file.
pub(super) fn embed(tree: Tree, heights: Vec<u16>, text: &str, start: Start, place: &dyn Fn(u32) -> u32) -> Embedded {
    let mut parser = Parser::new(tree.file, text, start);
    let (nodes, steps) = (tree.nodes.len(), tree.steps.len());
    parser.tree = tree;
    parser.heights = heights;
    let expr = match start {
        Start::Normal => {
            parser.newlines = false;
            parser.whole_expression()
        }
        Start::Template => parser.whole_template(),
    };
    let expr = parser.or_invalid(expr, (0, text.len() as u32));
    let Parser { mut tree, heights, mut diagnostics, .. } = parser;
    for span in &mut tree.spans[nodes..] {
        *span = (place(span.0), place(span.1));
    }
    for step in &mut tree.steps[steps..] {
        (step.start, step.end) = (place(step.start), place(step.end));
    }
    for diagnostic in &mut diagnostics.0 {
        for span in diagnostic.span.iter_mut().chain(diagnostic.related.iter_mut().map(|label| &mut label.span)) {
            (span.start, span.end) = (place(span.start), place(span.end));
        }
    }
    Embedded { tree, heights, expr, diagnostics }
}

/// What was being parsed cannot be; a diagnostic is already written.
struct Abort;

type Parsed<T> = Result<T, Abort>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The token to look at next; trivia are stepped over when looking.
    position: usize,
    /// One past the last byte of the token that was taken last.
    end: u32,
    /// Do line ends separate? Not inside of parentheses, brackets and interpolations.
    newlines: bool,
    depth: usize,
    /// The first block inside of another that begins in the first column: a brace may be missing before it.
    unindented: Option<(u32, u32)>,
    tree: Tree,
    /// Per node: how high it is, not counting the two spines that [`Tree`] names.
    heights: Vec<u16>,
    interned: FxHashMap<&'a str, Symbol>,
    diagnostics: Diagnostics,
    // Lists grow here until they are complete, because their elements may hold lists of the same kind.
    exprs: Vec<ExprId>,
    items: Vec<ObjectItem>,
    steps: Vec<Step>,
    parts: Vec<Part>,
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    flats: Vec<template::Flat<'a>>,
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str, start: Start) -> Self {
        let mut diagnostics = Diagnostics::new();
        // Spans are 32 bits wide.
        let text = if text.len() < u32::MAX as usize {
            text
        } else {
            let detail = "The file is longer than 4 GiB.";
            diagnostics.push(Diagnostic::error("File too large", detail).at(Span::new(file, 0, 0)));
            ""
        };
        let tokens = lex(text, start);
        let nodes = tokens.len() / 4;
        Self {
            text,
            position: 0,
            end: 0,
            newlines: true,
            depth: 0,
            unindented: None,
            tree: Tree { nodes: Vec::with_capacity(nodes), spans: Vec::with_capacity(nodes), ..Tree::new(file) },
            heights: Vec::with_capacity(nodes),
            tokens,
            interned: FxHashMap::default(),
            diagnostics,
            exprs: Vec::new(),
            items: Vec::new(),
            steps: Vec::new(),
            parts: Vec::new(),
            attributes: Vec::new(),
            blocks: Vec::new(),
            flats: Vec::new(),
        }
    }

    fn finish(self) -> (Arc<Tree>, Diagnostics) {
        (Arc::new(self.tree), self.diagnostics)
    }

    // Tokens.

    /// The kind of the next token that means something here.
    #[inline]
    fn peek(&mut self) -> TokenKind {
        loop {
            let kind = self.tokens[self.position].kind;
            if kind.is_trivia() || (kind == TokenKind::Newline && !self.newlines) {
                self.position += 1;
            } else {
                return kind;
            }
        }
    }

    /// First byte of the next token and one past its last.
    fn here(&mut self) -> (u32, u32) {
        self.peek();
        self.range(self.position)
    }

    fn range(&self, token: usize) -> (u32, u32) {
        let start = self.tokens[token].start;
        (start, self.tokens.get(token + 1).map_or(start, |next| next.start))
    }

    fn slice(&self, (start, end): (u32, u32)) -> &'a str {
        &self.text[start as usize..end as usize]
    }

    /// Takes the next token. The end of the file can be taken any number of times.
    fn bump(&mut self) -> (u32, u32) {
        let range = self.here();
        if self.tokens[self.position].kind != TokenKind::End {
            self.position += 1;
        }
        self.end = range.1;
        range
    }

    /// Takes the next token if it is of that kind.
    fn eat(&mut self, kind: TokenKind) -> Option<(u32, u32)> {
        (self.peek() == kind).then(|| self.bump())
    }

    /// Is the next token this word?
    fn at_word(&mut self, word: &str) -> bool {
        self.peek() == TokenKind::Ident && self.slice(self.range(self.position)) == word
    }

    /// Runs `parse` with line ends meaning something or nothing.
    fn with_newlines<T>(&mut self, newlines: bool, parse: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.newlines, newlines);
        let parsed = parse(self);
        self.newlines = outer;
        parsed
    }

    /// Runs `parse` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_NESTING {
            let here = self.here();
            return Err(self.too_deep(here));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    // Diagnostics.

    fn report(&mut self, at: (u32, u32), summary: &str, detail: impl Into<String>) -> &mut Diagnostic {
        let span = self.tree.at(at);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
        self.diagnostics.0.last_mut().expect("one was pushed just now")
    }

    fn fail(&mut self, at: (u32, u32), summary: &str, detail: impl Into<String>) -> Abort {
        self.report(at, summary, detail);
        Abort
    }

    fn too_deep(&mut self, at: (u32, u32)) -> Abort {
        let detail = format!("Expressions and blocks can be nested {MAX_NESTING} levels deep; this is deeper.");
        self.report(at, "Nested too deeply", detail).hint = Some("Move inner parts into local values.".to_owned());
        Abort
    }

    // The tree.

    /// A name or undecoded text of the source.
    fn intern(&mut self, text: &'a str) -> Symbol {
        if let Some(symbol) = self.interned.get(text) {
            return *symbol;
        }
        let symbol = self.symbol(text);
        self.interned.insert(text, symbol);
        symbol
    }

    /// A text that is not in the source as it is.
    fn symbol(&mut self, text: &str) -> Symbol {
        self.tree.symbols.push(text.into());
        Symbol(self.tree.symbols.len() as u32 - 1)
    }

    fn push(&mut self, node: Node, (start, end): (u32, u32)) -> ExprId {
        self.heights.push(self.height(node));
        self.tree.nodes.push(node);
        self.tree.spans.push((start, end));
        ExprId(self.tree.nodes.len() as u32 - 1)
    }

    /// Adds a node that begins at `start` and ends with the token that was taken last.
    fn push_from(&mut self, start: u32, node: Node) -> ExprId {
        self.push(node, (start, self.end))
    }

    fn start_of(&self, expr: ExprId) -> u32 {
        self.tree.spans[expr.0 as usize].0
    }

    fn or_invalid(&mut self, expr: Parsed<ExprId>, at: (u32, u32)) -> ExprId {
        expr.unwrap_or_else(|Abort| self.push(Node::Invalid, at))
    }

    fn height_of(&self, expr: ExprId) -> u16 {
        self.heights[expr.0 as usize]
    }

    fn height(&self, node: Node) -> u16 {
        let of = |expr: ExprId| self.height_of(expr);
        let highest = |list: &[ExprId]| list.iter().map(|expr| of(*expr)).max().unwrap_or(0);
        let inner = match node {
            Node::Invalid | Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::SplatItem => 0,
            Node::Template(parts) => self.height_of_parts(parts),
            Node::Wrap(inner) | Node::Paren(inner) | Node::Unary { operand: inner, .. } => of(inner),
            Node::Tuple(list) | Node::Call { args: list, .. } => highest(self.tree.exprs(list)),
            Node::Object(items) => {
                self.tree.items(items).iter().map(|item| of(item.key).max(of(item.value))).max().unwrap_or(0)
            }
            Node::For(id) => {
                let it = self.tree.for_expr(id);
                let optional = |expr: Option<ExprId>| expr.map_or(0, of);
                of(it.collection).max(of(it.value)).max(optional(it.key)).max(optional(it.condition))
            }
            Node::Traversal { steps, .. } => self.height_of_steps(steps),
            Node::Access { of: inner, steps } => of(inner).max(self.height_of_steps(steps)),
            Node::Splat { of: inner, each } => of(inner).max(of(each)),
            Node::Conditional { condition, then, otherwise } => {
                let inner = of(condition).max(of(then));
                if matches!(self.tree.node(otherwise), Node::Conditional { .. }) {
                    return of(otherwise).max(inner.saturating_add(1));
                }
                inner.max(of(otherwise))
            }
            Node::Binary { left, right, .. } => {
                if matches!(self.tree.node(left), Node::Binary { .. }) {
                    return of(left).max(of(right).saturating_add(1));
                }
                of(left).max(of(right))
            }
        };
        inner.saturating_add(1)
    }

    fn height_of_steps(&self, steps: List<Step>) -> u16 {
        let keys = self.tree.steps(steps).iter().filter_map(|step| match step.kind {
            StepKind::Index(key) => Some(self.height_of(key)),
            StepKind::Attr(_) => None,
        });
        keys.max().unwrap_or(0)
    }

    /// Fails if the tree under `expr` is higher than [`MAX_NESTING`]: chains of splats are parsed in a loop.
    fn checked(&mut self, expr: ExprId) -> Parsed<ExprId> {
        if usize::from(self.height_of(expr)) <= MAX_NESTING {
            return Ok(expr);
        }
        let at = self.tree.spans[expr.0 as usize];
        Err(self.too_deep(at))
    }
}

/// Moves what was gathered since `from` into its arena.
fn seal<T>(gathered: &mut Vec<T>, from: usize, arena: &mut Vec<T>) -> List<T> {
    let start = arena.len() as u32;
    arena.extend(gathered.drain(from..));
    List { start, len: arena.len() as u32 - start, of: PhantomData }
}

/// Labels are never nested, so they are gathered in their arena.
fn labels_since(from: usize, arena: &[Label]) -> List<Label> {
    List { start: from as u32, len: (arena.len() - from) as u32, of: PhantomData }
}
