//! What a test says that cannot run on this machine.

use std::panic::Location;
use std::process::{Command, Stdio};

use crate::go_program;

/// Says which test is skipped, and why.
///
/// # Panics
/// When the gate requires it.
pub(super) fn skip(caller: &Location<'_>, why: &str) {
    go_program::skip("SLICEFORM_CONTROL_PLANE", caller, why);
}

/// Says that the test is skipped for want of Go.
///
/// # Panics
/// When the gate requires it.
pub(super) fn skip_without_go(caller: &Location<'_>) {
    skip(caller, "there is no Go to build the control plane with");
}

/// Whether this process may make mount namespaces.
pub(super) fn may_unshare() -> bool {
    let quiet = || Stdio::null();
    let status = Command::new("unshare").args(["-m", "mount", "--make-rprivate", "/"]).stderr(quiet()).status();
    status.is_ok_and(|status| status.success())
}
