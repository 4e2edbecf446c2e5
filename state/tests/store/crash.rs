//! The machine stops at every file operation of two runs, and loses what was not durable in every way that there is.
//! Whatever was confirmed is there afterwards, nothing else is but what was just being written, and work goes on.

use std::path::PathBuf;

use state::{Fence, FileStore, Loaded, Record, Snapshot, Store, WriteError, crashing::CrashingFiles, fold};

use crate::fixture::{begin, created, empty, failed, info, intent, object, recovered, with_serial};

/// What may be found after a crash, in the order in which it came about: the state with its open intents.
#[derive(Default)]
struct History {
    moments: Vec<Moment>,
    /// The earliest that may be found: it was confirmed.
    confirmed: usize,
}

impl History {
    fn moment(&mut self, snapshot: Option<&Snapshot>, records: &[Record]) {
        self.moments.push(moment(&Loaded {
            snapshot: snapshot.cloned(),
            records: records.to_vec(),
            notes: Vec::new(),
        }));
    }
}

/// The state without its serial, the steps that are open, the number of records, the serial that is stored.
type Moment = (Option<Snapshot>, Vec<String>, usize, Option<u64>);

fn moment(loaded: &Loaded) -> Moment {
    let folded = fold(loaded.snapshot.clone(), &loaded.records).expect("records that follow from the snapshot");
    let folded = folded.map(|snapshot| with_serial(snapshot, 0));
    let open = loaded.open_intents();
    let open = open.iter().map(|open| format!("{} {:?}", open.run.plan, open.intent.step)).collect();
    let serial = loaded.snapshot.as_ref().map(|snapshot| snapshot.serial);
    (folded, open, loaded.records.len(), serial)
}

fn store(files: &CrashingFiles) -> FileStore<CrashingFiles> {
    FileStore::with(files.clone(), PathBuf::from("dir/sliceform.tfstate"))
}

/// One run: begins, finds out what became of what an earlier one left open, creates two objects, fails at a third,
/// leaves a fourth open if it is the first run, commits.
async fn run(files: &CrashingFiles, name: &str, history: &mut History) -> Result<(), WriteError> {
    let store = store(files);
    let Ok(fence) = store.lock(&info("apply")).await else { return Ok(()) };
    let Ok(loaded) = store.load().await else { return Ok(()) };
    let mut snapshot = loaded.fold().unwrap().unwrap_or_else(empty);
    let stored = loaded.snapshot.clone();
    let mut records = loaded.records.clone();
    let [a, b] = ["a", "b"].map(|object| format!("t.{object}_{name}"));
    let found = loaded.open_intents().into_iter().map(|open| recovered(open.run, open.intent)).collect();
    let is_first = loaded.snapshot.is_none() && loaded.records.is_empty();
    let groups = [
        vec![begin(snapshot.base(), name, fence)],
        found,
        vec![intent(&a), intent(&b)],
        vec![created(&a, None, &object("{\"v\":1}")), intent("t.c")],
        vec![failed("t.c"), created(&b, None, &object("{\"v\":[2]}"))],
        if is_first { vec![intent("t.d")] } else { Vec::new() },
    ];
    for group in groups {
        for record in &group {
            records.push(record.clone());
            snapshot.apply_record(record).unwrap();
            history.moment(stored.as_ref(), &records);
        }
        store.append(&group, fence).await?;
        history.confirmed = history.moments.len() - 1;
    }
    // A commit leaves the run and its open intent, or nothing.
    let left = if is_first { vec![records[0].clone(), records[records.len() - 1].clone()] } else { Vec::new() };
    let after = with_serial(snapshot.clone(), snapshot.serial + 1);
    history.moment(Some(&after), &left);
    store.commit(&snapshot, fence).await?;
    history.confirmed = history.moments.len() - 1;
    store.unlock(fence).await
}

async fn two_runs(files: &CrashingFiles) -> History {
    let mut history = History { moments: vec![(None, Vec::new(), 0, None)], confirmed: 0 };
    for name in ["p", "q"] {
        if run(files, name, &mut history).await.is_err() {
            break;
        }
    }
    history
}

#[tokio::test]
async fn whatever_was_confirmed_is_there_after_a_crash() {
    let files = CrashingFiles::default();
    two_runs(&files).await;
    let operations = files.operations();
    assert!(operations > 40, "{operations}");
    for at in 1..=operations + 1 {
        let files = CrashingFiles::default();
        files.crash_at(Some(at));
        let history = two_runs(&files).await;
        for loss in files.losses() {
            let disk = files.restarted(&loss);
            check(&disk, &history, &format!("operation {at}, {loss:?}")).await;
        }
    }
}

async fn check(disk: &CrashingFiles, history: &History, what: &str) {
    let loaded = store(disk).load().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let found = moment(&loaded);
    let allowed = &history.moments[history.confirmed..];
    assert!(allowed.contains(&found), "{what}: found {found:#?}, allowed {allowed:#?}");

    let mut after = History { moments: vec![found.clone()], confirmed: 0 };
    run(disk, "next", &mut after).await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
    let again = store(disk);
    let loaded = again.load().await.expect("a state");
    assert_eq!(Some(&moment(&loaded)), after.moments.last(), "{what}");
    let (snapshot, fence) = (loaded.snapshot.expect("a snapshot"), again.lock(&info("apply")).await.expect("a lock"));
    assert!(fence > Fence(1), "{what}");
    assert_eq!(again.commit(&snapshot, fence).await.expect("a commit"), snapshot.serial, "{what}: a second commit");
    again.unlock(fence).await.expect("a lock");
    let left: Vec<_> = disk.list().into_iter().filter(|path| path.ends_with(".sliceform.tfstate.lock.info")).collect();
    assert!(left.is_empty(), "{what}");
}
