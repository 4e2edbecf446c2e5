//! Random configurations one after another in one world, with drift, failures and crashes between them. After every step
//! the same things hold: the state knows exactly what exists; apply does what the plan says and nothing else; once
//! nothing fails any more, one apply finishes and a second has nothing to do; destroy leaves nothing.

use std::{collections::BTreeSet, sync::Arc};

use engine_model::change::{Action, ReplaceOrder};
use engine_value::Value;
use proptest::{collection::vec, option, prelude::*, sample::subsequence};
use providers_api::ErrorKind;
use state::{MemoryStore, Snapshot, Store};
use tests::{
    crashing::{Cut, Side},
    lab::{Draft, How, Lab},
    mock::{fault::How as Fails, world::World},
};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const NODES: [&str; 3] = ["n1", "n2", "n3"];

/// How often an object is there.
#[derive(Clone, Debug)]
enum Repeat {
    Once,
    Count(usize),
    Each(Vec<&'static str>),
}

/// Where a value comes from.
#[derive(Clone, Debug)]
enum Source {
    Literal(u8),
    /// The object so many places before this one, if there is one.
    Earlier(usize),
}

#[derive(Clone, Debug)]
struct Object {
    repeat: Repeat,
    value: Source,
    immutable: Source,
    create_before_destroy: bool,
    depends_on: Option<usize>,
}

#[derive(Clone, Debug)]
struct NodeChange {
    nodes: Vec<&'static str>,
    to: u8,
    after_objects: bool,
}

/// Each object and each node change may be missing.
#[derive(Clone, Debug)]
struct Config {
    objects: Vec<Option<Object>>,
    changes: Vec<Option<NodeChange>>,
}

/// What happens around an apply.
#[derive(Clone, Debug)]
enum Event {
    Nothing,
    /// This write fails.
    Failure(usize, bool),
    /// The run is cut off at this call.
    Crash(usize, bool),
    /// Somebody changes this object of the world by hand, or removes it.
    Drift(usize, bool),
}

fn repeat() -> impl Strategy<Value = Repeat> {
    prop_oneof![
        3 => Just(Repeat::Once),
        1 => (0..3usize).prop_map(Repeat::Count),
        1 => subsequence(vec!["x", "y", "z"], 0..=3).prop_map(Repeat::Each),
    ]
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![(0..3u8).prop_map(Source::Literal), (1..4usize).prop_map(Source::Earlier)]
}

fn object() -> impl Strategy<Value = Object> {
    (repeat(), source(), source(), any::<bool>(), option::weighted(0.2, 1..4usize)).prop_map(
        |(repeat, value, immutable, create_before_destroy, depends_on)| Object {
            repeat,
            value,
            immutable,
            create_before_destroy,
            depends_on,
        },
    )
}

fn node_change() -> impl Strategy<Value = NodeChange> {
    (subsequence(NODES.to_vec(), 1..=3), 0..2u8, any::<bool>()).prop_map(|(nodes, to, after_objects)| NodeChange {
        nodes,
        to,
        after_objects,
    })
}

fn config() -> impl Strategy<Value = Config> {
    (vec(option::weighted(0.8, object()), NAMES.len()), vec(option::weighted(0.6, node_change()), 2))
        .prop_map(|(objects, changes)| Config { objects, changes })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => Just(Event::Nothing),
        2 => (0..12usize, any::<bool>()).prop_map(|(n, half)| Event::Failure(n, half)),
        2 => (1..60usize, any::<bool>()).prop_map(|(n, after)| Event::Crash(n, after)),
        1 => (0..8usize, any::<bool>()).prop_map(|(n, gone)| Event::Drift(n, gone)),
    ]
}

