//! The walk: what may start is started, what has ended is recorded, until nothing is left.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::SystemTime,
};

use engine_diag::{Diagnostic, Diagnostics, chain, sentence};
use engine_graph::{Dag, NodeId, Ready, Standing};
use engine_model::{
    address::{DeposedKey, ProviderConfigAddr, ResourceAddr},
    change::ResourceChange,
    event::Event,
    execution::Step,
    host::Host,
    name::{OperationId, PlanDigest},
    operation::{Hold, Operation},
    plan::{Plan, Summary},
};
use engine_plan::{Evaluation, Program, Providers, Stopped};
use providers_api::Instance;
use state::{Begin, Effect, Ended, Fence, Intent, Loaded, Record, Snapshot, StepResult, Store, WriteError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    begin::Begun,
    call::{Call, Environment, Finished},
    describe,
};

/// Everything that an apply needs.
pub struct Apply {
    /// What to do.
    pub plan: Arc<Plan>,
    /// Its digest.
    pub digest: PlanDigest,
    /// What it was made from.
    pub program: Arc<Program>,
    /// Who carries it out.
    pub providers: Arc<Providers>,
    /// Where state is kept. Locked by the caller.
    pub store: Arc<dyn Store>,
    /// The caller's lock.
    pub fence: Fence,
    /// "apply" or "destroy", for the record.
    pub operation: String,
    /// "user@host", for the record.
    pub who: String,
    /// The clock and randomness.
    pub host: Arc<dyn Host>,
    /// Where to tell what happens.
    pub events: Arc<dyn Fn(Event) + Send + Sync>,
    /// The first interrupt.
    pub cancel: CancellationToken,
    /// So many calls for resources at a time. Steps on nodes are bounded by their waves instead.
    pub parallelism: usize,
}

/// How an apply ended. State is committed.
#[derive(Debug)]
pub struct Applied {
    /// What went wrong; no error: everything was done.
    pub diagnostics: Diagnostics,
    /// The state now.
    pub snapshot: Snapshot,
    /// What was added, changed and destroyed.
    pub done: Summary,
    /// Set where it stopped at a safe point with work left.
    pub stopped: Option<Stop>,
}

/// Why it stopped at a safe point with work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The first interrupt.
    Interrupted,
    /// Too many nodes are unavailable for other reasons.
    BudgetUsedUp,
}

/// Applies a plan to the state that was loaded under the same lock. Never fails as a whole: what went wrong is among the
/// diagnostics, and the state says what exists.
///
/// # Errors
/// The journal does not belong to the state, or the state cannot be written: what was done is in the diagnostics, and
/// in the journal as far as that could be written.
pub async fn apply(request: Apply, loaded: &Loaded) -> Result<Applied, Diagnostics> {
    let mut run = Run::new(request, loaded)?;
    run.open().await?;
    run.walk().await;
    run.settle_partial().await;
    run.recover(loaded).await;
    run.outputs();
    run.close().await
}

pub(crate) struct Run {
    pub(crate) request: Apply,
    pub(crate) dag: Dag<Step>,
    pub(crate) ready: Ready,
    pub(crate) evaluation: Evaluation,
    pub(crate) snapshot: Snapshot,
    pub(crate) instances: BTreeMap<ProviderConfigAddr, Arc<dyn Instance>>,
    pub(crate) changes: BTreeMap<ResourceAddr, ResourceChange>,
    /// Changes of objects that earlier runs have deposed.
    pub(crate) of_deposed: BTreeMap<(ResourceAddr, DeposedKey), ResourceChange>,
    pub(crate) operations: BTreeMap<OperationId, Operation>,
    pub(crate) holds: BTreeMap<(ProviderConfigAddr, engine_model::name::NodeName), Hold>,
    /// Names of objects that this run has deposed.
    pub(crate) deposed: BTreeMap<ResourceAddr, DeposedKey>,
    /// Resources some of whose operations were begun.
    pub(crate) begun: BTreeSet<ResourceAddr>,
    /// Resources whose own step has ended.
    pub(crate) settled: BTreeSet<ResourceAddr>,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) done: Summary,
    pub(crate) interrupted: bool,
    /// Set where nothing more may be begun: the journal cannot be written.
    fatal: bool,
    /// Records that are not durable yet.
    records: Vec<Record>,
    tasks: JoinSet<Finished>,
    running: BTreeMap<NodeId, (tokio::task::Id, SystemTime)>,
    resources_running: usize,
    /// Steps for resources that may begin once fewer of them run.
    queued: BTreeSet<NodeId>,
}

