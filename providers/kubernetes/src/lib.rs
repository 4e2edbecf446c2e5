//! Kubernetes objects: created, compared and deleted by server-side apply.
//!
//! Whoever speaks to a cluster uses the [`Connection`] of this crate: it is configured as HashiCorp's Kubernetes
//! provider is, and says of every failure what a caller may do about it. This crate knows nothing of GPUs.

#![forbid(unsafe_code)]

mod chart;
mod cluster;
mod connection;
mod data;
mod digest;
mod error;
mod functions;
mod instance;
mod object;
mod provider;
mod resource;
mod review;
mod schema;
mod uri;
mod yaml;

pub use connection::{
    Connection, ConnectionOverride, ConnectionSettings, Environment, Exec, Secret, connection_attributes,
    connection_blocks,
};
pub use error::{is_not_found, provider_error};
pub use object::quantity::Quantity;
pub use provider::KubernetesProvider;