impl Config {
    /// An expression for all identifiers of the object so many places before, if there is one.
    fn earlier(&self, i: usize, back: usize) -> Option<(String, String)> {
        let at = i.checked_sub(back)?;
        let object = self.objects[at].as_ref()?;
        let name = format!("mock_object.{}", NAMES[at]);
        let ids = match object.repeat {
            Repeat::Once => format!("{name}.id"),
            Repeat::Count(_) => format!("join(\"+\", {name}[*].id)"),
            Repeat::Each(_) => format!("join(\"+\", [for k, o in {name} : o.id])"),
        };
        Some((name, ids))
    }

    fn expression(&self, i: usize, source: &Source) -> String {
        match source {
            Source::Literal(n) => format!("\"v{n}\""),
            Source::Earlier(back) => self.earlier(i, *back).map_or_else(|| "\"none\"".to_owned(), |(_, ids)| ids),
        }
    }

    fn text(&self) -> String {
        let mut text = "provider \"mock\" {\n  max_unavailable = \"1\"\n}\n".to_owned();
        for (i, object) in self.objects.iter().enumerate() {
            let Some(object) = object else { continue };
            text.push_str(&format!("resource \"mock_object\" \"{}\" {{\n", NAMES[i]));
            match &object.repeat {
                Repeat::Once => {}
                Repeat::Count(n) => text.push_str(&format!("  count = {n}\n")),
                Repeat::Each(keys) => text.push_str(&format!("  for_each = toset({keys:?})\n")),
            }
            text.push_str(&format!("  value = {}\n", self.expression(i, &object.value)));
            text.push_str(&format!("  immutable = {}\n", self.expression(i, &object.immutable)));
            if let Some((name, _)) = object.depends_on.and_then(|back| self.earlier(i, back)) {
                text.push_str(&format!("  depends_on = [{name}]\n"));
            }
            text.push_str(&format!(
                "  lifecycle {{\n    create_before_destroy = {}\n  }}\n}}\n",
                object.create_before_destroy
            ));
        }
        for (i, change) in self.changes.iter().enumerate() {
            let Some(change) = change else { continue };
            let depends =
                if change.after_objects && self.objects[0].is_some() { "  depends_on = [mock_object.a]\n" } else { "" };
            text.push_str(&format!(
                "resource \"mock_node_change\" \"s{i}\" {{\n  setting = \"s{i}\"\n  to = \"v{}\"\n  nodes = {:?}\n{depends}}}\n",
                change.to, change.nodes
            ));
        }
        text
    }
}

/// What the state says exists is what exists. After a crash the state may not know what had just been made.
fn assert_known(world: &World, snapshot: Option<&Snapshot>, when: &str) {
    let mut stored: Vec<String> = Vec::new();
    for (addr, resource) in snapshot.iter().flat_map(|snapshot| snapshot.resources()) {
        if &*addr.ty == "mock_object" {
            stored.extend(resource.objects().map(|(_, object)| id_of(&object.attributes.to_string())));
        }
    }
    stored.sort();
    let there: Vec<String> = world.contents().objects.into_keys().collect();
    assert_eq!(stored, there, "{when}: the state and the world");
}

fn id_of(json: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    json["id"].as_str().unwrap().to_owned()
}

/// Apply did what the plan says, and nothing else.
fn assert_as_planned(draft: &Draft, writes: &[String], when: &str) {
    let mut planned = Vec::new();
    for change in draft.plan.changes.iter().filter(|change| &*change.addr.ty == "mock_object") {
        let verbs: &[&str] = match change.action {
            Action::Create => &["create"],
            Action::Update => &["update"],
            Action::Delete => &["delete"],
            Action::Replace(ReplaceOrder::DestroyThenCreate | ReplaceOrder::CreateThenDestroy) => &["create", "delete"],
            Action::NoOp | Action::Read | Action::Forget => &[],
        };
        planned.extend(verbs.iter().map(|verb| format!("{verb} {}", change.addr)));
    }
    planned.extend(draft.plan.holds.iter().map(|hold| format!("hold {}", hold.node)));
    planned.extend(draft.plan.holds.iter().map(|hold| format!("release {}", hold.node)));
    planned.extend(draft.plan.given_back.iter().map(|back| format!("release {}", back.node)));
    planned.extend(draft.plan.operations.iter().map(|o| format!("operate {} on {}", o.summary, o.node)));
    planned.sort();
    let mut writes = writes.to_vec();
    writes.sort();
    assert_eq!(writes, planned, "{when}: what was done and what was planned");
}