/// The program with the clock and chance, which functions must not ask before, and the time of the plan.
fn in_time(request: &Apply) -> Program {
    let mut program = Program::clone(&request.program);
    program.surroundings.plan_timestamp = Some(request.plan.timestamp.as_str().into());
    program.surroundings.host = Some(request.host.clone());
    program
}

impl Run {
    fn new(request: Apply, loaded: &Loaded) -> Result<Self, Diagnostics> {
        let folded = loaded.fold().map_err(|error| {
            Diagnostics::from(Diagnostic::error("The journal does not belong to the state", format!("{error}.")))
        })?;
        let snapshot = folded.unwrap_or_else(|| Snapshot::new(state::Lineage::random(&*request.host)));
        let plan = request.plan.clone();
        let mut dag = Dag::new();
        for step in &plan.graph.steps {
            dag.add(step.clone());
        }
        for (before, after) in &plan.graph.edges {
            dag.edge(NodeId(*before), NodeId(*after));
        }
        let (mut changes, mut of_deposed) = (BTreeMap::new(), BTreeMap::new());
        for change in &plan.changes {
            match &change.deposed {
                Some(key) => drop(of_deposed.insert((change.addr.clone(), key.clone()), change.clone())),
                None => drop(changes.insert(change.addr.clone(), change.clone())),
            }
        }
        Ok(Self {
            ready: Ready::new(&dag),
            dag,
            evaluation: Evaluation::resume(Arc::new(in_time(&request)), &plan),
            snapshot,
            instances: BTreeMap::new(),
            changes,
            of_deposed,
            operations: plan.operations.iter().map(|o| (o.id.clone(), o.clone())).collect(),
            holds: plan.holds.iter().map(|h| ((h.provider.clone(), h.node.clone()), h.clone())).collect(),
            deposed: BTreeMap::new(),
            begun: BTreeSet::new(),
            settled: BTreeSet::new(),
            diagnostics: Diagnostics::new(),
            done: Summary::default(),
            interrupted: false,
            fatal: false,
            records: Vec::new(),
            tasks: JoinSet::new(),
            running: BTreeMap::new(),
            resources_running: 0,
            queued: BTreeSet::new(),
            request,
        })
    }

    pub(crate) fn tell(&self, event: Event) {
        (self.request.events)(event);
    }

    /// The record that makes every later one ours. The clusters that the plan is bound to become the state's (those that
    /// are asked for it only when they have answered: see `settle_configured`), and objects get their new addresses.
    async fn open(&mut self) -> Result<(), Diagnostics> {
        let begin = Begin {
            base: self.snapshot.base(),
            plan: self.request.digest.clone(),
            fence: self.request.fence,
            operation: self.request.operation.clone(),
            who: self.request.who.clone(),
            at: state::timestamp(&*self.request.host),
        };
        self.record(Record::Begin(begin));
        let steps = self.request.plan.graph.steps.iter();
        let configured: BTreeSet<&ProviderConfigAddr> = steps
            .filter_map(|step| match step {
                Step::Configure(provider) => Some(provider),
                _ => None,
            })
            .collect();
        let clusters = self
            .request
            .plan
            .clusters
            .iter()
            .filter(|(provider, cluster)| self.snapshot.clusters.get(provider) != Some(cluster))
            .filter(|(provider, _)| !configured.contains(provider))
            .map(|(provider, cluster)| Effect::Cluster(provider.clone(), cluster.clone()));
        // Whatever is done to an object is then done under its new address.
        let renames = self.changes.values().filter_map(|change| {
            let from = change.previous.clone().filter(|from| self.snapshot.resource(from).is_some())?;
            (from != change.addr).then(|| Effect::Rename { from, to: change.addr.clone() })
        });
        let effects: Vec<Effect> = clusters.chain(renames).collect();
        if !effects.is_empty() {
            self.record(Record::Effects(effects));
        }
        self.flush().await;
        if self.fatal { Err(std::mem::take(&mut self.diagnostics)) } else { Ok(()) }
    }

    async fn walk(&mut self) {
        loop {
            self.start().await;
            if self.tasks.is_empty() {
                return;
            }
            let cancel = self.request.cancel.clone();
            tokio::select! {
                biased;
                Some(first) = self.tasks.join_next_with_id() => self.collect(first).await,
                () = cancel.cancelled(), if !self.interrupted => {
                    self.interrupted = true;
                    self.tell(Event::Interrupted);
                }
            }
        }
    }

