//! Nothing of a control plane outlives it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use std::io::{BufRead, BufReader};

use serde_json::Value;
use tests::control_plane::{ControlPlane, Options, binary, wait_until};

/// The processes that have a folder among their arguments.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok());
    let lines = all.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder)).collect()
}

#[tokio::test]
async fn dropped_it_is_gone() {
    let Some(plane) = ControlPlane::alone(Options::default()).await else { return };
    let folder = plane.folder().to_owned();
    let running = processes(&folder);
    assert_eq!(running.len(), 4, "etcd, server, controllers and scheduler: {running:#?}");
    drop(plane);
    assert_eq!(processes(&folder), [""; 0]);
    assert!(!folder.exists());
}

#[tokio::test]
async fn killed_it_takes_its_parts_along_and_the_next_one_cleans_up() {
    let Some(binary) = binary() else { return };
    let parent = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(&binary);
        command.arg("up").arg("-folder").arg(parent.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let description: Value = serde_json::from_str(&line).unwrap();
        (process, description["folder"].as_str().unwrap().to_owned())
    };
    let (mut first, folder) = start();
    first.kill().unwrap();
    first.wait().unwrap();
    // The kernel has sent the signals by now; the processes need not have ended yet.
    wait_until("the parts are gone", async || processes(Path::new(&folder)).is_empty()).await;
    assert!(Path::new(&folder).exists());

    let (mut second, _) = start();
    assert!(!Path::new(&folder).exists());
    drop(second.stdin.take());
    assert!(second.wait().unwrap().success());
    assert_eq!(processes(parent.path()), [""; 0]);
}
