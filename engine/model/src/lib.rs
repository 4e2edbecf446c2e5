//! The vocabulary: addresses, schemas, plans, changes, reasons, operations, holds, waves, findings, events.
//!
//! Data only. Knows no source text, no provider, no file and no network; everything here can be kept in a plan file.

#![forbid(unsafe_code)]

pub mod address;
pub mod card;
pub mod change;
pub mod duration;
pub mod event;
pub mod execution;
pub mod finding;
pub mod host;
pub mod name;
pub mod operation;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod schema;
