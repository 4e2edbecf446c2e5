//! Types, values with unknowns and marks, paths, conversion and structural diff.
//!
//! A value is known, null or *unknown with refinements and an origin*; it carries marks (*sensitive*, *ephemeral*)
//! inside. Knows no configuration, no provider and no file.

#![forbid(unsafe_code)]

mod number;
mod path;
mod types;
mod unknown;
mod value;

pub use number::Number;
pub use path::{Path, Step};
pub use types::{Attr, Type};
pub use unknown::{Origin, Refinements, Unknown};
pub use value::{Data, Marks, Value};