    /// Begins everything that may begin. Steps that call nobody end at once and may make more ready; calls are made
    /// only after all their intents are durable, with one flush.
    async fn start(&mut self) {
        let mut calls: Vec<(NodeId, Call)> = Vec::new();
        while !self.interrupted && !self.fatal {
            if self.request.cancel.is_cancelled() {
                self.interrupted = true;
                self.tell(Event::Interrupted);
                break;
            }
            let Some(id) = self.next() else { break };
            match self.begin(id) {
                Begun::Done(effects) => self.ended(id, Ended::Done, effects),
                Begun::Failed(diagnostics) => {
                    let why = describe::first(&diagnostics);
                    self.report_once(diagnostics);
                    self.ended(id, Ended::Failed(why), Vec::new());
                }
                Begun::Call(call, intent) => {
                    self.resources_running += usize::from(self.is_resource(id));
                    self.note(intent);
                    calls.push((id, *call));
                }
            }
        }
        self.flush().await;
        if self.fatal {
            return;
        }
        for (id, call) in calls {
            let step = self.dag.get(id).clone();
            self.tell(Event::StepStart { action: self.action(&step), step: step.clone() });
            let started = self.request.host.now();
            let secrets = self.secrets(&step);
            let env = Environment::new(&self.request, step, started, secrets);
            let task = self.tasks.spawn(call.run(env, id));
            self.running.insert(id, (task.id(), started));
        }
    }

    /// The next step that may begin. Those for resources queue up behind the ones that run, each once, so that the walk
    /// stays linear; those on nodes pass them by.
    fn next(&mut self) -> Option<NodeId> {
        let is_free = self.resources_running < self.request.parallelism.max(1);
        while let Some(id) = self.ready.next_ready() {
            if !self.is_resource(id) {
                return Some(id);
            }
            self.queued.insert(id);
            if is_free {
                break;
            }
        }
        if is_free { self.queued.pop_first() } else { None }
    }

    fn note(&mut self, intent: Option<Box<Intent>>) {
        if let Some(intent) = intent {
            self.record(Record::Intent(intent));
        }
    }

    fn is_resource(&self, id: NodeId) -> bool {
        matches!(self.dag.get(id), Step::Create(_) | Step::Update(_) | Step::Delete(..) | Step::Read(_))
    }

    /// Takes in everything that has ended by now: their results are one flush.
    async fn collect(&mut self, first: Result<(tokio::task::Id, Finished), tokio::task::JoinError>) {
        let mut next = Some(first);
        while let Some(joined) = next {
            match joined {
                Ok((_, finished)) => self.finish(finished),
                Err(error) => self.lost(&error),
            }
            next = self.tasks.try_join_next_with_id();
        }
        self.flush().await;
    }

    fn finish(&mut self, finished: Finished) {
        let id = finished.id;
        let started = self.running.remove(&id).map(|(_, started)| started);
        self.resources_running -= usize::from(self.is_resource(id));
        let (ended, effects, object) = self.settle(finished);
        let elapsed = started.and_then(|s| self.request.host.now().duration_since(s).ok()).unwrap_or_default();
        let step = self.dag.get(id).clone();
        match &ended {
            Ended::Done => self.tell(Event::StepDone { step, elapsed, id: object }),
            Ended::Failed(_) | Ended::Interrupted => self.tell(Event::StepFailed { step, elapsed }),
        }
        self.ended(id, ended, effects);
    }

    /// A call that ended without an answer is a fault of ours. Its intent stays open, so the next run asks.
    fn lost(&mut self, error: &tokio::task::JoinError) {
        let found = self.running.iter().find(|(_, (task, _))| *task == error.id()).map(|(id, _)| *id);
        let Some(id) = found else { return };
        self.running.remove(&id);
        self.resources_running -= usize::from(self.is_resource(id));
        let what = describe::step(self.dag.get(id));
        self.diagnostics.push(
            Diagnostic::error("A step ended without an answer", format!("{what}: {error}."))
                .hint("This is a fault of Sliceform. The next plan finds out what became of the step."),
        );
        self.fail(id);
    }

