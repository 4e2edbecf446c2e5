//! Commits of files: serial, backup, what is left behind, what is refused.

use std::{
    fs,
    path::{Path, PathBuf},
};

use state::{Fence, FileStore, LoadError, MemoryStore, Slot, Snapshot, Store, WriteError, v4};

use crate::fixture::{addr, begin, created, empty, failed, info, intent, object, provider, with_serial};

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .expect("a directory")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn in_dir() -> (tempfile::TempDir, PathBuf, FileStore) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(state::STATE_FILE);
    let store = FileStore::new(path.clone());
    (dir, path, store)
}

/// What both kinds of store promise.
async fn a_run(store: &dyn Store) {
    assert_eq!(store.load().await.unwrap(), state::Loaded::default());
    let fence = store.lock(&info("apply")).await.unwrap();
    let mut snapshot = empty();
    assert_eq!(store.commit(&snapshot, fence).await.unwrap(), 1);
    snapshot.serial = 1;
    assert_eq!(store.commit(&snapshot, fence).await.unwrap(), 1, "nothing is different");

    let records = [
        begin(snapshot.base(), "p", fence),
        intent("t.a"),
        intent("t.b"),
        intent("t.c"),
        created("t.a", None, &object("{\"v\":1}")),
        failed("t.b"),
    ];
    store.append(&records[..3], fence).await.unwrap();
    store.append(&records[3..], fence).await.unwrap();
    let loaded = store.load().await.unwrap();
    assert_eq!(loaded.records, records);
    let folded = loaded.fold().unwrap().unwrap();
    assert_eq!(folded.current(&addr("t.a")), Some(&object("{\"v\":1}")));
    let before = loaded.identity();
    assert_eq!((before.serial, before.tail.len()), (1, 64));

    assert_eq!(store.commit(&folded, fence).await.unwrap(), 2);
    let loaded = store.load().await.unwrap();
    assert!(loaded.snapshot.as_ref().is_some_and(|snapshot| snapshot.same_content(&folded)));
    assert_ne!(loaded.identity(), before);
    let open: Vec<_> = loaded.open_intents().iter().map(|open| open.intent.step.clone()).collect();
    assert_eq!(open, [engine_model::execution::Step::Create(addr("t.c"))], "it is still not known what became of it");

    let stale = store.commit(&snapshot, fence).await.unwrap_err();
    assert!(matches!(stale, WriteError::Stale { stored: 2, given: 1, .. }), "{stale}");
    let other = Snapshot::new(state::Lineage("other".into()));
    assert!(matches!(store.commit(&other, fence).await, Err(WriteError::OtherLineage { .. })));

    store.unlock(fence).await.unwrap();
    for result in [store.append(&records, fence).await, store.commit(&folded, fence).await.map(drop)] {
        assert!(matches!(result, Err(WriteError::NotLocked { .. })));
    }
    assert!(store.lock(&info("apply")).await.unwrap() > fence);
}

#[tokio::test]
async fn both_stores_keep_a_run() {
    let (_dir, _, store) = in_dir();
    a_run(&store).await;
    a_run(&MemoryStore::default()).await;
}

#[tokio::test]
async fn a_commit_leaves_the_state_and_its_backup() {
    let (dir, path, store) = in_dir();
    let fence = store.lock(&info("apply")).await.unwrap();
    let mut snapshot = empty();
    snapshot.put(&addr("t.a"), Slot::Current, provider(), object("{}"));
    snapshot.serial = store.commit(&snapshot, fence).await.unwrap();
    let first = fs::read(&path).unwrap();
    snapshot.put(&addr("t.b"), Slot::Current, provider(), object("{}"));
    store.append(&[begin(snapshot.base(), "p", fence)], fence).await.unwrap();
    store.commit(&snapshot, fence).await.unwrap();
    store.unlock(fence).await.unwrap();
    assert_eq!(names(dir.path()), ["sliceform.tfstate", "sliceform.tfstate.backup"]);
    assert_eq!(fs::read(dir.path().join("sliceform.tfstate.backup")).unwrap(), first);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_file_of_another_release_becomes_ours_once() {
    let (_dir, path, store) = in_dir();
    let theirs = v4::write(&with_serial(empty(), 3)).replace("1.11.4", "1.12.0");
    fs::write(&path, &theirs).unwrap();
    let fence = store.lock(&info("apply")).await.unwrap();
    let mut snapshot = store.load().await.unwrap().snapshot.unwrap();
    assert_eq!(store.commit(&snapshot, fence).await.unwrap(), 3, "nothing is different");
    assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    snapshot.put(&addr("t.a"), Slot::Current, provider(), object("{}"));
    for _ in 0..2 {
        snapshot.serial = store.commit(&snapshot, fence).await.unwrap();
        assert_eq!(snapshot.serial, 4);
    }
    assert!(fs::read_to_string(&path).unwrap().contains("\"terraform_version\": \"1.11.4\""));
}

#[tokio::test]
async fn what_cannot_be_used_is_not_touched() {
    let journal = |path: &Path| path.with_file_name("sliceform.tfstate.journal");
    let snapshot = with_serial(empty(), 1);
    let ahead = state::Base { serial: 2, ..snapshot.base() };
    for (state_file, journal_file, expected) in [
        ("{\"version\": 4".to_owned(), None, "is no state that can be used"),
        ("{\"version\": 3, \"serial\": 1}".to_owned(), None, "is no state that can be used"),
        (v4::write(&snapshot), Some("{\"len\":1}\n".to_owned()), "is damaged"),
        (v4::write(&snapshot), Some(line(&begin(ahead, "p", Fence(1))).await), "does not belong to this state"),
    ] {
        let (dir, path, store) = in_dir();
        fs::write(&path, &state_file).unwrap();
        if let Some(text) = &journal_file {
            fs::write(journal(&path), text).unwrap();
        }
        let fence = store.lock(&info("apply")).await.unwrap();
        let error = store.load().await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("sliceform.tfstate"), "{text}");
        assert!(!error.hint().is_empty());
        for result in [
            store.append(&[begin(empty().base(), "p", fence)], fence).await,
            store.commit(&empty(), fence).await.map(drop),
        ] {
            assert!(matches!(result, Err(WriteError::Load(_))), "{result:?}");
        }
        store.unlock(fence).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), state_file);
        assert_eq!(fs::read_to_string(journal(&path)).ok(), journal_file);
        drop(dir);
    }
}

