//! `kubernetes_namespace`, with HashiCorp's schema.
//!
//! Labels and annotations that the configuration does not name belong to others, and are neither read nor changed.
//! `resource_version` and `generation` are those of the last apply, since others change them all the time.

mod apply;
mod metadata;
mod plan;
mod schema;

pub(crate) use apply::{apply, import};
pub(crate) use metadata::{key_of, refreshed, validate};
pub(crate) use plan::plan;
pub(crate) use schema::schema;

/// The type's name.
pub(crate) const TYPE: &str = "kubernetes_namespace";

/// HashiCorp's second name for the same type.
pub(crate) const TYPE_V1: &str = "kubernetes_namespace_v1";
