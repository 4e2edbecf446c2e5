//! What only the sandbox's API server has: its record of calls, its identities, its files; and a fleet that
//! joins such a server from outside. What it has in common with a
//! real one is in `tests/tests/api`, whose cases run against both.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod cluster;
mod joined;
mod public;
mod sandbox;
