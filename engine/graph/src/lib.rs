//! A directed acyclic graph: deterministic order, cycles as paths, ready set.

#![forbid(unsafe_code)]
