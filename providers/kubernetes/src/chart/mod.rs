//! Charts, rendered by the `helm` program into objects that are planned one by one.
//!
//! Helm renders here, and does nothing else: it speaks to no cluster, keeps no release, runs no hook. What it renders is
//! what `kubernetes_manifest` then plans, applies and deletes.

mod config;
mod objects;
mod program;
mod render;
mod schema;
mod values;

pub(crate) use config::validate;
pub(crate) use render::template;
pub(crate) use schema::schema;

/// The data source.
pub(crate) const TEMPLATE: &str = "kubernetes_helm_template";
