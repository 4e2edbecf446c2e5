//! Folding the journal gives what was done; ancestors stay true when instances go.

use engine_model::address::ResourceAddr;
use engine_value::{Type, json::read};
use proptest::prelude::*;
use state::{
    Dependencies, Effect, Fence, FoldError, Found, Loaded, Object, Output, Record, Recovered, Slot, Snapshot, Status,
    fold, open_intents, v4,
};

use crate::fixture::{
    addr, begin, created, deposed, empty, failed, held, intent, needing, object, plan, provider, with_serial,
};

fn open(records: &[Record]) -> Vec<String> {
    open_intents(records).iter().map(|open| format!("{} {:?}", open.run.plan, open.intent.step)).collect()
}

#[test]
fn intents_are_open_until_they_are_seen_to_end() {
    let base = empty().base();
    let p = begin(base.clone(), "p", Fence(1));
    let q = begin(base, "q", Fence(2));
    let recovered = |plan_name: &str, name: &str| {
        let step = engine_model::execution::Step::Create(addr(name));
        Record::Recovered(Recovered { plan: plan(plan_name), step, found: Found::Done, effects: Vec::new() })
    };
    let named = |plan: &str, name: &str| format!("{plan} {:?}", engine_model::execution::Step::Create(addr(name)));
    for (records, expected) in [
        (vec![], vec![]),
        (vec![p.clone(), intent("a.b"), intent("a.c")], vec![named("p", "a.b"), named("p", "a.c")]),
        (vec![p.clone(), intent("a.b"), failed("a.b")], vec![]),
        // The same step of a later run is another one.
        (vec![p.clone(), intent("a.b"), q.clone(), intent("a.b"), failed("a.b")], vec![named("p", "a.b")]),
        (vec![p.clone(), intent("a.b"), q.clone(), recovered("p", "a.b")], vec![]),
        (vec![p.clone(), intent("a.b"), q, recovered("q", "a.b")], vec![named("p", "a.b")]),
    ] {
        assert_eq!(open(&records), expected);
    }
}