async fn step(world: &World, store: &Arc<dyn Store>, config: &str, event: &Event, when: &str) -> bool {
    let lab = Lab::with(world, store.clone(), None);
    let draft = lab.plan(config).await;
    if draft.plan.errored {
        // A node is held once, so some changes of dependencies cannot be made in one plan.
        let words = draft.words();
        assert!(words[0].starts_with("error: Cycle: ") && words[0].contains("hold of n"), "{when}: {words:?}");
        return false;
    }
    world.take_writes();
    match event {
        Event::Nothing => {}
        Event::Failure(n, half) => {
            world.fail_write(*n, if *half { Fails::Half } else { Fails::Refused(ErrorKind::Permanent) });
            let run = lab.apply(config).await;
            assert!(run.result.is_ok(), "{when}: {:?}", run.words());
            assert_known(world, lab.snapshot().await.as_ref(), when);
        }
        Event::Crash(n, after) => {
            let cut = Cut::at(*n, if *after { Side::After } else { Side::Before });
            let crashing = Lab::with(world, store.clone(), Some(&cut));
            if cut.run(crashing.apply(config)).await.is_none() {
                // The lock of a process that has died is free.
                unlock(store).await;
            }
        }
        Event::Drift(n, gone) => world.edit(|contents| {
            let Some(id) = contents.objects.keys().nth(*n).cloned() else { return };
            match contents.objects.get_mut(&id) {
                Some(object) if !gone => drop(object.arguments.insert("value".into(), Value::from("by hand"))),
                _ => drop(contents.objects.remove(&id)),
            }
        }),
    }
    world.heal();
    world.take_writes();
    let fresh = Lab { host: lab.host.clone(), ..lab };
    let run = fresh.apply(config).await;
    run.assert_done(when);
    assert_as_planned(&run.draft, &world.take_writes(), when);
    assert_known(world, fresh.snapshot().await.as_ref(), when);
    fresh.assert_settled(config, when).await;
    assert!(store.load().await.unwrap().open_intents().is_empty(), "{when}");
    let held = world.contents().nodes.values().filter(|node| node.held_by.is_some()).count();
    assert_eq!(held, 0, "{when}: nodes that are still held");
    assert!(world.most_held() <= 1, "{when}: the budget");
    true
}

/// A store in memory outlives the run that held its lock.
async fn unlock(store: &Arc<dyn Store>) {
    for fence in 1..1_000 {
        if store.unlock(state::Fence(fence)).await.is_ok() {
            return;
        }
    }
}

async fn simulate(steps: &[(Config, Event)]) {
    let world = World::with_nodes(&NODES);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let mut last = String::new();
    for (i, (config, event)) in steps.iter().enumerate() {
        let text = config.text();
        if step(&world, &store, &text, event, &format!("step {i}, {event:?}, {text}")).await {
            last = text;
        }
    }
    let lab = Lab::with(&world, store.clone(), None);
    lab.destroy(&last).await.assert_done("destroy");
    let contents = world.contents();
    assert!(contents.objects.is_empty(), "destroy leaves nothing: {:?}", contents.objects.keys());
    let set: BTreeSet<_> = contents.nodes.values().flat_map(|node| node.settings.keys()).collect();
    // What a resource no longer names stays as it is: dangerous by neglect is impossible.
    assert!(set.len() <= 2);
    assert!(lab.snapshot().await.unwrap().resources().is_empty());
    let plan = lab.plan_how(&last, How::destroy()).await;
    assert!(!plan.plan.changes_anything(), "{:?}", plan.changes());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_next_apply_finishes(steps in vec((config(), event()), 2..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(simulate(&steps));
    }
}
