//! The provider for Kubernetes against the sandbox's API server, over HTTPS, held to the provider contract: every planned
//! object and every result is checked as the engine checks it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod chart_sources;
mod charts;
mod cluster;
mod connection;
mod connection_credentials;
mod connection_real;
mod connection_wire;
mod deletions;
mod engine;
mod faults;
mod histories;
mod immutable;
mod import;
mod lives;
mod manifest;
mod namespace;
mod others;
mod ownership;
mod pains;
mod reads;
mod run;
mod site;
mod typed;
mod typed_hashicorp;
mod typed_parts;
mod typed_schema;
mod typed_secret;
mod waits;
mod world;
mod yaml;
