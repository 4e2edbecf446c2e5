//! Executes the execution graph of a plan.

#![forbid(unsafe_code)]
