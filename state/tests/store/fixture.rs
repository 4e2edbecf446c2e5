//! Short ways to say what the tests are about.

use engine_model::{
    address::{Ancestor, DeposedKey, ProviderConfigAddr, ResourceAddr},
    change::Action,
    event::HeldNode,
    execution::Step,
    host::FixedHost,
    name::{NodeName, PlanDigest},
};
use engine_value::json::read;
use state::{
    Base, Begin, Dependencies, Effect, Ended, Fence, Found, Intent, LockInfo, Object, Record, Recovered, Slot,
    Snapshot, StepResult, Work,
};

pub(crate) const LINEAGE: &str = "f0c5b1f4-6a1e-4a9b-8f6a-3d1f0a2b4c5d";

pub(crate) fn addr(text: &str) -> ResourceAddr {
    text.parse().expect("an address")
}

pub(crate) fn provider() -> ProviderConfigAddr {
    "provider[\"registry.terraform.io/sliceform/gpu\"]".parse().expect("a provider configuration")
}

pub(crate) fn plan(name: &str) -> PlanDigest {
    PlanDigest::from(name)
}

pub(crate) fn empty() -> Snapshot {
    Snapshot::new(state::Lineage(LINEAGE.into()))
}

pub(crate) fn with_serial(mut snapshot: Snapshot, serial: u64) -> Snapshot {
    snapshot.serial = serial;
    snapshot
}

pub(crate) fn object(json: &str) -> Object {
    Object::new(0, read(json).expect("JSON"))
}

pub(crate) fn needing(json: &str, ancestors: &[&str]) -> Object {
    let ancestors = ancestors.iter().map(|text| text.parse::<Ancestor>().expect("an ancestor")).collect();
    Object { dependencies: Dependencies::Nearest(ancestors), ..object(json) }
}

pub(crate) fn info(operation: &str) -> LockInfo {
    LockInfo::new(&FixedHost::new(1_700_000_000), operation, "ops@host")
}

pub(crate) fn begin(base: Base, plan_name: &str, fence: Fence) -> Record {
    let (operation, who, at) = ("apply".to_owned(), "ops@host".to_owned(), "2026-01-01T00:00:00Z".to_owned());
    Record::Begin(Begin { base, plan: plan(plan_name), fence, operation, who, at })
}

pub(crate) fn intent(name: &str) -> Record {
    let step = Step::Create(addr(name));
    Record::Intent(Box::new(Intent { step, work: Work::Change(Action::Create), effects: Vec::new() }))
}

pub(crate) fn created(name: &str, before: Option<&Object>, after: &Object) -> Record {
    let effects = vec![Effect::object(addr(name), Slot::Current, provider(), before, after)];
    Record::Result(StepResult { step: Step::Create(addr(name)), ended: Ended::Done, effects })
}

pub(crate) fn recovered(run: &Begin, intent: &Intent) -> Record {
    let (plan, step) = (run.plan.clone(), intent.step.clone());
    Record::Recovered(Recovered { plan, step, found: Found::NotStarted, effects: Vec::new() })
}

pub(crate) fn failed(name: &str) -> Record {
    let ended = Ended::Failed("the server is busy".to_owned());
    Record::Result(StepResult { step: Step::Create(addr(name)), ended, effects: Vec::new() })
}

pub(crate) fn held(node: &str) -> Effect {
    Effect::Held(provider(), HeldNode { node: NodeName::from(node), plan: plan("p"), done: Vec::new() })
}

pub(crate) fn deposed(key: &str) -> DeposedKey {
    DeposedKey(key.into())
}
