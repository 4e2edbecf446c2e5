//! GPU models, MIG geometry and the placement solver.

#![forbid(unsafe_code)]
