//! Schemas of kinds, where the API server cannot say itself what it would make of an object: what is wrong with a body
//! ([`check`]), and what would become of it ([`predict`]).
//!
//! A schema is read as it comes: from an API server's OpenAPI document, from a custom resource definition, or from the
//! document of the built-in kinds that is compiled in.

pub(crate) mod check;
mod node;
pub(crate) mod predict;
mod rules;
mod scalar;
mod source;
mod transition;

pub(crate) use node::Schema;
pub(crate) use transition::Demand;
