//! Who has a sandbox, for the message to those who wait for it. The lock itself is the store's.

use std::fs;
use std::path::{Path, PathBuf};

use crate::private;

/// Says who has it. Only for people: that it cannot be written stops nobody.
pub(crate) fn write(dir: &Path, command: &str) {
    let text = format!("`sliceform {command}` (process {})", std::process::id());
    let _ = private::write(&path(dir), text.as_bytes());
}

/// Who said last that it has it.
pub(crate) fn read(dir: &Path) -> String {
    fs::read_to_string(path(dir)).unwrap_or_else(|_| "another process".to_owned())
}

pub(crate) fn remove(dir: &Path) {
    let _ = fs::remove_file(path(dir));
}

fn path(dir: &Path) -> PathBuf {
    dir.join("holder")
}
