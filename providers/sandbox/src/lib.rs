//! An embedded cluster: Kubernetes API, simulated fleet, agents.

#![forbid(unsafe_code)]
