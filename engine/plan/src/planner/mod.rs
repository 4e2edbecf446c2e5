//! Makes a plan: reads what is there, evaluates what the configuration says, asks providers what that comes to, and puts
//! it in order.
//!
//! Works in rounds: everything that can be evaluated is, then all calls to providers that this has come to are made at
//! once, and their answers are taken in the order in which they were asked. So the plan is the same, byte for byte, however
//! long each call takes.

mod calls;
mod configured;
mod data;
mod finish;
mod import;
mod moves;
mod objects;
mod orphans;
mod outputs;
mod read;
mod roots;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine_diag::{Diagnostic, Diagnostics, Sources};
use engine_model::{
    address::{DeposedKey, ProviderConfigAddr, ResourceAddr},
    change::{Action, ResourceChange, ResourceDrift},
    event::Event,
    name::ClusterIdentity,
    plan::{Plan, PlanMode, SnapshotIdentity},
};
use engine_value::Value;
use providers_api::{Call, Instance, PlannedChange};
use rustc_hash::FxHashMap;
use state::Snapshot;

use crate::{
    evaluation::{Evaluation, Key},
    program::Program,
    target::Target,
    worklist::Id,
};
use calls::Job;
pub(crate) use calls::issue_at;
pub use calls::redacted;
pub(crate) use import::import;
pub(crate) use objects::refuse_second;

/// What a plan is made from, and how.
pub struct PlanInput<'a> {
    /// What is planned.
    pub program: Arc<Program>,
    /// The sources of the configuration: where places are looked up.
    pub sources: &'a Sources,
    /// What state remembers.
    pub snapshot: &'a Snapshot,
    /// Which snapshot that is.
    pub identity: SnapshotIdentity,
    /// Normal, destroy or refresh-only.
    pub mode: PlanMode,
    /// Is what the state remembers read again?
    pub refresh: bool,
    /// What `-target` names; empty: everything.
    pub targets: Vec<Target>,
    /// What `-replace` names.
    pub replace: Vec<ResourceAddr>,
    /// So many calls to providers at a time.
    pub parallelism: usize,
    /// Is it a plan for the sandbox?
    pub sandbox: bool,
    /// Where to tell what happens.
    pub events: &'a (dyn Fn(Event) + Send + Sync),
}

/// A plan, and everything that is to be said about it.
#[derive(Debug)]
pub struct PlanOutput {
    /// The plan: what could be planned, with `errored` set where that is not all.
    pub plan: Plan,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// How often something was evaluated: counted work.
    pub work: u64,
}

/// Makes a plan. Changes nothing, and never fails as a whole.
pub async fn plan(input: PlanInput<'_>, call: Call<'_>) -> PlanOutput {
    let (snapshot, moved) = moves::moved(&input.program, input.snapshot);
    let mut planner = Planner::new(&input, &snapshot, moved, call);
    planner.check_addresses();
    planner.read().await;
    planner.want_variables();
    match input.mode {
        PlanMode::Destroy => planner.destroy().await,
        PlanMode::Normal | PlanMode::RefreshOnly => planner.configured().await,
    }
    planner.finish().await
}

/// An object of the state.
#[derive(Clone, Debug)]
pub(crate) struct Prior {
    pub(crate) provider: ProviderConfigAddr,
    /// As the state has it.
    pub(crate) stored: Value,
    /// As it was read; null where it is gone.
    pub(crate) now: Value,
    /// What the provider stores beside it.
    pub(crate) private: Vec<u8>,
    /// Of the schema of both.
    pub(crate) schema_version: u64,
    pub(crate) tainted: bool,
    /// Why it could not be read, where it could not.
    pub(crate) unreachable: Option<String>,
}

/// What evaluation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Provider configurations, from what the state has, so that it can be read.
    Reading,
    /// Everything.
    Planning,
}

/// A provider that is configured.
#[derive(Clone)]
struct Ready {
    /// From this.
    config: Value,
    instance: Arc<dyn Instance>,
}

/// What was announced under one provider configuration.
#[derive(Default)]
struct Announced {
    addrs: BTreeSet<ResourceAddr>,
    /// As it is shown to others; made when it is asked for.
    shown: Option<Arc<[PlannedChange]>>,
}

