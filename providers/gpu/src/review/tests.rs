//! Whole plans of a few words, reviewed.

use engine_diag::Severity;
use engine_model::{
    address::{ModulePath, ProviderAddr, ProviderConfigAddr},
    change::{Action, ResourceChange},
    finding::Finding,
    operation::ExclusionReason,
    policy::DisruptionPolicy,
};
use engine_value::{Path, Type, Value};
use providers_api::{PlanRequest, PlannedChange};

use super::*;
use crate::{
    attributes::with,
    fixture::{WorldBuilder, a100, card, pod, pool_config, whole_a100},
    operations::operations,
    pool,
};

const POOL: &[(&str, &str)] = &[("example.com/pool", "dev")];
const A100: &str = "A100-SXM4-80GB";

struct Reviewing {
    changes: Vec<ResourceChange>,
    operations: Vec<Operation>,
    excluded: Vec<Excluded>,
}

fn change(addr: &str, action: Action, before: Value, after: Value) -> ResourceChange {
    ResourceChange {
        addr: addr.parse().unwrap(),
        previous: None,
        deposed: None,
        provider: ProviderConfigAddr {
            module: ModulePath::root(),
            provider: ProviderAddr::new("h", "n", "gpu"),
            alias: None,
        },
        action,
        reason: None,
        config: after.clone(),
        before,
        after,
        private: Vec::new(),
        replace_paths: Vec::new(),
        schema_version: 0,
        unverified: None,
        create_before_destroy: false,
        dependencies: Vec::new(),
    }
}

/// A new pool that cuts every A100 of these nodes in these slices.
fn pool_of(slices: &[(&str, i64)], world: &World) -> Reviewing {
    let config = pool_config(POOL, &[("notebooks", A100, 0, slices)]);
    let null = || Value::null(Type::Dynamic);
    let request = PlanRequest {
        addr: "gpu_pool.dev".parse().unwrap(),
        prior: null(),
        stored: null(),
        private: Vec::new(),
        proposed: config.clone(),
        config: config.clone(),
        earlier: Default::default(),
        is_last: false,
    };
    let planned = pool::propose(&request, world, &DisruptionPolicy::default()).unwrap();
    let planned_change = PlannedChange {
        addr: request.addr,
        action: Action::Create,
        before: null(),
        after: planned.object.clone(),
        config,
        private: planned.private,
    };
    let provider = ProviderAddr::new("h", "n", "gpu");
    let found = operations(&provider, &[planned_change], world, &DisruptionPolicy::default());
    Reviewing {
        changes: vec![change("gpu_pool.dev", Action::Create, null(), planned.object)],
        operations: found.operations,
        excluded: found.excluded,
    }
}

impl Reviewing {
    fn quota(mut self, name: &str, namespace: &str, slices: &[(&str, i64)]) -> Self {
        let slices = slices.iter().map(|(name, amount)| (*name, Value::int(*amount)));
        let after = Value::object([
            ("id", Value::string(format!("{namespace}/sliceform-gpu"))),
            ("namespace", Value::string(namespace)),
            ("name", Value::string("sliceform-gpu")),
            ("slices", Value::map(Type::Number, slices)),
            ("zeroed", Value::int(0)),
        ]);
        self.changes.push(change(&format!("gpu_quota.{name}"), Action::Create, Value::null(Type::Dynamic), after));
        self
    }

    fn look(&self, world: &World) -> Review {
        look(&Reviewed { changes: &self.changes, operations: &self.operations, excluded: &self.excluded }, world)
    }
}

fn rows(review: &Review) -> Vec<(&str, u64, u64, u64)> {
    review.capacity.iter().map(|row| (row.resource.as_str(), row.now, row.then, row.excluded)).collect()
}

fn places(finding: &Finding) -> Vec<String> {
    finding.places.iter().map(|(what, place)| format!("{what}: {} {}", place.addr, place.path)).collect()
}

fn two_nodes() -> WorldBuilder {
    WorldBuilder::default()
        .node("gpu-01", vec![whole_a100(0, &[]), whole_a100(1, &[])])
        .node("l4-01", vec![card("L4", 0, &providers_catalog::Layout::Whole, &[])])
        .with("l4-01", |node| node.labels.clear())
}

#[test]
fn capacity_is_before_after_and_aside() {
    let down = two_nodes()
        .node("gpu-02", vec![a100(0, "1g.10gb@0:1", &[])])
        .with("gpu-02", |node| node.heartbeat = crate::world::Heartbeat::Never)
        .build();
    let reviewing = pool_of(&[("1g.10gb", 3), ("2g.20gb", 2)], &down);
    assert_eq!(reviewing.excluded[0].why, ExclusionReason::AgentDown);
    let review = reviewing.look(&down);
    let expected =
        [("nvidia.com/gpu", 3, 1, 0), ("nvidia.com/mig-1g.10gb", 0, 6, 1), ("nvidia.com/mig-2g.20gb", 0, 4, 0)];
    assert_eq!(rows(&review), expected);
    assert_eq!(review.findings, []);
}

