//! Locks: one holder, who is named; a holder that is gone holds nothing.

use std::fs;

use state::{FileStore, LockError, Store};

use crate::fixture::{begin, empty, info};

#[tokio::test]
async fn one_holds_the_lock_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(state::STATE_FILE);
    let (one, two) = (FileStore::new(path.clone()), FileStore::new(path.clone()));
    let fence = one.lock(&info("apply")).await.unwrap();
    let error = two.lock(&info("plan")).await.unwrap_err();
    let LockError::Held { holder: Some(holder), .. } = &error else { panic!("{error}") };
    assert_eq!((&*holder.who, &*holder.operation, &*holder.path), ("ops@host", "apply", path.to_str().unwrap()));
    let expected = format!(
        "the state {} is locked for apply by ops@host since 2023-11-14T22:13:20Z (lock {})",
        path.display(),
        info("apply").id
    );
    assert_eq!(error.to_string(), expected);

    // What a run in another process sees of the holder: Terraform's members.
    let file = dir.path().join(".sliceform.tfstate.lock.info");
    let text = fs::read_to_string(&file).unwrap();
    let members: std::collections::BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    let names: Vec<_> = members.keys().map(String::as_str).collect();
    assert_eq!(names, ["Created", "ID", "Info", "Operation", "Path", "Version", "Who"]);

    one.unlock(fence).await.unwrap();
    assert!(!file.exists());
    let fence = two.lock(&info("plan")).await.unwrap();
    two.unlock(fence).await.unwrap();
}

#[tokio::test]
async fn a_holder_that_is_gone_holds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(state::STATE_FILE);
    let gone = FileStore::new(path.clone());
    let first = gone.lock(&info("apply")).await.unwrap();
    gone.append(&[begin(empty().base(), "p", first)], first).await.unwrap();
    drop(gone);
    assert!(dir.path().join(".sliceform.tfstate.lock.info").exists(), "as a killed process leaves it");
    let next = FileStore::new(path);
    assert!(next.lock(&info("apply")).await.unwrap() > first);
}
