//! The sandbox as commands use it: opened, worked on over HTTPS with real clients, closed, opened again.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod cluster;
mod crash;
mod faults;
mod identity;
mod lifecycle;
mod operation;
mod outage;
mod served;
mod setting;
mod workloads;
