//! The state file: Terraform's format, version 4, byte for byte as Terraform 1.11 lays it out.
//!
//! What we add is under keys that begin with `sliceform`: Terraform ignores them and drops them when it writes, and all
//! of it can be rebuilt.

mod error;
mod field;
mod object;
mod path;
mod read;
mod write;

use engine_value::json::Json;

pub use error::FormatError;
pub(crate) use object::{read_object, write_object};
pub use read::read;
pub use write::write;

/// The one version that is read and written.
const VERSION: u64 = 4;

/// What is ours beside Terraform's members: clusters, held nodes, the last run.
const OURS: &str = "sliceform";

/// Nearest ancestors, beside Terraform's `dependencies`.
const OUR_DEPENDENCIES: &str = "sliceform_dependencies";

/// The provider of an instance where it is not that of its resource: Terraform knows one for all instances.
const OUR_PROVIDER: &str = "sliceform_provider";

fn text(text: &str) -> Json {
    Json::from(text)
}

fn number(number: u64) -> Json {
    Json::Number(number.to_string().into())
}

fn object<K: AsRef<str>>(members: impl IntoIterator<Item = (K, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.as_ref().into(), value)).collect())
}
