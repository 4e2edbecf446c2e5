//! The HCL native syntax: a lossless token stream, and a flat syntax tree with spans.
//!
//! Knows what is written and nothing about what it means: no block types, no functions, no values.

mod handle;
mod refers;
mod tree;

pub use handle::{AttributeRef, BlockRef, Body, Expr};
pub use tree::{
    Attribute, BinaryOperator, Block, BodyId, BodyNode, ExprId, For, ForId, Label, List, MAX_NESTING, Node, NumberId,
    ObjectItem, Part, Step, StepKind, Symbol, Tree, UnaryOperator,
};
