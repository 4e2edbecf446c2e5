//! The `helm` program for tests, built by `tests/helm/build`.

use std::panic::Location;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::go_program;

/// The path of the program. Nothing where there is no Go: the test that asks has then said that it is skipped.
///
/// # Panics
/// It cannot be built, or the gate requires it and there is no Go.
#[track_caller]
pub fn helm() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = BUILT.get_or_init(|| go_program::built("helm/build")).clone();
    if found.is_none() {
        go_program::skip("SLICEFORM_HELM", Location::caller(), "there is no Go to build Helm with");
    }
    found
}
