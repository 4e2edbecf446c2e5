//! Each case is a few changes, dependencies and operations in short notation, and what must come before what.

use std::collections::BTreeSet;

use engine_model::{
    change::{Action, ReplaceOrder},
    operation::{OperationKind, Precondition, Undo},
    policy::MaxUnavailable,
};
use engine_value::{Data, Marks, Type, Value};

use super::*;

fn null() -> Value {
    Value { data: Data::Null(Type::Dynamic), marks: Marks::NONE }
}

fn provider() -> ProviderConfigAddr {
    "provider[\"registry.terraform.io/test/mock\"]".parse().unwrap()
}

fn addr(text: &str) -> ResourceAddr {
    format!("mock.{text}").parse().unwrap()
}

/// `a:create b:update c:delete d:replace e:cbd f:noop g:read`
fn changes(text: &str) -> Vec<ResourceChange> {
    text.split_whitespace()
        .map(|item| {
            let (name, action) = item.split_once(':').unwrap();
            let action = match action {
                "create" => Action::Create,
                "update" => Action::Update,
                "delete" => Action::Delete,
                "replace" => Action::Replace(ReplaceOrder::DestroyThenCreate),
                "cbd" => Action::Replace(ReplaceOrder::CreateThenDestroy),
                "noop" => Action::NoOp,
                "read" => Action::Read,
                other => panic!("{other}"),
            };
            ResourceChange {
                addr: addr(name),
                previous: None,
                deposed: None,
                provider: provider(),
                action,
                reason: None,
                before: null(),
                after: null(),
                config: null(),
                private: Vec::new(),
                replace_paths: Vec::new(),
                schema_version: 0,
                unverified: None,
                create_before_destroy: false,
                dependencies: Vec::new(),
            }
        })
        .collect()
}

/// `b>a c>b`: b depends on a. A name in brackets is a group.
fn configured(text: &str) -> BTreeMap<Subject, BTreeSet<Subject>> {
    let subject = |name: &str| match name.strip_prefix('[') {
        Some(group) => Subject::Group(group.trim_end_matches(']').into()),
        None => Subject::Instance(addr(name)),
    };
    let mut all: BTreeMap<Subject, BTreeSet<Subject>> = BTreeMap::new();
    for item in text.split_whitespace() {
        let (upper, lower) = item.split_once('>').unwrap();
        all.entry(subject(upper)).or_default().insert(subject(lower));
    }
    all
}

fn stored(text: &str) -> BTreeMap<ResourceAddr, Vec<ResourceAddr>> {
    let mut all: BTreeMap<ResourceAddr, Vec<ResourceAddr>> = BTreeMap::new();
    for item in text.split_whitespace() {
        let (upper, lower) = item.split_once('>').unwrap();
        all.entry(addr(upper)).or_default().push(addr(lower));
    }
    all
}

/// `a@n1 b@n1/none c@n2=n1.a`: an operation of an owner on a node, its kind, what it comes after. Its id is `n1.a`.
fn operations(text: &str) -> Vec<Operation> {
    text.split_whitespace()
        .map(|item| {
            let (item, after) = item.split_once('=').map_or((item, None), |(i, a)| (i, Some(a)));
            let (item, kind) = item.split_once('/').map_or((item, "drain"), |(i, k)| (i, k));
            let (owner, node) = item.split_once('@').unwrap();
            Operation {
                id: format!("{node}.{owner}").into(),
                provider: provider(),
                node: node.into(),
                kind: if kind == "none" { OperationKind::None } else { OperationKind::Drain },
                summary: String::new(),
                domain: Some(format!("zone-{}", &node[1..2])),
                unit: None,
                precondition: Precondition::default(),
                undo: Undo::Impossible("test".to_owned()),
                victims: Vec::new(),
                owners: vec![addr(owner)],
                cards: Vec::new(),
                payload: serde_json::Value::Null,
                after: after.into_iter().map(Into::into).collect(),
            }
        })
        .collect()
}

fn cluster(ops: &str, max: u64) -> ClusterWork {
    let policy = DisruptionPolicy { max_unavailable: MaxUnavailable::Nodes(max), ..DisruptionPolicy::default() };
    ClusterWork {
        provider: provider(),
        cluster: Some("uid".into()),
        policy,
        operations: operations(ops),
        managed: 10,
        unavailable: Vec::new(),
    }
}

fn run(list: &str, deps: &Dependencies, clusters: &[ClusterWork]) -> Result<Schedule, Diagnostics> {
    run_held(list, deps, clusters, &BTreeMap::new())
}

fn run_held(
    list: &str,
    dependencies: &Dependencies,
    clusters: &[ClusterWork],
    held: &BTreeMap<(ProviderConfigAddr, NodeName), HeldNode>,
) -> Result<Schedule, Diagnostics> {
    schedule(Work { changes: &changes(list), state_only: &BTreeSet::new(), dependencies, clusters, held })
}

