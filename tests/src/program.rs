//! Programs of this workspace, for tests of other packages than their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::process::Command;

/// A program, built where cargo builds: the tests of another package do not do it.
///
/// # Panics
/// When it cannot be built.
pub fn built(package: &str, program: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "--offline", "--package", package, "--bin", program];
    assert!(Command::new(cargo).args(build).status().unwrap().success());
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join(program)
}
