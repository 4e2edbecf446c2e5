//! The store's files: who has them open, the snapshot, and when the log is folded into it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::key::{Key, Revision};
use super::log::{self, Entry, Log, LogError};

/// Fewer transactions than this are not worth a compaction; above it the log may grow as long as the number of objects
/// (so the cost of compacting stays a constant share of the cost of writing).
const MIN_LINES: usize = 4096;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{dir} is in use by another process")]
    InUse {
        /// The store's folder.
        dir: PathBuf,
    },
    /// A file cannot be read, or is damaged.
    #[error("the store's files cannot be read")]
    Log(#[from] LogError),
}

/// Everything that is stored.
pub(super) type Objects = BTreeMap<Key, Arc<Value>>;

/// The open files. The lock is held until this value is dropped.
pub(super) struct Persistence {
    log: Log,
    dir: PathBuf,
    _lock: File,
}

/// Locks and reads the folder.
pub(super) fn open(dir: &Path) -> Result<(Persistence, Objects, Revision), OpenError> {
    let io = |path: &Path, action| {
        let path = path.to_path_buf();
        move |source| LogError::Io { path, action, source }
    };
    fs::create_dir_all(dir).map_err(io(dir, "creating the folder"))?;
    let path = dir.join("lock");
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(io(&path, "opening the lock file"))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { dir: dir.to_path_buf() }),
        Err(TryLockError::Error(source)) => return Err(io(&path, "locking")(source).into()),
    }
    let (mut objects, mut revision) = read_snapshot(&dir.join("snapshot.json"))?;
    let (log, entries) = Log::open(&dir.join("log.jsonl"))?;
    for entry in entries {
        // A compaction that died between its two steps leaves entries that the snapshot already has.
        if entry.revision <= revision {
            continue;
        }
        revision = entry.revision;
        match entry.object {
            Some(object) => objects.insert(entry.key, object),
            None => objects.remove(&entry.key),
        };
    }
    Ok((Persistence { log, dir: dir.to_path_buf(), _lock: lock }, objects, revision))
}

impl Persistence {
    /// Appends one transaction; `objects` and `revision` are the state after it.
    pub(super) fn append(&mut self, entries: &[Entry], objects: &Objects, revision: Revision) -> Result<(), LogError> {
        if self.log.lines >= MIN_LINES.max(objects.len()) {
            // The snapshot is the state after this transaction, so it stands for the append, too.
            return self.compact(objects, revision);
        }
        self.log.append(entries)
    }

    /// Writes the snapshot (whole or not at all: a new file takes the old one's name), then empties the log.
    pub(super) fn compact(&mut self, objects: &Objects, revision: Revision) -> Result<(), LogError> {
        // The first line is a marker with the revision; then one line for each object, checked like the log's.
        let marker = Entry { revision, key: Key::new("", "", ""), object: None };
        let mut text = log::encode(&[marker]);
        for (key, object) in objects {
            text.extend(log::encode(&[Entry { revision, key: key.clone(), object: Some(object.clone()) }]));
        }
        let (path, new) = (self.dir.join("snapshot.json"), self.dir.join("snapshot.json.new"));
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|source| LogError::Io { path: path.clone(), action: "writing the snapshot", source })?;
        // From here on the snapshot counts. What stays in the log if it cannot be emptied is skipped when it is read, and
        // the next write tries again.
        self.log.clear();
        Ok(())
    }
}

