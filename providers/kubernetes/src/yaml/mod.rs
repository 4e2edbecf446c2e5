//! YAML as Kubernetes reads and writes it: version 1.1 for scalars that stand without quotes (`on`, `0644`), several
//! documents in one text, anchors and merge keys. What it reads becomes JSON, since that is all that the API knows.
//!
//! Stricter than kubectl in one thing: a key that is there twice is an error, since one of the two would be lost.

mod read;
mod scalar;
mod write;

pub(crate) use read::{Document, YamlError, documents};
pub(crate) use write::write;

#[cfg(test)]
mod tests;
