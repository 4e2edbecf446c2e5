//! The `helm` program for tests. `tests/helm/build` builds it from its own Go module, when nothing is there that was built
//! from the same files.

use std::io::Write as _;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The variable by which the gate asks for every test: `required`. What is absent is then a failure.
const REQUIREMENT: &str = "SLICEFORM_HELM";

/// The path of the program. Nothing where there is no Go: the test that asks has then said that it is skipped.
///
/// # Panics
/// It cannot be built, or the gate requires it and there is no Go.
#[track_caller]
pub fn helm() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = BUILT.get_or_init(build).clone();
    if found.is_none() {
        skip(Location::caller());
    }
    found
}

fn skip(caller: &Location<'_>) {
    let thread = std::thread::current();
    // The test's name, unless tests run on the main thread.
    let test = thread.name().filter(|name| *name != "main").map_or_else(|| caller.to_string(), str::to_owned);
    assert!(std::env::var(REQUIREMENT).as_deref() != Ok("required"), "{test} is required, but there is no Go");
    // Not by a macro: what those write is shown only when a test fails.
    let line = format!("\n*** SKIPPED: {test}: there is no Go to build Helm with ***\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error can be written");
}

fn build() -> Option<PathBuf> {
    Command::new("go").arg("version").output().ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm/build");
    let output = Command::new(&script).arg(target()).stderr(Stdio::piped()).output().expect("a script that is there");
    assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    let path = String::from_utf8(output.stdout).expect("a path in UTF-8");
    Some(PathBuf::from(path.trim_end()))
}

/// Cargo's target folder, which this program is in.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program has a path");
    let found = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    found.expect("tests run in cargo's target folder").to_owned()
}