fn read_snapshot(path: &Path) -> Result<(Objects, Revision), LogError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((BTreeMap::new(), Revision(0))),
        Err(source) => {
            return Err(LogError::Io { path: path.to_path_buf(), action: "reading the snapshot", source });
        }
    };
    let (mut objects, mut revision) = (BTreeMap::new(), Revision(0));
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let entries = log::decode_line(line).map_err(|reason| LogError::Damaged {
            path: path.to_path_buf(),
            line: index + 1,
            reason,
        })?;
        for entry in entries {
            revision = entry.revision;
            if let Some(object) = entry.object {
                objects.insert(entry.key, object);
            }
        }
    }
    Ok((objects, revision))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Mode, Store};
    use super::*;

    fn put(store: &Store, name: &str, value: u64) {
        let mut transaction = store.begin(Mode::Write);
        transaction.put(&Key::new("configmaps", "default", name), json!({"metadata": {"name": name}, "value": value}));
        transaction.commit().unwrap();
    }

    fn contents(store: &Store) -> Vec<(String, u64, String)> {
        let read = store.read();
        read.list("configmaps")
            .map(|(key, object)| {
                let version = object["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
                (key.name.to_string(), object["value"].as_u64().unwrap(), version)
            })
            .collect()
    }

    #[test]
    fn writes_survive_reopening_with_and_without_compaction() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        put(&store, "a", 1);
        put(&store, "b", 2);
        assert!(matches!(Store::open(dir.path()), Err(OpenError::InUse { .. })), "one process at a time");
        drop(store);

        let store = Store::open(dir.path()).unwrap();
        store.compact().unwrap();
        put(&store, "a", 3);
        let mut transaction = store.begin(Mode::Write);
        transaction.delete(&Key::new("configmaps", "default", "b"));
        transaction.commit().unwrap();
        drop(store);

        let store = Store::open(dir.path()).unwrap();
        assert_eq!(contents(&store), [("a".to_owned(), 3, "3".to_owned())]);
        assert_eq!(store.revision(), Revision(4), "a deletion moves the clock, too");
    }

    #[test]
    fn a_log_that_the_snapshot_already_holds_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        put(&store, "a", 1);
        let log = fs::read(dir.path().join("log.jsonl")).unwrap();
        put(&store, "a", 2);
        store.compact().unwrap();
        drop(store);
        fs::write(dir.path().join("log.jsonl"), log).unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(contents(&store), [("a".to_owned(), 2, "2".to_owned())]);
    }

    #[test]
    fn the_log_is_folded_before_it_outgrows_the_objects() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for value in 0..=MIN_LINES as u64 {
            put(&store, "a", value);
        }
        assert_eq!(fs::metadata(dir.path().join("log.jsonl")).unwrap().len(), 0);
        drop(store);
        let last = MIN_LINES as u64;
        assert_eq!(contents(&Store::open(dir.path()).unwrap()), [("a".to_owned(), last, (last + 1).to_string())]);
    }

    #[test]
    fn a_dry_run_and_a_dropped_transaction_leave_no_trace() {
        let store = Store::in_memory();
        put(&store, "a", 1);
        let key = Key::new("configmaps", "default", "a");
        let mut dry = store.begin(Mode::DryRun);
        let seen = dry.put(&key, json!({"metadata": {"name": "a"}, "value": 9}));
        assert_eq!(seen["metadata"]["resourceVersion"], "1");
        assert_eq!(dry.get(&key).unwrap()["value"], 9, "it sees its own write");
        dry.commit().unwrap();
        let mut dropped = store.begin(Mode::Write);
        dropped.delete(&key);
        dropped.put(&Key::new("configmaps", "default", "b"), json!({"metadata": {}}));
        drop(dropped);
        assert_eq!(contents(&store), [("a".to_owned(), 1, "1".to_owned())]);
        assert_eq!(store.revision(), Revision(1));
    }

    #[test]
    fn a_feed_that_missed_what_is_forgotten_is_told() {
        let store = Arc::new(Store::in_memory());
        put(&store, "a", 1);
        let (mut late, mut current) = (store.subscribe(Revision(0)).unwrap(), store.subscribe(Revision(1)).unwrap());
        store.forget_history();
        assert!(late.poll().is_err());
        assert!(current.poll().unwrap().is_empty());
        assert!(store.subscribe(Revision(0)).is_err());
        put(&store, "a", 2);
        assert!(late.poll().is_err());
        assert_eq!(current.poll().unwrap().len(), 1);
        assert_eq!(store.read().changes_after(Revision(1)).count(), 1);
        assert_eq!(store.read().changes_after(Revision(7)).count(), 0);
    }

    #[test]
    fn a_feed_sees_each_change_once_and_is_told_when_it_is_late() {
        let store = Arc::new(Store::in_memory());
        put(&store, "a", 1);
        let mut feed = store.subscribe(Revision(0)).unwrap();
        put(&store, "a", 2);
        let revisions = |changes: Vec<Arc<super::super::Change>>| -> Vec<u64> {
            changes.iter().map(|change| change.revision.0).collect()
        };
        assert_eq!(revisions(feed.poll().unwrap()), [1, 2]);
        assert_eq!(revisions(feed.poll().unwrap()), [] as [u64; 0]);
        for value in 0..20_000 {
            put(&store, "a", value);
        }
        assert!(feed.poll().is_err());
        assert!(store.subscribe(Revision(2)).is_err());
        assert!(store.subscribe(store.revision()).is_ok());
    }
}
