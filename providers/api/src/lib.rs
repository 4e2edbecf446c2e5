//! The provider contract.

#![forbid(unsafe_code)]
