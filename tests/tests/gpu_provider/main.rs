//! Provider `gpu` against the sandbox: its API server, its simulated fleet, the real agents. Each case walks as the engine
//! does: read, plan, operations, hold, operate, release, apply.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod faults;
mod lab;
mod pools;
mod quotas;
mod stops;