fn short(step: &Step) -> String {
    step_name(step).replace("mock.", "")
}

/// Everything that must come before everything else: the transitive closure as `a < b`.
fn before(graph: &ExecutionGraph) -> BTreeSet<String> {
    let n = graph.steps.len();
    let mut reach = vec![BTreeSet::new(); n];
    for from in (0..n).rev() {
        for (_, to) in graph.edges.iter().filter(|(f, _)| *f as usize == from) {
            let further: BTreeSet<u32> = reach[*to as usize].clone();
            reach[from].extend(further);
            reach[from].insert(*to);
        }
    }
    let pair =
        |(from, to): (usize, &u32)| format!("{} < {}", short(&graph.steps[from]), short(&graph.steps[*to as usize]));
    reach.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, to))).map(pair).collect()
}

fn check(list: &str, conf: &str, stor: &str, ops: &str, max: u64, expected: &[&str], never: &[&str]) -> Schedule {
    let dependencies = Dependencies { configured: configured(conf), stored: stored(stor) };
    let clusters = if ops.is_empty() { Vec::new() } else { vec![cluster(ops, max)] };
    let schedule = run(list, &dependencies, &clusters).unwrap();
    let order = before(&schedule.graph);
    for pair in expected {
        assert!(order.contains(*pair), "{list}: {pair} is missing in {order:#?}");
    }
    for pair in never {
        assert!(!order.contains(*pair), "{list}: {pair} is too much");
    }
    schedule
}

#[test]
fn both_replace_orders_and_destruction() {
    // b depends on a throughout.
    for (list, conf, expected, never) in [
        ("a:create b:create", "b>a", &["a (create) < b (create)"][..], &[][..]),
        ("a:delete b:delete", "", &["b (destroy) < a (destroy)"], &[]),
        (
            "a:replace b:replace",
            "b>a",
            &["b (destroy) < a (destroy)", "a (destroy) < a (create)", "a (create) < b (create)"],
            &[],
        ),
        ("a:replace b:update", "b>a", &["a (destroy) < a (create)", "a (create) < b (update)"], &[]),
        ("a:update b:delete", "", &["b (destroy) < a (update)"], &[]),
        ("a:delete b:update", "", &["b (update) < a (destroy)"], &[]),
        (
            "a:cbd b:update",
            "b>a",
            &["a (create) < b (update)", "b (update) < a (destroy)", "a (create) < a (destroy)"],
            &[],
        ),
        (
            "a:cbd b:cbd",
            "b>a",
            &["a (create) < b (create)", "b (create) < b (destroy)", "b (destroy) < a (destroy)"],
            &[],
        ),
        (
            "a:cbd b:replace",
            "b>a",
            &["a (create) < b (create)", "b (destroy) < b (create)", "b (create) < a (destroy)"],
            &[],
        ),
        ("a:update b:noop", "b>a", &[], &["a (update) < b (update)"]),
    ] {
        check(list, conf, "b>a", "", 1, expected, never);
    }
}

#[test]
fn a_no_op_and_a_group_pass_dependencies_through() {
    check("a:update b:noop c:update", "b>a c>b", "", "", 1, &["a (update) < c (update)"], &[]);
    let s = check(
        "a:create b:create c:create d:create e:create f:create",
        "[all]>a [all]>b [all]>c d>[all] e>[all] f>[all]",
        "",
        "",
        1,
        &["a (create) < f (create)", "c (create) < d (create)"],
        &[],
    );
    assert!(s.graph.steps.contains(&Step::Group("all".to_owned())));
    assert_eq!(s.graph.edges.len(), 3 + 3 + 6, "three in, three out, six from the provider");
}

#[test]
fn ten_thousand_references_are_linear() {
    let n = 10_000;
    let list: String = (0..n).map(|i| format!("a{i}:create b{i}:create ")).collect();
    let refs: String = (0..n).map(|i| format!("b{i}>a{i} ")).collect();
    let dependencies = Dependencies { configured: configured(&refs), stored: BTreeMap::new() };
    let schedule = run(&list, &dependencies, &[]).unwrap();
    assert!(schedule.graph.edges.len() <= 3 * n, "{}", schedule.graph.edges.len());
}

