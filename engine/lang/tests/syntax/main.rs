//! Tests of the parser through its public interface.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod accept;
mod errors;
mod robust;
mod shape;
mod show;
mod strings;
