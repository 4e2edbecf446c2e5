//! Tests of configurations through the public interface.

mod blocks;
mod errors;
mod fixtures;
mod json;
mod modules;
mod overrides;
mod read;
mod references;
mod robust;
