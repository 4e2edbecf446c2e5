//! A run is cut off at every call of a provider, before and after it, and at every file operation, with every loss that
//! a machine may suffer. Whatever happens: the next run knows, finishes, finds nothing more to do, and destroys it all.

use std::{path::PathBuf, sync::Arc};

use engine_model::{execution::Step, name::NodeName};
use state::{
    FileStore, Loaded, Store,
    crashing::{Content, CrashingFiles, Loss},
};
use tests::{
    crashing::{Cut, Side, StoppingFiles},
    lab::{How, Lab, Run},
    mock::{call::Call, world::World},
};

/// What is there before the run: objects, one of which is replaced new first, one destroyed, one replaced old first.
const BEFORE: &str = "provider \"mock\" {\n  max_unavailable = \"1\"\n}\n\
    resource \"mock_object\" \"goes\" {}\n\
    resource \"mock_object\" \"first\" {\n  immutable = \"1\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n\
    resource \"mock_object\" \"last\" {\n  immutable = mock_object.goes.id\n}\n\
    resource \"mock_node_change\" \"setting\" {\n  setting = \"s\"\n  to = \"old\"\n  nodes = [\"n1\"]\n}\n";

/// The run: creates, changes, both replacements, a deletion, operations on two nodes in two waves, a deferred read.
const AFTER: &str = "provider \"mock\" {\n  max_unavailable = \"1\"\n}\n\
    resource \"mock_object\" \"first\" {\n  immutable = \"2\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n\
    resource \"mock_object\" \"last\" {\n  immutable = \"free\"\n}\n\
    resource \"mock_object\" \"new\" {\n  value = mock_object.first.id\n}\n\
    resource \"mock_node_change\" \"setting\" {\n  setting = \"s\"\n  to = \"new\"\n  nodes = [\"n1\", \"n2\"]\n}\n\
    resource \"mock_node_change\" \"other\" {\n  setting = \"o\"\n  to = \"x\"\n  nodes = [\"n2\"]\n  depends_on = [mock_object.new]\n}\n\
    resource \"mock_object\" \"behind\" {\n  map = mock_node_change.setting.applied\n}\n\
    output \"id\" {\n  value = mock_object.new.id\n}\n";

fn store(files: CrashingFiles, cut: &Cut) -> Arc<dyn Store> {
    let files = StoppingFiles { files, cut: cut.clone() };
    Arc::new(FileStore::with(files, PathBuf::from("dir/sliceform.tfstate")))
}

/// A world and a disk as they are before the run.
async fn before() -> (World, CrashingFiles) {
    let (world, files) = (World::with_nodes(&["n1", "n2"]), CrashingFiles::default());
    Lab::with(&world, store(files.clone(), &Cut::never()), None).apply(BEFORE).await.assert_done("before");
    (world.copy(), files.restarted(&Loss { content: Content::Kept, names: Vec::new() }))
}

/// Runs until the end or the cut. Was it cut off?
async fn run(world: &World, files: &CrashingFiles, cut: &Cut) -> bool {
    let lab = Lab::with(world, store(files.clone(), cut), Some(cut));
    let ended = cut.run(lab.try_apply(AFTER, How::default())).await;
    !matches!(ended, Some(Ok(Run { result: Ok(_), .. })))
}

/// What follows a crash: the next run finishes, and everything can be destroyed.
async fn converges(world: &World, files: &CrashingFiles, when: &str) {
    let lab = Lab::with(world, store(files.clone(), &Cut::never()), None);
    lab.apply(AFTER).await.assert_done(when);
    lab.assert_settled(AFTER, when).await;
    let contents = world.contents();
    let mut objects: Vec<&str> = contents.objects.values().map(|object| &*object.address).collect();
    objects.sort_unstable();
    assert_eq!(
        objects,
        ["mock_object.behind", "mock_object.first", "mock_object.last", "mock_object.new"],
        "{when}: nothing is left behind, and nothing is there twice"
    );
    for (name, node) in &contents.nodes {
        assert_eq!(node.held_by, None, "{when}: {name} is still held");
        assert_eq!(node.settings.get("s").map(String::as_str), Some("new"), "{when}: {name}");
    }
    let loaded = lab.store.load().await.unwrap();
    assert!(loaded.open_intents().is_empty(), "{when}: {:?}", loaded.open_intents());
    assert!(loaded.snapshot.unwrap().held.is_empty(), "{when}");
    assert_eq!(world.most_held().min(2), world.most_held(), "{when}");

    lab.destroy(AFTER).await.assert_done(when);
    let contents = world.contents();
    assert!(contents.objects.is_empty(), "{when}: {:?}", contents.objects);
    assert!(contents.nodes.values().all(|node| node.settings.is_empty() && node.held_by.is_none()), "{when}");
    let snapshot = lab.snapshot().await.unwrap();
    assert!(snapshot.resources().is_empty() && snapshot.outputs.is_empty() && snapshot.held.is_empty(), "{when}");
}