#[test]
fn a_node_is_held_once_for_everything_and_waves_keep_the_budget() {
    let s = check(
        "p:update q:update x:create",
        "q>p x>q",
        "",
        "p@n1 q@n1 p@n2 q@n2 p@n3 q@n3",
        1,
        &[
            "hold of n1 < operation n1.p",
            "operation n1.p < operation n1.q",
            "operation n1.q < gate of wave 1",
            "gate of wave 1 < release of n1",
            "release of n1 < hold of n2",
            "release of n2 < hold of n3",
            "release of n3 < p (update)",
            "p (update) < q (update)",
            "q (update) < x (create)",
        ],
        &["p (update) < hold of n1"],
    );
    assert_eq!(s.holds.len(), 3);
    assert_eq!(s.waves.len(), 3);
    assert!(s.holds.iter().all(|hold| hold.operations.len() == 2));
    let two = check("p:update", "", "", "p@n1 p@n2 p@n3", 2, &["hold of n2 < gate of wave 1"], &[]);
    assert_eq!(two.waves.iter().map(|w| w.nodes.len()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn what_disrupts_nothing_needs_no_hold() {
    let s = check("p:update", "", "", "p@n1/none p@n2", 1, &["operation n1.p < p (update)"], &[]);
    assert_eq!(s.holds.iter().map(|h| h.node.as_str()).collect::<Vec<_>>(), ["n2"]);
}

#[test]
fn a_wave_stays_inside_a_domain() {
    let mut work = cluster("p@n1 p@n2 p@n3", 3);
    work.policy.failure_domain = Some("zone".to_owned());
    for (operation, domain) in work.operations.iter_mut().zip([Some("a"), Some("b"), Some("a")]) {
        operation.domain = domain.map(Into::into);
    }
    let s = run("p:update", &Dependencies::default(), &[work.clone()]).unwrap();
    let nodes: Vec<Vec<&str>> = s.waves.iter().map(|w| w.nodes.iter().map(NodeName::as_str).collect()).collect();
    assert_eq!(nodes, [vec!["n1", "n3"], vec!["n2"]]);
    work.operations[0].domain = None;
    let s = run("p:update", &Dependencies::default(), &[work]).unwrap();
    assert_eq!(s.waves.len(), 3, "a missing label is a domain of its own");
}

#[test]
fn a_unit_changes_together_or_is_refused() {
    let mut work = cluster("p@n1 p@n2 p@n3", 2);
    work.policy.unit = Some("rack".to_owned());
    for (operation, rack) in work.operations.iter_mut().zip(["r1", "r2", "r1"]) {
        operation.unit = Some(rack.into());
    }
    let s = run("p:update", &Dependencies::default(), &[work.clone()]).unwrap();
    let nodes: Vec<Vec<&str>> = s.waves.iter().map(|w| w.nodes.iter().map(NodeName::as_str).collect()).collect();
    assert_eq!(nodes, [vec!["n1", "n3"], vec!["n2"]]);
    work.policy.max_unavailable = MaxUnavailable::Nodes(1);
    let error = run("p:update", &Dependencies::default(), &[work]).unwrap_err();
    assert_eq!(error.0[0].hint.as_deref(), Some("Raise max_unavailable to at least 2."));
}

#[test]
fn crosswise_dependencies_name_the_cycle() {
    for (conf, ops) in [("x>p q>x", "p@n1 q@n1"), ("", "p@n1 q@n2=n1.p q@n3 x@n1=n3.q x@n3=n2.q")] {
        let dependencies = Dependencies { configured: configured(conf), stored: BTreeMap::new() };
        let error = run("p:update q:update x:update", &dependencies, &[cluster(ops, 3)]).unwrap_err();
        assert_eq!(error.0[0].summary, "Cycle");
        assert!(error.0[0].detail.contains("hold of n1"), "{}", error.0[0].detail);
    }
}

#[test]
fn foreign_failures_use_up_the_budget() {
    let mut work = cluster("p@n1 p@n2", 1);
    work.unavailable = vec!["n9".into()];
    let s = run("p:update", &Dependencies::default(), &[work]).unwrap();
    assert_eq!(s.waves.len(), 2);
    assert!(s.findings[0].detail.contains("n9"));
}

#[test]
fn two_providers_of_one_cluster_never_share_a_node() {
    let other = ClusterWork {
        provider: "provider[\"registry.terraform.io/test/mock\"].west".parse().unwrap(),
        ..cluster("q@n1", 1)
    };
    let error = run("p:update q:update", &Dependencies::default(), &[cluster("p@n1", 1), other]).unwrap_err();
    assert!(error.0[0].detail.contains("would change n1"));
}

#[test]
fn nodes_that_an_earlier_run_holds_are_taken_over_or_given_back() {
    let held = |node: &str| {
        let held = HeldNode { node: node.into(), plan: "old".into(), done: Vec::new() };
        ((provider(), node.into()), held)
    };
    let held: BTreeMap<_, _> = [held("n1"), held("n2")].into_iter().collect();
    let s = run_held("p:update", &Dependencies::default(), &[cluster("p@n1", 1)], &held).unwrap();
    assert_eq!(s.holds[0].takes_over, Some("old".into()));
    let back: Vec<&str> = s.given_back.iter().map(|back| back.node.as_str()).collect();
    assert_eq!(back, ["n2"]);
    assert!(before(&s.graph).contains("provider[\"registry.terraform.io/test/mock\"] < release of n2"));
}
