//! The HCL native syntax: a lossless token stream, and a flat syntax tree with spans; and the same tree from JSON.
//!
//! Knows what is written and nothing about what it means: no block types, no functions, no values.

mod body;
mod handle;
mod json;
mod lexer;
mod parser;
mod refers;
mod token;
mod tree;

pub use body::{AttributeRef, BlockRef, Body};
pub use handle::Expr;
pub use json::{DYNAMIC, Grammar, Reading, parse_json};
pub use lexer::{is_identifier, tokens};
pub(crate) use parser::normalized;
pub use parser::{parse, parse_expression, parse_template};
pub use token::{Token, TokenKind};
pub use tree::{
    Attribute, BinaryOperator, Block, BodyId, BodyNode, ExprId, For, ForId, Label, List, MAX_NESTING, Node, NumberId,
    ObjectItem, Part, Step, StepKind, Symbol, Tree, UnaryOperator,
};
