//! The syntax tree of one file: flat arenas, addressed by numbers, with the span of every node.
//!
//! Nodes hold no values and no scopes; they say what was written. A parent is always stored after its children, so the
//! numbers of a tree are a post-order.

use std::{marker::PhantomData, sync::Arc};

use engine_diag::{FileId, Span};
use engine_value::Number;

/// The syntax tree of one file, or of one expression that stands alone.
///
/// Height: nesting is bounded by [`MAX_NESTING`], so recursion over a tree is safe, with two exceptions that can be as
/// long as the file is: the *left* spine of [`Node::Binary`] (`a + b + c + …`) and the *otherwise* spine of
/// [`Node::Conditional`] (`a ? b : c ? d : …`). Follow those two in a loop.
#[derive(Debug)]
pub struct Tree {
    pub(super) file: FileId,
    pub(super) nodes: Vec<Node>,
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) symbols: Vec<Arc<str>>,
    pub(super) numbers: Vec<Number>,
    pub(super) exprs: Vec<ExprId>,
    pub(super) items: Vec<ObjectItem>,
    pub(super) steps: Vec<Step>,
    pub(super) parts: Vec<Part>,
    pub(super) fors: Vec<For>,
    pub(super) labels: Vec<Label>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) blocks: Vec<Block>,
    pub(super) bodies: Vec<BodyNode>,
    /// Is it written in JSON?
    pub(super) json: bool,
    /// Objects of JSON that may be bodies, with those, in the order of the objects.
    pub(super) objects: Vec<(ExprId, BodyId)>,
}

/// How deeply expressions and blocks may be nested. Terraform has no bound and overflows its stack at some depth; no
/// real configuration comes near this one.
pub const MAX_NESTING: usize = 512;

/// An expression of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub(super) u32);

/// A body of a [`Tree`]: the file itself, or what stands between the braces of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub(super) u32);

/// A text of a [`Tree`]: a name, or the decoded and NFC-normalised text of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub(super) u32);

/// A number literal of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumberId(pub(super) u32);

/// A `for` expression of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForId(pub(super) u32);

/// Consecutive elements of one arena of a [`Tree`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct List<T> {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) of: PhantomData<T>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> List<T> {
    /// How many.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// None at all?
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Adds elements to their arena.
    pub(super) fn append(arena: &mut Vec<T>, elements: &[T]) -> Self
    where
        T: Copy,
    {
        let start = arena.len() as u32;
        arena.extend_from_slice(elements);
        Self { start, len: elements.len() as u32, of: PhantomData }
    }
}

/// One expression.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// What could not be parsed; a diagnostic tells why. Its value is unknown.
    Invalid,
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `12.5`; its literal text is under its span.
    Number(NumberId),
    /// Text without interpolation: `"x"`, a heredoc without directives, a bare object key.
    Text(Symbol),
    /// A quoted or heredoc template. Its value is a string.
    Template(List<Part>),
    /// `"${x}"`: a template of nothing but one interpolation has that expression's value, whatever its type.
    Wrap(ExprId),
    /// `[a, b]`.
    Tuple(List<ExprId>),
    /// `{ a = 1, (b) = 2 }`. Of equal keys the last wins.
    Object(List<ObjectItem>),
    /// `[for …]`, `{for …}`.
    For(ForId),
    /// A name and what is taken from it: `x`, `var.a["k"].b`, `each.value`. The root may also be a name that an
    /// enclosing `for` binds.
    Traversal {
        /// The first name; its span begins where the node's span begins.
        root: Symbol,
        /// What follows, up to the first splat.
        steps: List<Step>,
    },
    /// Steps on anything but a name: `f(x).a[0]`. Never without steps.
    Access {
        /// What the steps begin at.
        of: ExprId,
        /// The steps.
        steps: List<Step>,
    },
    /// `of.*.a` or `of[*].a["k"]`: `each` is evaluated for each element, which it knows as [`Node::SplatItem`].
    /// Null gives an empty tuple; a value that is no list, set or tuple is treated as a tuple of one.
    Splat {
        /// What is iterated.
        of: ExprId,
        /// The expression for one element.
        each: ExprId,
    },
    /// The current element of the nearest enclosing splat's `each`.
    SplatItem,
    /// `f(a, b...)`.
    Call {
        /// The name, with its namespaces: `max`, `provider::terraform::encode_expr`. Its span begins where the
        /// node's begins.
        name: Symbol,
        /// The arguments.
        args: List<ExprId>,
        /// Is the last argument followed by `...`, so that its elements are the last arguments?
        expand: bool,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// The condition.
        condition: ExprId,
        /// The value if it is true.
        then: ExprId,
        /// The value if it is false.
        otherwise: ExprId,
    },
    /// `-x`, `!x`.
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// On what.
        operand: ExprId,
    },
    /// `a + b`.
    Binary {
        /// Which.
        operator: BinaryOperator,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `(x)`.
    Paren(ExprId),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// One `key = value` of an object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectItem {
    /// The key. A bare name is a [`Node::Text`]. A bare name with steps (`a.b = 1`) is a [`Node::Traversal`]: it names a
    /// provider configuration in `providers` of a module call, and is ambiguous everywhere else.
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
}

/// A `for` expression.
#[derive(Clone, Copy, Debug)]
pub struct For {
    /// The name of the key or index, if one is bound.
    pub key_name: Option<Symbol>,
    /// The name of the element.
    pub value_name: Symbol,
    /// What is iterated.
    pub collection: ExprId,
    /// The key of the result: `{for … : key => value}`. `None` in `[for …]`.
    pub key: Option<ExprId>,
    /// The value of the result.
    pub value: ExprId,
    /// Are values with the same key grouped (`value...`)?
    pub group: bool,
    /// `if condition`.
    pub condition: Option<ExprId>,
}

