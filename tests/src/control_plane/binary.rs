//! The binary that every part of the control plane is a role of, built by `tests/control-plane/build`.

use std::panic::Location;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::absent;
use crate::go_program;

/// The path of the binary. Nothing where there is no Go: the test that asks has then said that it is skipped.
///
/// # Panics
/// When it cannot be built, or the gate requires it and there is no Go.
#[track_caller]
pub fn binary() -> Option<PathBuf> {
    let found = built();
    if found.is_none() {
        absent::skip_without_go(Location::caller());
    }
    found
}

/// The same, without a word.
pub(super) fn built() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| go_program::built("control-plane/build")).clone()
}
