//! An embedded cluster: Kubernetes API, simulated fleet, agents.

#![forbid(unsafe_code)]

pub mod api;
pub mod store;
