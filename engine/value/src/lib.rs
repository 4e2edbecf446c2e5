//! Types, values with unknowns and marks, paths, conversion and structural diff.
//!
//! A value is known, null or *unknown with refinements and an origin*; it carries marks (*sensitive*, *ephemeral*)
//! inside. Knows no configuration, no provider and no file.

#![forbid(unsafe_code)]

mod compare;
mod convert;
pub mod diff;
pub mod json;
mod marks;
mod mismatch;
mod number;
pub mod ops;
mod path;
mod secrets;
mod set;
mod types;
mod unify;
mod unknown;
mod value;

#[cfg(test)]
mod tests;

pub use compare::equals;
pub use convert::{ConvertError, convert};
pub use marks::Marks;
pub use number::Number;
pub use path::{Path, Step};
pub use secrets::Secrets;
pub use types::{Attr, Type};
pub use unify::{convertible, unify};
pub use unknown::{Origin, Refinements, Unknown};
pub use value::{Data, Value, normalize};
