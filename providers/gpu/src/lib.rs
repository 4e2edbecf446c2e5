//! The GPU domain: pools, profiles, quotas, capacity, findings.
//!
//! [`GpuProvider`] makes instances; an instance reads the cluster as one snapshot (`world`), and everything that is
//! planned is a pure function of configuration, stored state and that snapshot (`pool`, `operations`, `quota`,
//! `review`). Only `node` and `quota::realise` write: taints, evictions, the `spec` of a node's `GpuNode`, ResourceQuotas.
//! Geometry and placements are the catalog's; cutting is the agent's.

#![forbid(unsafe_code)]

mod attributes;
mod cluster;
mod data;
mod envelope;
mod exclusion;
#[cfg(test)]
mod fixture;
mod instance;
mod node;
mod operations;
mod pool;
mod provider;
mod provider_block;
mod quota;
mod resource;
mod review;
mod wait;
mod world;

pub use provider::GpuProvider;
