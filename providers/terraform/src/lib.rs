//! Terraform's built-in provider: `terraform_data`.
//!
//! Behaves as Terraform 1.11 does, which the binary was asked for. `terraform_remote_state` and the functions
//! `provider::terraform::*` are not offered yet; whoever names them is told so.

#![forbid(unsafe_code)]

mod provider;
mod terraform_data;

pub use provider::Terraform;
