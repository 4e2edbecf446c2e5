//! Tests of configurations through the public interface.

mod blocks;
mod errors;
mod modules;
mod read;
mod references;
mod robust;
