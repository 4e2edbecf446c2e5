//! A directed acyclic graph: deterministic order, cycles as paths, ready set.
//!
//! Nodes are what the caller says; an edge `a -> b` means that `a` comes before `b`. Everything is iterative and linear,
//! so a chain of a hundred thousand nodes works. Does no I/O and runs nothing: [`Ready`] only says what may run.

#![forbid(unsafe_code)]

mod dag;
mod ready;

pub use dag::{Cycle, Dag, NodeId};
pub use ready::{Ready, Standing};
