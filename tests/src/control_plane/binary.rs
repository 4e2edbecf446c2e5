//! The binary that every part of the control plane is a role of. `tests/control-plane/build` builds it, when nothing is
//! there that was built from the same files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The path of the binary. Nothing where there is no Go.
///
/// # Panics
/// When it cannot be built.
pub fn binary() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Option<PathBuf> {
    Command::new("go").arg("version").output().ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("control-plane/build");
    let output = Command::new(&script).arg(target()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    let path = String::from_utf8(output.stdout).unwrap();
    Some(PathBuf::from(path.trim_end()))
}

/// Cargo's target folder, which this program is in.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).unwrap().to_owned()
}