struct Planner<'a> {
    input: &'a PlanInput<'a>,
    /// What state remembers, under the addresses that the configuration has for it.
    snapshot: &'a Snapshot,
    /// The old addresses of what has new ones.
    moved: BTreeMap<ResourceAddr, ResourceAddr>,
    call: Call<'a>,
    evaluation: Evaluation,
    phase: Phase,
    /// Current objects of the state.
    prior: BTreeMap<ResourceAddr, Prior>,
    instances: BTreeMap<ProviderConfigAddr, Ready>,
    clusters: BTreeMap<ProviderConfigAddr, ClusterIdentity>,
    /// Data sources that were read: from what, and to what.
    data: FxHashMap<ResourceAddr, (Value, Value)>,
    changes: BTreeMap<(ResourceAddr, Option<DeposedKey>), ResourceChange>,
    drift: Vec<ResourceDrift>,
    state_only: BTreeSet<ResourceAddr>,
    /// Calls of this round.
    jobs: Vec<(Id, Job)>,
    /// Objects whose turn comes when nothing else can go on, as their types plan after others.
    late: Vec<(Id, ResourceAddr)>,
    released: BTreeSet<ResourceAddr>,
    /// Objects for which something was missing that another change may bring.
    waiting: Vec<(Id, ResourceAddr)>,
    /// Those of them that are planned for the second time, and last.
    asked_again: BTreeSet<ResourceAddr>,
    /// Changes that others may wait for.
    announced: BTreeMap<ProviderConfigAddr, Announced>,
    /// What objects need beside what their configuration says.
    implied: BTreeMap<ResourceAddr, BTreeSet<ResourceAddr>>,
    /// Objects of the state that nothing more is to be decided about.
    decided: BTreeSet<ResourceAddr>,
    /// Objects that outputs ask for after everything that was targeted is planned: they stay as they are.
    frozen: bool,
    interrupted: bool,
    /// What is to be said beside what evaluation says.
    told: Diagnostics,
    /// So much of it was told while the state was read.
    told_while_reading: usize,
}

impl<'a> Planner<'a> {
    fn new(
        input: &'a PlanInput<'a>,
        snapshot: &'a Snapshot,
        moved: BTreeMap<ResourceAddr, ResourceAddr>,
        call: Call<'a>,
    ) -> Self {
        Self {
            input,
            snapshot,
            moved,
            call,
            evaluation: Evaluation::new(input.program.clone()),
            phase: Phase::Reading,
            prior: BTreeMap::new(),
            instances: BTreeMap::new(),
            clusters: BTreeMap::new(),
            data: FxHashMap::default(),
            changes: BTreeMap::new(),
            drift: Vec::new(),
            state_only: BTreeSet::new(),
            jobs: Vec::new(),
            late: Vec::new(),
            released: BTreeSet::new(),
            waiting: Vec::new(),
            asked_again: BTreeSet::new(),
            announced: BTreeMap::new(),
            implied: BTreeMap::new(),
            decided: BTreeSet::new(),
            frozen: false,
            interrupted: false,
            told: Diagnostics::new(),
            told_while_reading: 0,
        }
    }

    fn program(&self) -> &'a Program {
        &self.input.program
    }

    /// Tells something. What was told while reading is not told again.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.told.0[..self.told_while_reading].contains(&diagnostic) {
            self.told.push(diagnostic);
        }
    }

    /// Has the first interrupt come? Then nothing more is begun, and that is told once.
    fn is_interrupted(&mut self) -> bool {
        let now = self.call.cancel.is_cancelled();
        if now && !self.interrupted {
            let detail = "Planning was interrupted. Nothing was changed.";
            self.report(Diagnostic::error("Interrupted", detail));
        }
        self.interrupted = now;
        now
    }

    /// Is this object meant by the targets?
    fn is_targeted(&self, addr: &ResourceAddr) -> bool {
        self.input.targets.is_empty() || self.input.targets.iter().any(|target| target.matches(addr))
    }

    /// Goes on until nothing can go on any more.
    async fn drive(&mut self) {
        loop {
            while let Some(id) = self.evaluation.advance() {
                self.outside(id);
            }
            if self.is_interrupted() {
                return;
            }
            if !self.jobs.is_empty() {
                self.run_jobs().await;
            } else if !(self.want_targets()
                || self.plan_orphans()
                || self.ask_again()
                || self.release_late()
                || self.break_cycle())
            {
                return;
            }
        }
    }

    fn break_cycle(&mut self) -> bool {
        !self.frozen && self.evaluation.break_cycle()
    }

    /// A key whose value comes from outside is asked for.
    fn outside(&mut self, id: Id) {
        match self.evaluation.key(id).clone() {
            Key::Object(addr) => self.object(id, &addr),
            Key::Configured(addr) => self.configure(id, &addr),
            _ => {}
        }
    }

    fn insert(&mut self, mut change: ResourceChange) {
        if change.deposed.is_none() {
            change.previous = self.moved.get(&change.addr).cloned();
        }
        if change.previous.is_some() {
            self.state_only.insert(change.addr.clone());
        }
        if change.action != Action::NoOp {
            self.state_only.remove(&change.addr);
        }
        self.changes.insert((change.addr.clone(), change.deposed.clone()), change);
    }
}