#[test]
fn records_that_do_not_follow_are_refused() {
    let stored = with_serial(empty(), 4);
    let run = |serial| begin(state::Base { serial, ..stored.base() }, "p", Fence(1));
    let of_other = begin(state::Base { lineage: state::Lineage("x".into()), serial: 4 }, "p", Fence(1));
    let result = created("a.b", None, &object("{}"));
    let misfit = created("a.b", Some(&object("{\"x\":{\"y\":1}}")), &object("{\"x\":{\"y\":2}}"));
    for (records, expected) in [
        (vec![run(4), result.clone()], "serial 4, 1 resources"),
        (vec![run(3), result.clone()], "serial 4, 0 resources"),
        (vec![run(3), result.clone(), run(4), result.clone()], "serial 4, 1 resources"),
        (vec![run(5)], "it builds on serial 5 of the state, and this is serial 4"),
        (
            vec![of_other],
            "it belongs to the state with lineage x, and this one has f0c5b1f4-6a1e-4a9b-8f6a-3d1f0a2b4c5d",
        ),
        (vec![result], "its first record begins no run"),
        (vec![run(4), misfit], "record 2 does not fit the state"),
    ] {
        let found = match fold(Some(stored.clone()), &records) {
            Ok(folded) => {
                let folded = folded.unwrap();
                format!("serial {}, {} resources", folded.serial, folded.resources().len())
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }
    assert_eq!(fold(None, &[]), Ok(None));
    assert_eq!(fold(None, &[held_record()]), Err(FoldError::NoBegin));
}

fn held_record() -> Record {
    Record::Effects(vec![held("gpu-01")])
}

fn needs(snapshot: &Snapshot, name: &str) -> Vec<String> {
    snapshot.current(&addr(name)).expect("an object").ancestors().iter().map(ToString::to_string).collect()
}

#[test]
fn the_ancestors_of_what_is_gone_take_its_place() {
    let mut snapshot = empty();
    for (name, ancestors) in [
        ("t.root", &[][..]),
        ("t.x[0]", &["t.root"]),
        ("t.x[1]", &["t.root"]),
        ("t.one", &["t.x[0]"]),
        ("t.all", &["t.x[*]"]),
        ("t.leaf", &["t.one", "t.all"]),
    ] {
        snapshot.put(&addr(name), Slot::Current, provider(), needing("{}", ancestors));
    }
    snapshot.remove(&addr("t.x[0]"), &Slot::Current).unwrap();
    assert_eq!(needs(&snapshot, "t.one"), ["t.root"]);
    assert_eq!(needs(&snapshot, "t.all"), ["t.root", "t.x[*]"]);
    snapshot.remove(&addr("t.x[1]"), &Slot::Current).unwrap();
    assert_eq!(needs(&snapshot, "t.all"), ["t.root"]);
    let dependants: Vec<_> = snapshot.dependants(&addr("t.root")).map(ToString::to_string).collect();
    assert_eq!(dependants, ["t.all", "t.one"]);

    assert!(snapshot.rename(&addr("t.one"), &addr("module.m.t.one")));
    assert_eq!(needs(&snapshot, "t.leaf"), ["t.all", "module.m.t.one"]);
    assert!(!snapshot.rename(&addr("t.leaf"), &addr("t.all")), "the place is taken");
}

#[test]
fn an_object_is_deposed_and_comes_back() {
    let mut snapshot = empty();
    let (a, key) = (addr("t.a"), deposed("0badf00d"));
    assert!(!snapshot.depose(&a, key.clone()), "there is none");
    snapshot.put(&a, Slot::Current, provider(), object("{\"v\":1}"));
    assert!(snapshot.depose(&a, key.clone()));
    assert_eq!(snapshot.current(&a), None);
    snapshot.put(&a, Slot::Current, provider(), object("{\"v\":2}"));
    assert!(!snapshot.restore(&a, &key), "the place is taken");
    snapshot.remove(&a, &Slot::Current).unwrap();
    assert!(snapshot.restore(&a, &key));
    assert_eq!(snapshot.current(&a), Some(&object("{\"v\":1}")));
    snapshot.remove(&a, &Slot::Current).unwrap();
    assert!(snapshot.resources().is_empty());
}

/// One thing that a run may do, in terms of what is there.
#[derive(Clone, Debug)]
enum Act {
    Put(usize, String, Vec<usize>, bool),
    Remove(usize),
    Depose(usize),
    Restore(usize),
    Rename(usize, usize),
    Output(usize, Option<u64>),
    Held(usize, bool),
}

fn name(index: usize) -> ResourceAddr {
    let module = if index.is_multiple_of(3) { "module.m[\"x\"]." } else { "" };
    let key = if index.is_multiple_of(2) { format!("[{}]", index / 2) } else { String::new() };
    addr(&format!("{module}t.r{}{key}", index % 4))
}

fn act() -> impl Strategy<Value = Act> {
    let i = 0..8_usize;
    let json = prop_oneof![
        Just("{}".to_owned()),
        any::<u64>().prop_map(|n| format!("{{\"a\":{{\"b\":[{n},1]}},\"c\":\"{n}\"}}")),
        "[a-z<&\u{2028}\"\\\\]{0,4}".prop_map(|text| format!("{{\"c\":{}}}", engine_value::json::Json::from(&*text))),
        Just("{\"a\":{\"value\":123456789012345678901234567890,\"type\":\"number\"}}".to_owned()),
        Just("{\"a\":{\"value\":null,\"type\":\"string\"}}".to_owned()),
    ];
    prop_oneof![
        4 => (i.clone(), json, prop::collection::vec(i.clone(), 0..3), any::<bool>())
            .prop_map(|(i, json, ancestors, tainted)| Act::Put(i, json, ancestors, tainted)),
        1 => i.clone().prop_map(Act::Remove),
        1 => i.clone().prop_map(Act::Depose),
        1 => i.clone().prop_map(Act::Restore),
        1 => (i.clone(), i.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (i.clone(), any::<Option<u64>>()).prop_map(|(i, n)| Act::Output(i, n)),
        1 => (i, any::<bool>()).prop_map(|(i, held)| Act::Held(i, held)),
    ]
}

/// Does it, and says as an effect what was done.
fn perform(snapshot: &mut Snapshot, act: &Act) -> Option<Effect> {
    let key = deposed("0badf00d");
    match act {
        Act::Put(i, json, ancestors, tainted) => {
            let mut ancestors: Vec<_> = ancestors
                .iter()
                .map(|a| match a % 2 {
                    0 => state::Ancestor::Block(name(*a).with_key(None)),
                    _ => state::Ancestor::Instance(name(*a)),
                })
                .collect();
            ancestors.sort();
            ancestors.dedup();
            let after = Object {
                dependencies: Dependencies::Nearest(ancestors),
                status: if *tainted { Status::Tainted } else { Status::Ready },
                private: json.clone().into_bytes(),
                sensitive: vec![engine_value::Path::root().attr("a").key("b").index(*i)],
                create_before_destroy: *tainted,
                ..Object::new(*i as u64, read(json).expect("JSON"))
            };
            let effect = Effect::object(name(*i), Slot::Current, provider(), snapshot.current(&name(*i)), &after);
            snapshot.put(&name(*i), Slot::Current, provider(), after);
            Some(effect)
        }
        Act::Remove(i) => {
            snapshot.remove(&name(*i), &Slot::Current)?;
            Some(Effect::Remove { addr: name(*i), slot: Slot::Current })
        }
        Act::Depose(i) => snapshot.depose(&name(*i), key.clone()).then(|| Effect::Depose { addr: name(*i), key }),
        Act::Restore(i) => snapshot.restore(&name(*i), &key).then(|| Effect::Restore { addr: name(*i), key }),
        Act::Rename(from, to) => {
            let (from, to) = (name(*from), name(*to));
            snapshot.rename(&from, &to).then_some(Effect::Rename { from, to })
        }
        Act::Output(i, Some(n)) => {
            let json = read(&n.to_string()).expect("JSON");
            let output = Output { value: json, ty: Type::Number, sensitive: n % 2 == 0 };
            snapshot.outputs.insert(format!("o{i}").into(), output.clone());
            Some(Effect::output(format!("o{i}").into(), Some(output)))
        }
        Act::Output(i, None) => {
            snapshot.outputs.remove(&*format!("o{i}"));
            Some(Effect::output(format!("o{i}").into(), None))
        }
        Act::Held(i, is_held) => {
            let node = engine_model::name::NodeName::from(format!("gpu-{i}"));
            let effect = if *is_held { held(node.as_str()) } else { Effect::Released(provider(), node.clone()) };
            match &effect {
                Effect::Held(provider, held) => {
                    snapshot.held.insert((provider.clone(), node), held.clone());
                }
                _ => drop(snapshot.held.remove(&(provider(), node))),
            }
            Some(effect)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folding_gives_what_was_done(acts in prop::collection::vec(act(), 0..40)) {
        let mut done = empty();
        let first = begin(done.base(), "p", Fence(1));
        done.apply_record(&first).unwrap();
        let mut records = vec![first];
        for act in &acts {
            records.extend(perform(&mut done, act).map(|effect| Record::Effects(vec![effect])));
        }
        let text = serde_json::to_string(&records).unwrap();
        let records: Vec<Record> = serde_json::from_str(&text).unwrap();
        let loaded = Loaded { records, ..Loaded::default() };
        let folded = loaded.fold().unwrap().unwrap();
        prop_assert_eq!(&folded, &done);
        prop_assert_eq!(v4::read(v4::write(&folded).as_bytes()).unwrap(), done);
    }
}
