//! Modules from elsewhere: real git, real HTTP on this machine, archives that the tests make.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod archive;
mod git;
mod hostile;
mod installed;
mod registry;
mod server;
mod site;
mod terraform;
