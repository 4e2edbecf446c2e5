//! Terraform's built-in provider: `terraform_data` and `terraform_remote_state`.
//!
//! Behaves as Terraform 1.11 does, which the binary was asked for. The functions `provider::terraform::*` are not
//! offered yet; whoever names them is told so.

#![forbid(unsafe_code)]

mod provider;
mod remote_state;
mod terraform_data;

pub use provider::Terraform;
