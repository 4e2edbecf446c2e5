//! The JSON form of the language: the same tree as of the native syntax.
//!
//! Which properties are blocks, and which strings are templates, JSON does not tell. A [`Grammar`] does, as far as the
//! language itself knows. Where only a schema knows (the arguments of a resource), every property is an argument, and
//! each object in it is kept as a body too, for whoever has the schema.

mod build;
mod grammar;
mod read;

pub use build::parse_json;
pub use grammar::{DYNAMIC, Grammar, Reading};
