//! The node resource that engine and agent share, and the GPU trait.

#![forbid(unsafe_code)]
