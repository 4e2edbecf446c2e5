//! What a test says that cannot run on this machine.

use std::io::Write;
use std::panic::Location;
use std::process::{Command, Stdio};

/// The variable by which the gate asks for every test: `required`. What is absent is then a failure.
const REQUIREMENT: &str = "SLICEFORM_CONTROL_PLANE";

/// Says which test is skipped, and why.
///
/// # Panics
/// When the gate requires it.
pub(super) fn skip(caller: &Location<'_>, why: &str) {
    let thread = std::thread::current();
    // The test's name, unless tests run on the main thread.
    let test = thread.name().filter(|name| *name != "main").map_or_else(|| caller.to_string(), str::to_owned);
    assert!(std::env::var(REQUIREMENT).as_deref() != Ok("required"), "{test} is required, but {why}");
    // Not by a macro: what those write is shown only when a test fails.
    let line = format!("\n*** SKIPPED: {test}: {why} ***\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Whether this process may make mount namespaces.
pub(super) fn may_unshare() -> bool {
    let quiet = || Stdio::null();
    let status = Command::new("unshare").args(["-m", "mount", "--make-rprivate", "/"]).stderr(quiet()).status();
    status.is_ok_and(|status| status.success())
}