/// A record as a line of a journal.
async fn line(record: &state::Record) -> String {
    let (_dir, path, store) = in_dir();
    let fence = store.lock(&info("apply")).await.expect("a lock");
    store.append(std::slice::from_ref(record), fence).await.expect("a durable record");
    fs::read_to_string(path.with_file_name("sliceform.tfstate.journal")).expect("a journal")
}

#[tokio::test]
async fn half_a_line_at_the_end_is_left_out_and_overwritten() {
    let (_dir, path, store) = in_dir();
    let journal = path.with_file_name("sliceform.tfstate.journal");
    let fence = store.lock(&info("apply")).await.unwrap();
    let run = begin(empty().base(), "p", fence);
    store.append(&[run.clone(), intent("t.a")], fence).await.unwrap();
    store.unlock(fence).await.unwrap();
    let whole = fs::read(&journal).unwrap();
    let first = line(&run).await.len();
    for end in first..whole.len() {
        fs::write(&journal, &whole[..end]).unwrap();
        let loaded = store.load().await.unwrap();
        assert_eq!((loaded.records.len(), loaded.notes.is_empty()), (1, end == first), "{end}");
        let fence = store.lock(&info("apply")).await.unwrap();
        let again = begin(empty().base(), "q", fence);
        store.append(std::slice::from_ref(&again), fence).await.unwrap();
        store.unlock(fence).await.unwrap();
        assert_eq!(store.load().await.unwrap().records, [run.clone(), again]);
    }
}

#[tokio::test]
async fn a_damaged_line_is_an_error() {
    let (_dir, path, store) = in_dir();
    let journal = path.with_file_name("sliceform.tfstate.journal");
    let fence = store.lock(&info("apply")).await.unwrap();
    store.append(&[begin(empty().base(), "p", fence), intent("t.a")], fence).await.unwrap();
    let whole = fs::read(&journal).unwrap();
    for i in (0..whole.len()).filter(|i| whole[*i] != b'\n') {
        let mut damaged = whole.clone();
        damaged[i] ^= 1;
        fs::write(&journal, &damaged).unwrap();
        let fresh = FileStore::new(path.clone());
        assert!(matches!(fresh.load().await, Err(LoadError::Journal { .. })), "byte {i}");
    }
}

#[tokio::test]
async fn every_file_that_is_written_is_named() {
    let (dir, _path, store) = in_dir();
    let fence = store.lock(&info("apply")).await.unwrap();
    store.commit(&empty(), fence).await.unwrap();
    let snapshot = with_serial(empty(), 1);
    let records = [begin(snapshot.base(), "p", fence), created("t.a", None, &object("{}")), intent("t.b")];
    store.append(&records, fence).await.unwrap();
    let folded = store.load().await.unwrap().fold().unwrap().unwrap();
    store.commit(&folded, fence).await.unwrap();
    let files = FileStore::files(dir.path());
    let mut named: Vec<_> =
        files.iter().filter(|file| file.exists()).map(|file| file.file_name().unwrap().to_string_lossy()).collect();
    named.sort();
    assert_eq!(named, names(dir.path()), "a state, its backup, its journal and its lock");
    assert_eq!(named.len(), 4);
}
