//! The simulated fleet as the nodes of a real control plane: what is told of the sandbox holds there, too.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod quickstart;
#[path = "../../../engine/cli/tests/readme/tour.rs"]
mod tour;

use std::path::{Path, PathBuf};

use tests::control_plane::ControlPlane;
use tests::program::built;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[tokio::test]
async fn the_readme_says_what_happens() {
    let Some(plane) = ControlPlane::alone(Default::default()).await else { return };
    let program = tokio::task::spawn_blocking(|| built("engine-cli", "sliceform")).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    tour::prepare(&root(), directory.path());
    let fleet = plane.join(&directory.path().join("examples/quickstart/.sliceform/sandbox"), None).await;
    fleet.serve().unwrap();
    let place = directory.path().to_owned();
    let told = tokio::task::spawn_blocking(move || tour::tell(&root(), &place, program.parent().unwrap()));
    let (wrong, _) = told.await.unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    fleet.close().await.unwrap();
}
