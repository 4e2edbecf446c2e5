//! Random small configurations over random states: a plan is made whatever they are, twice the same, and its graph can be
//! walked.

use std::fmt::Write;

use engine_model::{
    change::Action,
    execution::Step,
    plan::{Plan, PlanMode},
};
use proptest::prelude::*;

use super::Bench;

#[derive(Clone, Debug)]
struct Block {
    /// 0: once; 1: by count; 2: by for_each.
    repeat: u8,
    size: u8,
    /// Which block the name comes from, and how wide that reference is.
    reference: Option<(usize, u8)>,
    depends_on: Option<usize>,
    create_before_destroy: bool,
    zone: u8,
    /// Which instances the state has, by bit, and in which zone.
    stored: u8,
    stored_zone: u8,
    tainted: bool,
}

fn block(n: usize) -> impl Strategy<Value = Block> {
    let reference = prop::option::of((0..n, 0..3u8));
    (
        (0..3u8, 0..3u8, reference, prop::option::weighted(0.2, 0..n)),
        (any::<bool>(), 0..2u8, 0..8u8, 0..2u8, prop::bool::weighted(0.1)),
    )
        .prop_map(|(shape, rest)| Block {
            repeat: shape.0,
            size: shape.1,
            reference: shape.2,
            depends_on: shape.3,
            create_before_destroy: rest.0,
            zone: rest.1,
            stored: rest.2,
            stored_zone: rest.3,
            tainted: rest.4,
        })
}

fn text(blocks: &[Block]) -> String {
    let mut text = String::new();
    for (i, block) in blocks.iter().enumerate() {
        let keys: Vec<String> = (0..block.size).map(|k| format!("\"{k}\"")).collect();
        let repeat = match block.repeat {
            0 => String::new(),
            1 => format!("count = {}", block.size),
            _ => format!("for_each = toset([{}])", keys.join(", ")),
        };
        let name = match block.reference {
            None => "\"x\"".to_owned(),
            Some((other, width)) => {
                let one = match (blocks[other].repeat, width) {
                    (0, _) => format!("mock_object.o{other}.id"),
                    (1, 0) => format!("mock_object.o{other}[0].id"),
                    (2, 0) => format!("mock_object.o{other}[\"0\"].id"),
                    _ => format!("jsonencode(mock_object.o{other})"),
                };
                format!("\"${{{one}}}\"")
            }
        };
        let depends_on = block.depends_on.map_or(String::new(), |other| format!("depends_on = [mock_object.o{other}]"));
        writeln!(
            text,
            "resource \"mock_object\" \"o{i}\" {{\n{repeat}\nname = {name}\nzone = \"{}\"\n{depends_on}\nlifecycle {{ \
             create_before_destroy = {} }}\n}}",
            block.zone, block.create_before_destroy
        )
        .unwrap();
    }
    text.push_str("output \"all\" {\nvalue = [");
    (0..blocks.len()).for_each(|i| write!(text, "mock_object.o{i}, ").unwrap());
    text.push_str("]\nsensitive = true\n}\n");
    text
}

fn bench(blocks: &[Block]) -> Bench {
    let mut bench = Bench::new(&text(blocks));
    for (i, block) in blocks.iter().enumerate() {
        for k in (0..3).filter(|k| block.stored & (1 << k) != 0) {
            let key = match (block.repeat, k) {
                (0, 0) => String::new(),
                (0 | 1, k) => format!("[{k}]"),
                (_, k) => format!("[\"{k}\"]"),
            };
            let zone = block.stored_zone.to_string();
            let needs = block
                .reference
                .filter(|(other, _)| *other < i)
                .map(|(other, _)| state::Ancestor::Block(format!("mock_object.o{other}").parse().unwrap()));
            let edit = |object: &mut state::Object| {
                object.dependencies = state::Dependencies::Nearest(needs.into_iter().collect());
                object.create_before_destroy = block.create_before_destroy;
                if block.tainted {
                    object.status = state::Status::Tainted;
                }
            };
            bench.store(&format!("mock_object.o{i}{key}"), state::Slot::Current, &[("zone", &zone)], edit);
        }
    }
    bench
}

/// Every change has its steps, and no step comes before what it waits for.
fn check(plan: &Plan) {
    assert!(plan.graph.edges.iter().all(|(before, after)| before < after));
    let has = |wanted: &dyn Fn(&Step) -> bool| plan.graph.steps.iter().any(wanted);
    for change in &plan.changes {
        let addr = &change.addr;
        let created = has(&|step| matches!(step, Step::Create(other) if other == addr));
        let updated = has(&|step| matches!(step, Step::Update(other) if other == addr));
        let deleted = has(&|step| matches!(step, Step::Delete(other, _) if other == addr));
        let expected = match change.action {
            Action::Create => (true, false, false),
            Action::Update => (false, true, false),
            Action::Replace(_) => (true, false, true),
            Action::Delete => (false, false, true),
            Action::NoOp | Action::Read | Action::Forget => (false, false, false),
        };
        assert_eq!((created, updated, deleted), expected, "{addr} {:?}", change.action);
        assert_eq!(change.reason.is_some(), change.action != Action::NoOp, "{addr}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_over_any_state_is_planned(
        blocks in (1..6usize).prop_flat_map(|n| prop::collection::vec(block(n), n)),
        destroy in any::<bool>(),
    ) {
        let mut bench = bench(&blocks);
        if destroy {
            bench.mode = PlanMode::Destroy;
        }
        let first = bench.plan();
        bench.parallelism = 1;
        let second = bench.plan();
        prop_assert_eq!(&first.plan, &second.plan);
        prop_assert_eq!(&first.diagnostics, &second.diagnostics);
        let impossible = first.diagnostics.iter().any(|told| told.detail.starts_with("These would each have to wait"));
        prop_assert!(!impossible, "{:?}\n{}", first.diagnostics, text(&blocks));
        if !first.plan.errored {
            check(&first.plan);
        }
    }
}
