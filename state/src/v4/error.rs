//! Files that are no state, and what to do about each.

use engine_value::json::ReadError;

/// A file that cannot be used as state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// It has no bytes.
    #[error("it is empty")]
    Empty,
    /// It is no text.
    #[error("byte {0} is no UTF-8 text")]
    NotText(usize),
    /// It is no JSON: torn, or something else altogether.
    #[error("it is no JSON: {0}")]
    NotJson(ReadError),
    /// It is JSON, and no state.
    #[error("it is JSON, and no state: {0}")]
    NotState(String),
    /// It is encrypted by OpenTofu.
    #[error("it is encrypted")]
    Encrypted,
    /// It is of another version.
    #[error("it is a state of version {0}, and version 4 was expected")]
    Version(u64),
    /// Something in it is not what it should be.
    #[error("{at}{}{why}", if at.is_empty() { "" } else { ": " })]
    Field {
        /// Where: `resources[3].instances[0].schema_version`.
        at: String,
        /// What was expected and what was found, as a fragment.
        why: String,
    },
}

impl FormatError {
    /// The way out, as a sentence.
    pub fn hint(&self, path: &str) -> String {
        match self {
            Self::Empty | Self::NotText(_) | Self::NotJson(_) | Self::Field { .. } => {
                format!("The file was left as it is. If {path}.backup is whole, put it in the place of {path}.")
            }
            Self::NotState(_) => {
                format!("The file was left as it is. Move {path} away if it belongs to something else.")
            }
            Self::Encrypted => "The file was left as it is. Decrypt it with the program that wrote it.".to_owned(),
            Self::Version(version) if *version > 4 => {
                "The file was left as it is. Use the release that wrote it, or a newer one.".to_owned()
            }
            Self::Version(_) => {
                "The file was left as it is. Bring it to version 4 with Terraform 1.x: terraform state pull, then push."
                    .to_owned()
            }
        }
    }
}
