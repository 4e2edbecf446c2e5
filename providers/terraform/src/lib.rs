//! terraform_data.

#![forbid(unsafe_code)]
