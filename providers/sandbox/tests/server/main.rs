//! What only the sandbox's API server has: its record of calls, its identities, its files. What it has in common with a
//! real one is in `tests/tests/api`, whose cases run against both.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod cluster;
mod public;
mod sandbox;
