//! A `libnvidia-ml.so` whose cards are simulated: programs that speak NVML run against it unchanged.
//!
//! The node is a JSON file (one [`Node`](providers_simulator::Node)), named by the environment variable
//! [`NODE_FILE`]. Every call reads it, does to it what the driver would do, and writes it back, under a lock: several
//! processes see one node, as they see one driver. What the calls mean is in `providers-simulator`; here is only C's side
//! of it, and this is why the crate stands alone: it is all unsafe code.
//!
//! Its functions are those that the agent, `nvml-wrapper` and NVIDIA's own bindings need to find and cut cards. Others are
//! not exported, as in an old driver's library. Their arguments are those of `nvml.h`: pointers are null or valid.

mod answer;
mod cards;
mod handle;
mod instances;
mod mode;
mod processes;
mod profiles;
mod settings;
mod system;
mod world;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;

pub use world::{WorldError, edit, read};

/// The environment variable that names the file with the node.
pub const NODE_FILE: &str = "SLICEFORM_SIMULATED_NODE";

/// Where cargo has put the shared library that belongs to the running test or program; none if it has not been built.
///
/// Cargo builds it beside whatever depends on this crate, and gives shared libraries no hash in their names.
pub fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let name = format!("{DLL_PREFIX}{}{DLL_SUFFIX}", env!("CARGO_PKG_NAME").replace('-', "_"));
    program.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