/// One step of a traversal.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What is taken.
    pub kind: StepKind,
    /// First byte: of the dot or the bracket.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// What a step takes.
#[derive(Clone, Copy, Debug)]
pub enum StepKind {
    /// `.name`
    Attr(Symbol),
    /// `[key]`, or the legacy `.0`.
    Index(ExprId),
}

/// A part of a template. Strip markers and heredoc indentation are already applied to the texts.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Text.
    Text(Symbol),
    /// `${x}`
    Interpolation(ExprId),
    /// `%{if condition} then %{else} otherwise %{endif}`
    If {
        /// The condition.
        condition: ExprId,
        /// The parts if it is true.
        then: List<Part>,
        /// The parts if it is false; empty without `else`.
        otherwise: List<Part>,
    },
    /// `%{for key, value in collection} body %{endfor}`
    For {
        /// The name of the key or index, if one is bound.
        key_name: Option<Symbol>,
        /// The name of the element.
        value_name: Symbol,
        /// What is iterated.
        collection: ExprId,
        /// The parts for one element.
        body: List<Part>,
    },
}

/// A body of a file or block.
#[derive(Clone, Copy, Debug)]
pub struct BodyNode {
    /// Its attributes, in the order of the file. Names are distinct: a second one is a diagnostic and is left out.
    pub attributes: List<Attribute>,
    /// Its blocks, in the order of the file.
    pub blocks: List<Block>,
    /// First byte after the opening brace, or of the file.
    pub start: u32,
    /// The closing brace, or the end of the file.
    pub end: u32,
}

/// `name = value` in a body.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Symbol,
    /// First byte of the name and one past its last.
    pub name_span: (u32, u32),
    /// The value; its span tells where the attribute ends.
    pub value: ExprId,
}

/// `kind "label" { … }` in a body.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The first word.
    pub kind: Symbol,
    /// First byte of the first word and one past its last.
    pub kind_span: (u32, u32),
    /// The labels, quoted or bare.
    pub labels: List<Label>,
    /// What stands between the braces.
    pub body: BodyId,
    /// One past the closing brace.
    pub end: u32,
}

/// A label of a block.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Its decoded text.
    pub text: Symbol,
    /// First byte (of the quote, if quoted) and one past the last.
    pub span: (u32, u32),
}

impl Tree {
    /// An empty tree of a file.
    pub(super) fn new(file: FileId) -> Self {
        Self {
            file,
            nodes: Vec::new(),
            spans: Vec::new(),
            symbols: Vec::new(),
            numbers: Vec::new(),
            exprs: Vec::new(),
            items: Vec::new(),
            steps: Vec::new(),
            parts: Vec::new(),
            fors: Vec::new(),
            labels: Vec::new(),
            attributes: Vec::new(),
            blocks: Vec::new(),
            bodies: Vec::new(),
            json: false,
            objects: Vec::new(),
        }
    }

    /// Is it written in JSON?
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// The body that an object of JSON may be.
    pub(super) fn body_of(&self, object: ExprId) -> Option<BodyId> {
        let at = self.objects.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        Some(self.objects[at].1)
    }

    /// The file that it was parsed from.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// What an expression is.
    pub fn node(&self, expr: ExprId) -> Node {
        self.nodes[expr.0 as usize]
    }

    /// Where an expression stands.
    pub fn span(&self, expr: ExprId) -> Span {
        self.at(self.spans[expr.0 as usize])
    }

    /// A span of this file.
    pub fn at(&self, (start, end): (u32, u32)) -> Span {
        Span::new(self.file, start, end)
    }

    /// A text.
    pub fn str(&self, symbol: Symbol) -> &Arc<str> {
        &self.symbols[symbol.0 as usize]
    }

    /// A number.
    pub fn number(&self, number: NumberId) -> &Number {
        &self.numbers[number.0 as usize]
    }

    /// A `for` expression.
    pub fn for_expr(&self, id: ForId) -> For {
        self.fors[id.0 as usize]
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> BodyNode {
        self.bodies[id.0 as usize]
    }

    /// Elements of a tuple or arguments of a call.
    pub fn exprs(&self, list: List<ExprId>) -> &[ExprId] {
        slice(&self.exprs, list)
    }

    /// Items of an object.
    pub fn items(&self, list: List<ObjectItem>) -> &[ObjectItem] {
        slice(&self.items, list)
    }

    /// Steps of a traversal.
    pub fn steps(&self, list: List<Step>) -> &[Step] {
        slice(&self.steps, list)
    }

    /// Parts of a template.
    pub fn parts(&self, list: List<Part>) -> &[Part] {
        slice(&self.parts, list)
    }

    /// Labels of a block.
    pub fn labels(&self, list: List<Label>) -> &[Label] {
        slice(&self.labels, list)
    }

    /// Attributes of a body.
    pub fn attributes(&self, list: List<Attribute>) -> &[Attribute] {
        slice(&self.attributes, list)
    }

    /// Blocks of a body.
    pub fn blocks(&self, list: List<Block>) -> &[Block] {
        slice(&self.blocks, list)
    }
}

fn slice<T>(arena: &[T], list: List<T>) -> &[T] {
    &arena[list.start as usize..(list.start + list.len) as usize]
}