    /// Records how a step ended, and lets go of what waited for it.
    fn ended(&mut self, id: NodeId, ended: Ended, effects: Vec<Effect>) {
        let step = self.dag.get(id).clone();
        let is_done = ended == Ended::Done;
        if is_done {
            self.count(&step);
        }
        if !matches!(step, Step::Group(_) | Step::Configure(_)) {
            self.record(Record::Result(StepResult { step, ended, effects }));
        }
        if is_done { self.ready.done(&self.dag, id) } else { self.fail(id) }
    }

    fn fail(&mut self, id: NodeId) {
        for skipped in self.ready.fail(&self.dag, id) {
            let step = self.dag.get(skipped).clone();
            if !matches!(step, Step::Group(_)) {
                self.tell(Event::StepSkipped { step });
            }
        }
    }

    fn count(&mut self, step: &Step) {
        match step {
            Step::Create(_) => self.done.add += 1,
            Step::Update(_) => self.done.change += 1,
            Step::Delete(..) => self.done.destroy += 1,
            _ => {}
        }
    }

    /// What a record does to the state is done at once; it is durable after the next flush.
    pub(crate) fn record(&mut self, record: Record) {
        if let Err(error) = self.snapshot.apply_record(&record) {
            // Effects are made from this very snapshot, so they fit it.
            self.diagnostics.push(Diagnostic::error("The state cannot take in a result", format!("{error}.")));
        }
        self.records.push(record);
    }

    pub(crate) async fn flush(&mut self) {
        if self.records.is_empty() || self.fatal {
            return;
        }
        let records = std::mem::take(&mut self.records);
        if let Err(error) = self.request.store.append(&records, self.request.fence).await {
            self.fatal = true;
            self.diagnostics.push(cannot_write(&error));
        }
    }

    /// Outputs of the root module, as far as they are known. Those whose inputs failed, or that are wrong themselves, stay
    /// as they were.
    fn outputs(&mut self) {
        let (mut effects, mut wrong) = (Vec::new(), Diagnostics::new());
        let names: Vec<Arc<str>> = self.request.plan.outputs.keys().cloned().collect();
        for name in names {
            let output = self.request.plan.outputs[&name].clone();
            if output.action == engine_model::change::Action::Delete {
                effects.push(Effect::NoOutput(name));
                continue;
            }
            match self.evaluation.output(&name) {
                Ok(value) => effects.extend(crate::stored::output(&self.snapshot, name, value, output.sensitive)),
                Err(Stopped::Blocked(_)) => {}
                Err(Stopped::Failed(why)) => wrong.extend(why),
            }
        }
        if !effects.is_empty() {
            self.record(Record::Effects(effects));
        }
        self.report_once(wrong);
    }

    /// What is wrong with an expression comes again with every step and output behind it.
    fn report_once(&mut self, diagnostics: Diagnostics) {
        for diagnostic in diagnostics {
            if !self.diagnostics.iter().any(|told| *told == diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    async fn close(mut self) -> Result<Applied, Diagnostics> {
        self.flush().await;
        if !self.fatal {
            match self.request.store.commit(&self.snapshot, self.request.fence).await {
                Ok(serial) => self.snapshot.serial = serial,
                Err(error) => {
                    self.fatal = true;
                    self.diagnostics.push(cannot_write(&error));
                }
            }
        }
        if self.fatal {
            self.diagnostics.extend(still_held(&self.snapshot));
            return Err(self.diagnostics);
        }
        // An interrupt that came when everything had begun, and all of it was done, has stopped nothing.
        let is_done = self.dag.nodes().all(|(id, _)| self.ready.standing(id) == Standing::Done);
        let stopped = (self.interrupted && !is_done).then_some(Stop::Interrupted);
        Ok(Applied { diagnostics: self.diagnostics, snapshot: self.snapshot, done: self.done, stopped })
    }
}

/// Where the state cannot say it, nobody else would.
fn still_held(snapshot: &Snapshot) -> Option<Diagnostic> {
    let nodes: Vec<&str> = snapshot.held.keys().map(|(_, node)| node.as_str()).collect();
    if nodes.is_empty() {
        return None;
    }
    let detail = format!("These nodes have a taint that keeps new pods away: {}.", nodes.join(", "));
    Some(Diagnostic::warning("Nodes are still held", detail).hint("Make the state writable, then run apply to go on."))
}

pub(crate) fn cannot_write(error: &WriteError) -> Diagnostic {
    Diagnostic::error("The state cannot be written", sentence(&chain(error))).hint(
        "Nothing more was begun. What was done is on the cluster and may be missing in the state: the next plan reads it \
         again and shows the difference.",
    )
}
