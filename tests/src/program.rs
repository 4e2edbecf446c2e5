//! Programs of this workspace, for tests of other packages than their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::process::Command;

/// A program, built where and as cargo has built the test: the tests of another package do not do it.
///
/// # Panics
/// When it cannot be built.
pub fn built(package: &str, program: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--offline", "--package", package, "--bin", program]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success());
    folder.join(program)
}
