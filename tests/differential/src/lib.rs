//! Agreement with Terraform: random expressions, what Terraform made of them, what we make of them.
//!
//! [`generate`] makes cases from a seed, [`terraform`] asks the binary, many cases in one run, [`ours`] asks our evaluator
//! in-process, and [`shrink`] makes a case on which they disagree small. The answers are committed as [`facts`], so that
//! the test beside this crate needs no Terraform. `cargo run -p tests-differential` records them again.

#![forbid(unsafe_code)]

pub mod answer;
pub mod case;
pub mod differences;
pub mod facts;
pub mod generate;
pub mod ours;
pub mod random;
pub mod shrink;
pub mod terraform;
pub mod text;
pub mod world;
