//! `kubernetes_manifest`: any object, by server-side apply.
//!
//! `manifest` is what the configuration says; `object` is the same part of the live object, in the server's spelling, and
//! the UID. So what is stored, compared and shown are exactly the fields that this resource owns.

mod apply;
mod config;
mod plan;
mod read;
mod schema;

pub(crate) use apply::apply;
pub(crate) use config::{desired, validate};
pub(crate) use plan::{plan, validate_alone};
pub(crate) use read::{import, key_of, refreshed, secrets};
pub(crate) use schema::schema;

/// The type's name.
pub(crate) const TYPE: &str = "kubernetes_manifest";
