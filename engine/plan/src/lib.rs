//! Configuration, snapshot and what providers say make a plan.

#![forbid(unsafe_code)]