#[test]
fn a_quota_on_a_name_that_no_node_will_offer_is_an_error_with_both_places() {
    let world = two_nodes().build();
    let reviewing = pool_of(&[("1g.10gb", 7)], &world).quota("a", "team-a", &[("nvidia.com/mig-1g.5gb", 4)]);
    let review = reviewing.look(&world);
    let [finding] = review.findings.as_slice() else { panic!("{:?}", review.findings) };
    assert_eq!((finding.severity, finding.code.as_str()), (Severity::Error, "quota_unknown_resource"));
    assert_eq!(
        places(finding),
        [
            "the quota: gpu_quota.a slices[\"nvidia.com/mig-1g.5gb\"]",
            "nvidia.com/mig-1g.10gb is offered here: gpu_pool.dev profiles[\"notebooks\"].mig[\"1g.10gb\"]",
        ]
    );
    assert!(finding.hint.as_ref().unwrap().starts_with("Did you mean nvidia.com/mig-1g.10gb?"));
}

#[test]
fn a_name_that_vanishes_names_the_pool_that_takes_it_away() {
    let users = [("3g.40gb@0:4", pod("team-b", "nb-1"))];
    let world = WorldBuilder::default()
        .node("gpu-01", vec![a100(0, "3g.40gb@0:4 3g.40gb@4:4", &users)])
        .pod("team-b/nb-1", "gpu-01", "nvidia.com/mig-3g.40gb")
        .with_pod("team-b/nb-1", |pod| pod.owner_kind = "deployment".to_owned())
        .pod("team-c/waits", "", "nvidia.com/mig-3g.40gb")
        .quota("team-d", &[("nvidia.com/mig-3g.40gb", 2)])
        .build();
    let reviewing = pool_of(&[("1g.10gb", 7)], &world).quota("a", "team-a", &[("nvidia.com/mig-3g.40gb", 1)]);
    let review = reviewing.look(&world);
    let told: Vec<(&str, usize)> = review.findings.iter().map(|f| (f.code.as_str(), f.places.len())).collect();
    let expected = [("quota_unknown_resource", 2), ("quota_loses_resource", 1), ("workload_loses_resource", 1)];
    assert_eq!(told, expected);
    assert_eq!(places(&review.findings[0])[1], "the pool that no longer offers it: gpu_pool.dev profiles");
    let workloads = &review.findings[2].detail;
    assert!(workloads.contains("team-b/deployment/nb-1, team-c/pod/waits"), "{workloads}");
}

#[test]
fn amounts_above_capacity_warn_and_every_quota_is_noted() {
    let world = two_nodes().quota("team-c", &[("nvidia.com/mig-1g.10gb", 3), ("nvidia.com/gpu", 0)]).build();
    let name = "nvidia.com/mig-1g.10gb";
    let reviewing =
        pool_of(&[("1g.10gb", 7)], &world).quota("a", "team-a", &[(name, 15)]).quota("b", "team-b", &[(name, 4)]);
    let review = reviewing.look(&world);
    let codes: Vec<&str> = review.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!((codes, review.findings[0].severity), (vec!["quota_above_capacity"], Severity::Warning));
    let row = review.capacity.iter().find(|row| row.resource.as_str() == name).unwrap();
    let notes: Vec<(&str, bool)> = row.notes.iter().map(|(text, place)| (text.as_str(), place.is_some())).collect();
    assert_eq!(
        notes,
        [
            ("team-a may ask for 15", true),
            ("team-b may ask for 4", true),
            ("team-c may ask for 3", false),
            ("all together may ask for 22, 8 more than there are", false),
        ]
    );
}

#[test]
fn a_quota_below_what_is_used_warns() {
    let world = two_nodes().pod("team-a/p", "l4-01", "nvidia.com/gpu").build();
    let review = pool_of(&[("1g.10gb", 7)], &world).quota("a", "team-a", &[]).look(&world);
    let codes: Vec<&str> = review.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["quota_below_use"]);
    // Once it was approved it is not told again.
    let mut reviewing = pool_of(&[("1g.10gb", 7)], &world).quota("a", "team-a", &[]);
    for change in &mut reviewing.changes {
        change.action = Action::NoOp;
    }
    assert_eq!(reviewing.look(&world).findings, []);
}

#[test]
fn a_selector_on_a_label_that_the_plan_changes_is_an_error() {
    let world = two_nodes().build();
    let node = |label: &str| {
        let labels = Value::object([("example.com/pool", Value::string(label)), ("other", Value::string("x"))]);
        let metadata = Value::object([("name", Value::string("gpu-01")), ("labels", labels)]);
        Value::object([("manifest", Value::object([("kind", Value::string("Node")), ("metadata", metadata)]))])
    };
    for (action, before, after, expected) in [
        (Action::Update, node("prod"), node("dev"), 1),
        (Action::Create, Value::null(Type::Dynamic), node("dev"), 1),
        (Action::NoOp, node("dev"), node("dev"), 0),
        (Action::Update, node("dev"), with(&node("dev"), "wait", Value::bool(true)), 0),
    ] {
        let mut reviewing = pool_of(&[("1g.10gb", 7)], &world);
        reviewing.changes.push(change("kubernetes_manifest.node", action, before, after));
        let review = reviewing.look(&world);
        assert_eq!(review.findings.len(), expected, "{:?}", review.findings);
        if let Some(finding) = review.findings.first() {
            let path = Path::root().attr("selector").key("example.com/pool");
            assert_eq!((finding.severity, &finding.places[0].1.path), (Severity::Error, &path));
        }
    }
}
