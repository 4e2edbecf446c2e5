//! Pools planned, carried out and planned again, in worlds of a few words.

use engine_model::{
    change::Action,
    name::NodeName,
    operation::{ExclusionReason, OperationKind},
    policy::{DisruptionPolicy, OnHit, Protect},
};
use engine_value::{Type, Value};
use proptest::prelude::*;
use providers_agent_api::User;
use providers_api::{Issue, Operations, PlanRequest, Planned, PlannedChange, PlannedReason};

use super::*;
use crate::{
    attributes::with,
    fixture::{ProfileSpec, WorldBuilder, a100, card, mig, pod, pool_config, whole_a100},
    operations::{Payload, operations},
    world::{Card, Heartbeat, World, catalog_layout},
};

const POOL: &[(&str, &str)] = &[("example.com/pool", "dev")];
const A100: &str = "A100-SXM4-80GB";
const SMALL: &[(&str, i64)] = &[("1g.10gb", 3), ("2g.20gb", 2)];
const ONE: &[(&str, i64)] = &[("7g.80gb", 1)];
const REST: ProfileSpec<'_> = ("rest", "", 0, &[]);

/// A pool with its state.
#[derive(Clone)]
struct Pool {
    config: Value,
    stored: Value,
    private: Vec<u8>,
}