/// Every write that the world has seen is known: its result is recorded, or its intent is open.
fn knows(loaded: &Loaded, writes: &[Call], when: &str) {
    let recorded = |call: &Call| {
        loaded.records.iter().any(|record| match record {
            state::Record::Intent(intent) => is_step(&intent.step, &intent.work, call),
            _ => false,
        })
    };
    for call in writes {
        assert!(recorded(call), "{when}: {call} was made, and the journal does not know");
    }
}

fn is_step(step: &Step, work: &state::Work, call: &Call) -> bool {
    let node = |node: &NodeName| call.about == node.as_str();
    match (step, work) {
        (Step::Operation(_), state::Work::Operation(operation)) => {
            call.about == format!("{} on {}", operation.summary, operation.node)
        }
        (Step::Hold(_, name), _) | (Step::Release(_, name), _) => node(name),
        (Step::Create(addr) | Step::Update(addr) | Step::Delete(addr, _), _) => call.about == addr.to_string(),
        _ => false,
    }
}

#[tokio::test]
async fn a_run_that_is_cut_off_at_any_call_is_finished_by_the_next() {
    let (world, files) = before().await;
    let cut = Cut::never();
    assert!(!run(&world.copy(), &disk(&files), &cut).await);
    let calls = cut.calls();
    assert!(calls > 30, "{calls}");
    for at in 1..=calls {
        for side in [Side::Before, Side::After] {
            let when = format!("call {at} {side:?}");
            let (world, files) = (world.copy(), disk(&files));
            let cut = Cut::at(at, side);
            assert!(run(&world, &files, &cut).await, "{when}: it was not cut off");
            let writes: Vec<Call> = world.calls().into_iter().filter(|call| call.verb.is_write()).collect();
            // Only the process died: the disk is as it was written.
            let files = disk(&files);
            let loaded = store(files.clone(), &Cut::never()).load().await.unwrap();
            if !writes.is_empty() && loaded.snapshot.as_ref().is_some_and(|snapshot| snapshot.serial == 1) {
                knows(&loaded, &writes, &when);
            }
            converges(&world, &files, &when).await;
        }
    }
}

fn disk(files: &CrashingFiles) -> CrashingFiles {
    files.restarted(&Loss { content: Content::Kept, names: Vec::new() })
}

#[tokio::test]
async fn a_machine_that_stops_at_any_file_operation_loses_nothing() {
    let (world, files) = before().await;
    let whole = disk(&files);
    whole.crash_at(None);
    assert!(!run(&world.copy(), &whole, &Cut::never()).await);
    let operations = whole.operations();
    assert!(operations > 30, "{operations}");
    for at in 1..=operations {
        let (world, files) = (world.copy(), disk(&files));
        files.crash_at(Some(at));
        let cut = Cut::never();
        run(&world, &files, &cut).await;
        for loss in files.losses() {
            let when = format!("operation {at}, {loss:?}");
            converges(&world.copy(), &files.restarted(&loss), &when).await;
        }
    }
}

/// The run after a crash is cut off as well, and the one after that finishes.
#[tokio::test]
async fn a_run_that_goes_on_after_a_crash_may_be_cut_off_too() {
    let (world, files) = before().await;
    let cut = Cut::never();
    run(&world.copy(), &disk(&files), &cut).await;
    let calls = cut.calls();
    for first in (1..=calls).step_by(3) {
        let (world, files) = (world.copy(), disk(&files));
        assert!(run(&world, &files, &Cut::at(first, Side::After)).await);
        let files = disk(&files);
        let rest = Cut::never();
        run(&world.copy(), &disk(&files), &rest).await;
        for second in (1..=rest.calls()).step_by(5) {
            let (world, files) = (world.copy(), disk(&files));
            run(&world, &files, &Cut::at(second, Side::After)).await;
            converges(&world, &disk(&files), &format!("calls {first} and {second}")).await;
        }
    }
}
