//! Whatever instant a process dies at, the next one finds a whole world.

use std::path::Path;

use crate::setting::{FLEET, Setting, offered, open};

/// The world as it was after so many bytes of its log.
fn cut(from: &Path, to: &Path, log: &[u8]) {
    std::fs::create_dir_all(to.join("world")).unwrap();
    std::fs::write(to.join("world/log.jsonl"), log).unwrap();
    assert!(!from.join("world/snapshot.json").exists(), "the log is short");
}

#[tokio::test]
async fn a_world_may_be_cut_off_anywhere() {
    let world = Setting::new(FLEET).await;
    world.run("p1", "nvidia.com/gpu", "sandbox.sliceform.io/busy: 'true'").await.unwrap();
    world.exec("b", "nvidia-smi mig -dci -gi 7").await;
    world.pods("team").await.delete("p1", &Default::default()).await.unwrap();
    world.until("p1", |pod| pod.is_none()).await;
    let Setting { sandbox, dir } = world;
    sandbox.close().await.unwrap();
    let log = std::fs::read(dir.path().join("world/log.jsonl")).unwrap();
    let ends: Vec<usize> = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    // Each opening takes a moment, so a sample: the beginning, where the fleet is made, and then every so often.
    let step = ends.len() / 12 + 1;
    for (number, end) in ends.iter().enumerate().filter(|(number, _)| number % step == 0) {
        // In the middle of the next line, as a process leaves it that dies while it writes.
        let torn = ends.get(number + 1).map_or(*end, |next| end + (next - end) / 2);
        let copy = tempfile::tempdir().unwrap();
        cut(dir.path(), copy.path(), &log[..torn]);
        let fleet = Some(FLEET);
        let world = Setting { sandbox: open(copy.path(), fleet).await, dir: copy };
        assert_eq!(offered(&world.node("a").await), ["gpu=2"], "after line {number}");
        let allocated = world.users("a").await;
        let pods = world.pods("team").await.list(&Default::default()).await.unwrap().items;
        let running = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).count();
        assert_eq!(allocated.len(), running, "after line {number}: {allocated:?}");
        world.close().await;
    }
}
