//! A provider whose world is in memory: everything that the engine can ask of a provider, and every way in which it can
//! go wrong.
//!
//! - `mock_object`: arguments, computed attributes, one that cannot be changed in place, one that is secret.
//! - `mock_node_change`: is carried out by one operation on each of its nodes.
//! - data `mock_value`: reads a value of the world.
//!
//! Deterministic: it knows no clock, and identifiers do not depend on the order of calls.

pub mod call;
pub mod fault;
mod instance;
mod node_change;
mod object;
pub mod provider;
pub mod world;
