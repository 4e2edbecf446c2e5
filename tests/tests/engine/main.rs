//! The engine from source text to state, over a mock provider.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "tests may; clippy knows only those functions that are marked as tests")]

mod crash;
mod failure;
mod lifecycle;
mod nodes;
mod order;
mod scale;
mod secrets;
mod simulation;
