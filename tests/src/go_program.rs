//! Programs that tests build from Go modules of their own, when nothing is there that was built from the same files. Go need
//! not be there: what needs such a program is then skipped, and says so.

use std::io::Write as _;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The path of the program that this script of the crate builds. Nothing where there is no Go.
///
/// # Panics
/// When it cannot be built.
pub(crate) fn built(script: &str) -> Option<PathBuf> {
    Command::new("go").arg("version").output().ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let output = Command::new(&script).arg(target()).stderr(Stdio::piped()).output().expect("a script that is there");
    assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    let path = String::from_utf8(output.stdout).expect("a path in UTF-8");
    Some(PathBuf::from(path.trim_end()))
}

/// Cargo's target folder, which this program is in.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    // TARGET/PROFILE/deps/PROGRAM
    program.ancestors().nth(3).expect("tests run in cargo's target folder").to_owned()
}

/// Says which test is skipped, and why. `requirement`: the variable by which the gate asks for every test: `required`.
///
/// # Panics
/// When the gate requires it.
pub fn skip(requirement: &str, caller: &Location<'_>, why: &str) {
    let thread = std::thread::current();
    // The test's name, unless tests run on the main thread.
    let test = thread.name().filter(|name| *name != "main").map_or_else(|| caller.to_string(), str::to_owned);
    assert!(std::env::var(requirement).as_deref() != Ok("required"), "{test} is required, but {why}");
    // Not by a macro: what those write is shown only when a test fails.
    let line = format!("\n*** SKIPPED: {test}: {why} ***\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}