impl Pool {
    fn new(profiles: &[ProfileSpec<'_>]) -> Self {
        Self { config: pool_config(POOL, profiles), stored: Value::null(Type::Dynamic), private: Vec::new() }
    }

    fn configured(&self, profiles: &[ProfileSpec<'_>]) -> Self {
        Self { config: pool_config(POOL, profiles), ..self.clone() }
    }

    fn plan(&self, world: &World) -> Result<(Planned, PlannedChange, Vec<String>), Vec<Issue>> {
        self.plan_under(world, &DisruptionPolicy::default())
    }

    fn plan_under(
        &self,
        world: &World,
        policy: &DisruptionPolicy,
    ) -> Result<(Planned, PlannedChange, Vec<String>), Vec<Issue>> {
        let private = Private::from_bytes(&self.private);
        let (prior, notes) =
            if self.stored.is_null() { (self.stored.clone(), Vec::new()) } else { read(&self.stored, &private, world) };
        let request = PlanRequest {
            addr: "gpu_pool.dev".parse().unwrap(),
            prior: prior.clone(),
            stored: self.stored.clone(),
            private: self.private.clone(),
            config: self.config.clone(),
            proposed: self.config.clone(),
            earlier: Default::default(),
            is_last: false,
        };
        let planned = propose(&request, world, policy)?;
        let action = if prior.is_null() {
            Action::Create
        } else if self.config.is_null() {
            Action::Delete
        } else if planned.object == prior && !planned.pending {
            Action::NoOp
        } else {
            Action::Update
        };
        let change = PlannedChange {
            addr: request.addr,
            action,
            before: prior,
            after: planned.object.clone(),
            config: self.config.clone(),
            private: planned.private.clone(),
        };
        Ok((planned, change, notes))
    }
}

fn operations_of(change: &PlannedChange, world: &World) -> Operations {
    let provider = engine_model::address::ProviderAddr::new("h", "n", "gpu");
    operations(&provider, std::slice::from_ref(change), world, &DisruptionPolicy::default())
}

/// What agents and kubelets make of operations: cards as asked for, users of what went gone.
fn carry_out(world: &World, operations: &Operations) -> World {
    let mut world = world.clone();
    for operation in &operations.operations {
        let payload = Payload::from_json(&operation.payload).unwrap();
        let report = world.nodes.get_mut(&operation.node).unwrap().report.as_mut().unwrap();
        for was in &mut report.cards {
            let Some(spec) = payload.cards.get(was.uuid.as_str()) else { continue };
            let layout = catalog_layout(&spec.layout).unwrap();
            let kept: Vec<(String, User)> = was
                .slices
                .iter()
                .filter(|slice| layout.instances().contains(&slice.instance))
                .flat_map(|slice| slice.users.iter().map(|user| (slice.instance.to_string(), user.clone())))
                .collect();
            let kept: Vec<(&str, User)> = kept.iter().map(|(at, user)| (at.as_str(), user.clone())).collect();
            let made = card(&was.product, was.index, &layout, &kept);
            *was = Card { uuid: was.uuid.clone(), pci: was.pci.clone(), ..made };
        }
    }
    world
}

/// Plans, carries out, settles.
fn apply(pool: &mut Pool, world: &mut World) -> Operations {
    let (_, change, _) = pool.plan(world).unwrap();
    let operations = operations_of(&change, world);
    assert!(operations.issues.is_empty(), "{:?}", operations.issues);
    *world = carry_out(world, &operations);
    let outcome = settle(&change, world);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    match outcome.now {
        Some(applied) => (pool.stored, pool.private) = (applied.object, applied.private),
        None => (pool.stored, pool.private) = (Value::null(Type::Dynamic), Vec::new()),
    }
    operations
}

fn assert_nothing_to_do(pool: &Pool, world: &World) {
    let (planned, change, notes) = pool.plan(world).unwrap();
    assert_eq!((change.action, planned.reason, notes), (Action::NoOp, None, vec![]));
    assert_eq!(operations_of(&change, world).operations, []);
}

fn three_nodes() -> World {
    let cards = || vec![whole_a100(0, &[]), whole_a100(1, &[])];
    WorldBuilder::default().node("gpu-01", cards()).node("gpu-02", cards()).node("gpu-03", cards()).build()
}

fn slices(pool: &Value, node: &str, card: u32) -> Option<String> {
    let nodes = nodes_of(pool);
    let card = &nodes[&NodeName::from(node)].cards[&format!("0000:{card:02x}:00.0").as_str().into()];
    card.cut.as_ref().map(|(profile, layout)| format!("{profile} {layout}"))
}

#[test]
fn a_first_apply_cuts_and_a_second_does_nothing() {
    let (mut pool, mut world) = (Pool::new(&[("notebooks", A100, 4, SMALL), REST]), three_nodes());
    let done = apply(&mut pool, &mut world);
    let kinds: Vec<_> = done.operations.iter().map(|operation| (operation.node.as_str(), operation.kind)).collect();
    assert_eq!(kinds, [("gpu-01", OperationKind::Reset), ("gpu-02", OperationKind::Reset)]);
    assert_eq!(done.operations[0].summary, "slice cards 0 and 1");
    assert_eq!((done.managed, done.unavailable.len()), (3, 0));
    let cut = "notebooks mig[1g.10gb@0:1 1g.10gb@1:1 2g.20gb@2:2 2g.20gb@4:2 1g.10gb@6:1]";
    assert_eq!(slices(&pool.stored, "gpu-01", 0).as_deref(), Some(cut));
    assert_eq!(slices(&pool.stored, "gpu-03", 1).as_deref(), Some("rest whole"));
    let resources = pool.stored.get("resources").unwrap();
    assert_eq!(resources.get("nvidia.com/mig-1g.10gb"), Some(&Value::int(12)));
    assert_eq!(resources.get("nvidia.com/gpu"), Some(&Value::int(2)));
    assert_nothing_to_do(&pool, &world);
}

#[test]
fn a_slice_destroyed_by_hand_is_drift_and_only_that_slice_comes_back() {
    let (mut pool, mut world) = (Pool::new(&[("notebooks", A100, 4, SMALL), REST]), three_nodes());
    apply(&mut pool, &mut world);
    let report = world.nodes.get_mut(&NodeName::from("gpu-01")).unwrap().report.as_mut().unwrap();
    report.cards[0] = a100(0, "1g.10gb@0:1 1g.10gb@1:1 2g.20gb@2:2 1g.10gb@6:1", &[]);
    let (planned, change, notes) = pool.plan(&world).unwrap();
    assert_eq!(notes, ["gpu-01 card 0 (GPU-0): 2g.20gb at 4 is gone"]);
    assert_eq!(planned.object, pool.stored, "the plan brings back what the state has");
    let operations = operations_of(&change, &world);
    let [operation] = operations.operations.as_slice() else { panic!("{operations:?}") };
    assert_eq!(operation.summary, "create 2g.20gb at 4 on card 0");
    assert_eq!((operation.kind, operation.victims.len(), operation.cards.len()), (OperationKind::None, 0, 1));
}

#[test]
fn a_change_under_a_running_pod_has_its_envelope_and_spares_what_stays() {
    let users =
        [("1g.10gb@0:1", pod("team-a", "stays")), ("7g", pod("x", "y")), ("3g.40gb@4:4", pod("team-b", "nb-1"))];
    let card = a100(0, "1g.10gb@0:1 3g.40gb@4:4", &users);
    let world = WorldBuilder::default()
        .node("gpu-01", vec![card])
        .pod("team-a/stays", "gpu-01", "nvidia.com/mig-1g.10gb")
        .pod("team-b/nb-1", "gpu-01", "nvidia.com/mig-3g.40gb")
        .with_pod("team-b/nb-1", |pod| {
            (pod.owner_kind, pod.owner_name, pod.priority) = ("deployment".to_owned(), "notebook".to_owned(), 10);
        })
        .build();
    let pool = Pool::new(&[("notebooks", A100, 1, SMALL)]);
    let (_, change, _) = pool.plan(&world).unwrap();
    let operations = operations_of(&change, &world);
    let [operation] = operations.operations.as_slice() else { panic!("{operations:?}") };
    assert_eq!(operation.kind, OperationKind::Drain);
    let [victim] = operation.victims.as_slice() else { panic!("{:?}", operation.victims) };
    assert_eq!((victim.owner().as_str(), victim.priority, victim.count), ("team-b/deployment/notebook", 10, 1));
    assert_eq!(operation.cards[0].now.segments.iter().filter(|segment| segment.in_use).count(), 2);
    let then = &operation.cards[0].then.segments;
    assert!(then.iter().any(|segment| segment.start == 0 && segment.in_use), "{then:?}");
}

#[test]
fn cards_with_the_fewest_victims_are_taken() {
    let busy = || whole_a100(0, &[("whole", pod("b", "busy"))]);
    let world =
        WorldBuilder::default().node("gpu-01", vec![busy(), whole_a100(1, &[])]).node("gpu-02", vec![busy()]).build();
    let (planned, ..) = Pool::new(&[("n", A100, 1, SMALL)]).plan(&world).unwrap();
    assert_eq!(slices(&planned.object, "gpu-01", 0), None);
    assert!(slices(&planned.object, "gpu-01", 1).is_some());
}

#[test]
fn what_the_pool_does_not_have_is_an_error_that_counts() {
    let world = three_nodes();
    let issues = Pool::new(&[("n", A100, 7, SMALL)]).plan(&world).unwrap_err();
    assert_eq!(issues[0].summary, "Not enough cards");
    assert!(issues[0].detail.contains("asks for 7 cards A100-SXM4-80GB, and the pool has 6"), "{issues:?}");
    let issues = Pool::new(&[("n", "H100-80GB-HBM3", 1, &[("1g.10gb", 1)])]).plan(&world).unwrap_err();
    assert!(issues[0].detail.contains("the pool has 0"), "{issues:?}");
}

#[test]
fn excluded_nodes_are_listed_and_nothing_is_cut_in_their_place() {
    let (mut pool, mut world) = (Pool::new(&[("notebooks", A100, 4, SMALL), REST]), three_nodes());
    apply(&mut pool, &mut world);
    type Spoil = fn(&mut World);
    fn node(world: &mut World) -> &mut crate::world::Node {
        world.nodes.get_mut(&NodeName::from("gpu-01")).unwrap()
    }
    let spoils: [(Spoil, ExclusionReason); 7] = [
        (|world| node(world).report.as_mut().unwrap().asked = Some("op".to_owned()), ExclusionReason::Unreadable),
        (|world| drop(world.nodes.remove(&NodeName::from("gpu-01"))), ExclusionReason::Vanished),
        (|world| node(world).not_ready = Some("kubelet stopped".to_owned()), ExclusionReason::NotReady),
        (
            |world| node(world).heartbeat = Heartbeat::Age(std::time::Duration::from_secs(61)),
            ExclusionReason::AgentDown,
        ),
        (|world| node(world).report.as_mut().unwrap().error = Some("NVML".to_owned()), ExclusionReason::Unreadable),
        (|world| drop(node(world).report.as_mut().unwrap().cards.pop()), ExclusionReason::CardExchanged),
        (
            |world| node(world).report.as_mut().unwrap().cards[0].frozen = Some("Xid 79".to_owned()),
            ExclusionReason::CardFrozen,
        ),
    ];
    for (spoil, why) in spoils {
        let mut world = world.clone();
        spoil(&mut world);
        let (planned, change, notes) = pool.plan(&world).unwrap();
        assert_eq!((change.action, notes, planned.object), (Action::NoOp, vec![], pool.stored.clone()), "{why:?}");
        let operations = operations_of(&change, &world);
        let excluded: Vec<_> = operations.excluded.iter().map(|e| (e.node.as_str(), e.why)).collect();
        assert_eq!((excluded, operations.operations), (vec![("gpu-01", why)], vec![]));
        // A change of the configuration leaves it alone too, and cuts no other card for it.
        let (_, change, _) = pool.configured(&[("notebooks", A100, 4, ONE), REST]).plan(&world).unwrap();
        let nodes: Vec<_> = operations_of(&change, &world).operations.into_iter().map(|o| o.node).collect();
        assert_eq!(nodes, ["gpu-02".into()], "{why:?}");
    }
}

#[test]
fn nodes_that_join_are_a_reason_and_nodes_that_leave_are_none() {
    let (mut pool, mut world) = (Pool::new(&[("all", A100, 0, SMALL)]), three_nodes());
    apply(&mut pool, &mut world);
    let mut relabelled = world.clone();
    relabelled.nodes.get_mut(&NodeName::from("gpu-03")).unwrap().labels.clear();
    let (planned, change, _) = pool.plan(&relabelled).unwrap();
    assert_eq!(change.action, Action::NoOp);
    assert_eq!(planned.issues[0].summary, "A node left the pool");

    let new = WorldBuilder::default().node("gpu-04", vec![whole_a100(0, &[])]).build();
    world.nodes.extend(new.nodes);
    let (planned, change, notes) = pool.plan(&world).unwrap();
    assert_eq!((change.action, notes), (Action::Update, vec![]));
    assert_eq!(planned.reason, Some(PlannedReason::NodesJoined(vec!["gpu-04".into()])));
    let nodes: Vec<_> = operations_of(&change, &world).operations.into_iter().map(|o| o.node).collect();
    assert_eq!(nodes, ["gpu-04".into()]);
    apply(&mut pool, &mut world);
    assert_nothing_to_do(&pool, &world);
}

#[test]
fn what_was_cut_off_is_unfinished_and_the_rest_is_done() {
    let (mut pool, mut world) = (Pool::new(&[("all", A100, 0, SMALL)]), three_nodes());
    let (_, change, _) = pool.plan(&world).unwrap();
    let mut operations = operations_of(&change, &world);
    // Before the first operation the state has what was approved. Then one node is done, and the run is killed.
    (pool.stored, pool.private) = (change.after.clone(), change.private.clone());
    operations.operations.truncate(1);
    world = carry_out(&world, &operations);
    let (planned, change, notes) = pool.plan(&world).unwrap();
    let unfinished = |done| PlannedReason::Unfinished { done, total: 3, unit: "nodes".to_owned() };
    assert_eq!(planned.reason, Some(unfinished(1)));
    assert_eq!(notes.len(), 2);
    assert!(notes.iter().all(|note| note.contains("is not changed yet")), "{notes:?}");
    let nodes: Vec<_> = operations_of(&change, &world).operations.into_iter().map(|o| o.node).collect();
    assert_eq!(nodes, ["gpu-02".into(), "gpu-03".into()]);

    // Where the run lived to settle, the state has what each node is.
    let outcome = settle(&change, &world);
    assert!(outcome.error.is_some());
    let now = outcome.now.unwrap();
    (pool.stored, pool.private) = (now.object, now.private);
    let (planned, _, notes) = pool.plan(&world).unwrap();
    assert_eq!((planned.reason, notes), (Some(unfinished(1)), vec![]));
    apply(&mut pool, &mut world);
    assert_nothing_to_do(&pool, &world);
}

#[test]
fn everything_done_and_not_settled_is_only_settled() {
    let (mut pool, mut world) = (Pool::new(&[("all", A100, 0, SMALL)]), three_nodes());
    let (_, change, _) = pool.plan(&world).unwrap();
    world = carry_out(&world, &operations_of(&change, &world));
    (pool.stored, pool.private) = (change.after, change.private);
    let (planned, change, notes) = pool.plan(&world).unwrap();
    assert!(planned.pending);
    assert_eq!((change.action, notes, operations_of(&change, &world).operations), (Action::Update, vec![], vec![]));
    apply(&mut pool, &mut world);
    assert_nothing_to_do(&pool, &world);
}

#[test]
fn destroy_restores_keeps_or_makes_whole() {
    let found = || {
        let used = a100(1, "2g.20gb@0:2", &[("2g.20gb@0:2", pod("a", "p"))]);
        WorldBuilder::default().node("gpu-01", vec![whole_a100(0, &[]), used]).build()
    };
    for (how, expected) in [
        ("restore", vec!["whole", "mig[2g.20gb@0:2]"]),
        ("whole", vec!["whole", "whole"]),
        ("keep", vec!["mig[7g.80gb@0:8]", "mig[7g.80gb@0:8]"]),
    ] {
        let (mut pool, mut world) = (Pool::new(&[("all", A100, 0, ONE)]), found());
        pool.config = with(&pool.config, "on_destroy", Value::string(how));
        apply(&mut pool, &mut world);
        assert_nothing_to_do(&pool, &world);
        pool.config = Value::null(Type::Dynamic);
        let operations = apply(&mut pool, &mut world);
        let forgets = |payload: Payload| payload.forget.len() == payload.cards.len();
        assert!(operations.operations.iter().all(|o| forgets(Payload::from_json(&o.payload).unwrap())));
        let cards = &world.nodes[&NodeName::from("gpu-01")].report.as_ref().unwrap().cards;
        let layouts: Vec<String> = cards.iter().map(|card| card.layout.to_string()).collect();
        assert_eq!(layouts, expected, "{how}");
        assert!(pool.stored.is_null());
    }
}

#[test]
fn a_layout_that_no_longer_fits_cannot_be_restored() {
    let (mut pool, mut world) = (Pool::new(&[("all", A100, 0, ONE)]), three_nodes());
    pool.config = with(&pool.config, "on_destroy", Value::string("restore"));
    apply(&mut pool, &mut world);
    let mut private = Private::from_bytes(&pool.private);
    // As if another driver had offered it.
    let found = private.found.get_mut(&NodeName::from("gpu-01")).unwrap();
    found.insert("GPU-0".into(), mig("3g.40gb@2:4"));
    pool.private = private.to_bytes();
    pool.config = Value::null(Type::Dynamic);
    let forgetful = Pool { private: Vec::new(), ..pool.clone() };
    let (planned, change, _) = forgetful.plan(&world).unwrap();
    assert_eq!(planned.issues.len(), 6);
    assert_eq!(operations_of(&change, &world).operations, []);
    let issues = pool.plan(&world).unwrap_err();
    assert_eq!(issues[0].summary, "The layout found first cannot be restored");
    assert!(issues[0].hint.as_ref().unwrap().contains("\"whole\""));
}

#[test]
fn a_node_in_two_pools_is_an_error_with_both_addresses() {
    let (pool, world) = (Pool::new(&[REST]), three_nodes());
    let (_, first, _) = pool.plan(&world).unwrap();
    let second = PlannedChange { addr: "gpu_pool.other".parse().unwrap(), ..first.clone() };
    let provider = engine_model::address::ProviderAddr::new("h", "n", "gpu");
    let operations = operations(&provider, &[first, second], &world, &DisruptionPolicy::default());
    let (addr, issue) = &operations.issues[0];
    assert_eq!((addr.to_string().as_str(), issue.summary.as_str()), ("gpu_pool.other", "A node in two pools"));
    assert_eq!(issue.related[0].1.addr.to_string(), "gpu_pool.dev");
}

#[test]
fn protected_pods_stop_the_plan_leave_the_node_out_or_are_waited_for() {
    let card = || whole_a100(0, &[("whole", pod("training-a", "t"))]);
    let world = WorldBuilder::default()
        .node("gpu-01", vec![card()])
        .pod("training-a/t", "gpu-01", "nvidia.com/gpu")
        .node("gpu-02", vec![whole_a100(0, &[])])
        .build();
    let pool = Pool::new(&[("all", A100, 0, SMALL)]);
    for (on_hit, expected) in [
        (OnHit::Fail, (vec!["gpu-01", "gpu-02"], 0, 1)),
        (OnHit::Skip, (vec!["gpu-02"], 1, 0)),
        (OnHit::Wait, (vec!["gpu-01", "gpu-02"], 0, 0)),
    ] {
        let protect = Some(Protect { namespaces: vec!["training-*".to_owned()], on_hit });
        let policy = DisruptionPolicy { protect, ..DisruptionPolicy::default() };
        let (_, change, _) = pool.plan_under(&world, &policy).unwrap();
        let provider = engine_model::address::ProviderAddr::new("h", "n", "gpu");
        let result = operations(&provider, &[change], &world, &policy);
        let nodes: Vec<&str> = result.operations.iter().map(|o| o.node.as_str()).collect();
        assert_eq!((nodes, result.excluded.len(), result.issues.len()), expected, "{on_hit:?}");
        assert!(result.operations.iter().all(|operation| operation.victims.is_empty()));
    }
}

#[test]
fn other_owners_strategies_and_old_drivers_are_found_at_plan() {
    let mut world = three_nodes();
    let node = world.nodes.get_mut(&NodeName::from("gpu-02")).unwrap();
    node.labels.insert("nvidia.com/gpu.deploy.mig-manager".to_owned(), "true".to_owned());
    let issues = Pool::new(&[("all", A100, 0, SMALL)]).plan(&world).unwrap_err();
    assert_eq!((issues.len(), issues[0].summary.as_str()), (1, "Two owners of one GPU"));
    assert!(issues[0].detail.contains("gpu-02"));

    let mut world = three_nodes();
    let node = world.nodes.get_mut(&NodeName::from("gpu-02")).unwrap();
    node.labels.insert("nvidia.com/mig.strategy".to_owned(), "single".to_owned());
    let issues = Pool::new(&[("all", A100, 0, SMALL)]).plan(&world).unwrap_err();
    assert_eq!(issues[0].summary, "Wrong MIG strategy");
    assert!(issues[0].detail.contains("gpu-02"));

    let mut world = three_nodes();
    for node in world.nodes.values_mut() {
        node.report.as_mut().unwrap().driver = Some("440.10".parse().unwrap());
    }
    let issues = Pool::new(&[("all", A100, 0, SMALL)]).plan(&world).unwrap_err();
    assert!(issues[0].detail.starts_with("gpu-01 card 0 (GPU-0): "), "{issues:?}");
    assert!(issues[0].detail.contains("needs driver"), "{issues:?}");
}

#[test]
fn work_that_is_tried_again_has_another_id() {
    let (pool, world) = (Pool::new(&[("all", A100, 0, SMALL)]), three_nodes());
    let (_, change, _) = pool.plan(&world).unwrap();
    let first = operations_of(&change, &world);
    assert_eq!(first.operations, operations_of(&change, &world).operations);
    let mut tried = world.clone();
    let report = tried.nodes.get_mut(&NodeName::from("gpu-01")).unwrap().report.as_mut().unwrap();
    report.asked = Some(first.operations[0].id.to_string());
    report.operation = Some(providers_agent_api::OperationStatus {
        id: first.operations[0].id.to_string(),
        phase: providers_agent_api::OperationPhase::Refused,
        done: 0,
        total: 0,
        message: "in use".to_owned(),
    });
    let again = operations_of(&change, &tried);
    assert_ne!(first.operations[0].id, again.operations[0].id);
    assert_eq!(first.operations[1].id, again.operations[1].id);
}

fn any_card(number: u32) -> impl Strategy<Value = Card> {
    let layouts = prop::sample::select(vec![
        None,
        Some(""),
        Some("1g.10gb@0:1 1g.10gb@1:1 1g.10gb@6:1"),
        Some("2g.20gb@0:2 2g.20gb@2:2 1g.10gb@4:1"),
        Some("7g.80gb@0:8"),
        Some("3g.40gb@0:4 3g.40gb@4:4"),
    ]);
    (layouts, any::<[bool; 4]>()).prop_map(move |(layout, used)| match layout {
        None if used[0] => whole_a100(number, &[("whole", pod("a", "w"))]),
        None => whole_a100(number, &[]),
        Some(slices) => {
            let users = slices.split_whitespace().zip(used).filter(|(_, used)| *used);
            let users: Vec<(&str, User)> = users.map(|(slice, _)| (slice, pod("a", slice))).collect();
            a100(number, slices, &users)
        }
    })
}

proptest! {
    #[test]
    fn whatever_there_is_a_second_apply_is_empty(
        first in prop::collection::vec((any_card(0), any_card(1)), 1..4),
        counts in (0_i64..3, 0_i64..3),
        rest in any::<bool>(),
    ) {
        let nodes = first.into_iter().enumerate();
        let builder = nodes.fold(WorldBuilder::default(), |builder, (number, (a, b))| {
            builder.node(&format!("gpu-{number:02}"), vec![a, b])
        });
        let mut world = builder.build();
        let mut profiles: Vec<ProfileSpec<'_>> = Vec::new();
        let limit = world.nodes.len() as i64 * 2;
        if counts.0 > 0 && counts.0 <= limit {
            profiles.push(("a", A100, counts.0, SMALL));
        }
        if counts.1 > 0 && counts.0 + counts.1 <= limit {
            profiles.push(("b", A100, counts.1, ONE));
        }
        if rest || profiles.is_empty() {
            profiles.push(REST);
        }
        let mut pool = Pool::new(&profiles);
        apply(&mut pool, &mut world);
        assert_nothing_to_do(&pool, &world);
    }
}
