//! Terraform's built-in provider: `terraform_data`, `terraform_remote_state`, and the functions `provider::terraform::*`.
//!
//! Behaves as Terraform 1.11 does, which the binary was asked for.

#![forbid(unsafe_code)]

mod functions;
mod provider;
mod remote_state;
mod terraform_data;

pub use provider::Terraform;
