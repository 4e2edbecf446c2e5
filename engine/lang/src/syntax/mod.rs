//! The HCL native syntax: a lossless token stream, and a flat syntax tree with spans.
//!
//! Knows what is written and nothing about what it means: no block types, no functions, no values.

mod handle;
mod lexer;
mod parser;
mod refers;
mod token;
mod tree;

pub use handle::{AttributeRef, BlockRef, Body, Expr};
pub use lexer::{is_identifier, tokens};
pub use parser::{parse, parse_expression, parse_template};
pub use token::{Token, TokenKind};
pub use tree::{
    Attribute, BinaryOperator, Block, BodyId, BodyNode, ExprId, For, ForId, Label, List, MAX_NESTING, Node, NumberId,
    ObjectItem, Part, Step, StepKind, Symbol, Tree, UnaryOperator,
};
