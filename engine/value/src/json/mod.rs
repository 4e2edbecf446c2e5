//! Values and types as JSON, with every digit of every number, in the conventions of Terraform's files.
//!
//! Marks are not written: take them off with [`crate::Value::unmark_deep`] and keep the paths, or redact before.

mod decode;
mod encode;
mod plan;
mod pretty;
mod read;
mod tree;
mod types;

pub use decode::{DecodeError, decode, from_tree, infer, infer_tree};
pub use encode::{JsonError, encode, encode_typed, to_tree};
pub use plan::{after_unknown, known_part, sensitive_part};
pub use pretty::pretty;
pub use read::{ReadError, read};
pub use tree::Json;
pub use types::{type_from_tree, type_to_tree};
