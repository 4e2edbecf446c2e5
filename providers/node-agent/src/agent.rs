//! The loop: watch the one object, beat, act, report.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use engine_model::{
    host::Host,
    name::{GpuUuid, NodeName},
};
use futures::{Stream, StreamExt};
use kube::{
    Api, Client,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use providers_agent_api::{
    GpuNode, GpuNodeSpec, GpuNodeStatus, Gpus, HEARTBEAT_INTERVAL, Inventory, OperationPhase, OperationSpec,
    OperationStatus, PodDevice, PodDevices,
};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    Attention, heartbeat,
    journal::{Journal, JournalError, Memory},
    operation, status,
};

/// The agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The API server refuses or does not answer.
    #[error("cannot reach the API server for node {node}")]
    Api {
        /// The agent's node.
        node: NodeName,
        /// Why.
        source: Box<kube::Error>,
    },
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The agent of one node. Its asynchronous methods take `&mut self`: the cards may be used from one thread at a time, and
/// so the agent as a whole may move to another thread but not be shared.
pub struct Agent {
    /// A client with the agent's own identity.
    pub client: Client,
    /// Its node.
    pub node: NodeName,
    /// The cards.
    pub gpus: Box<dyn Gpus>,
    /// Who has which device.
    pub pods: Arc<dyn PodDevices>,
    /// Its memory.
    pub journal: Journal,
    /// The clock.
    pub host: Arc<dyn Host>,
    /// By which others in this process make it look at once.
    pub attention: Attention,
}

/// What the agent has last written: nothing is written twice.
#[derive(Default)]
struct Known {
    memory: Memory,
    /// Whether it is known if the node was restarted: the driver may answer only some time after the agent has started.
    looked: bool,
    status: Option<GpuNodeStatus>,
}

impl Agent {
    /// Runs until it is cancelled. Creates its own object where there is none, without a spec.
    ///
    /// # Errors
    /// The API server refuses what the agent may do by its own role, or the journal cannot be used. What goes away by
    /// itself is tried again at the next heartbeat.
    pub async fn run(mut self, cancel: CancellationToken) -> Result<(), AgentError> {
        let nodes: Api<GpuNode> = Api::all(self.client.clone());
        let mut known = Known { memory: self.journal.load()?, ..Known::default() };
        let mut calls = self.attention.calls();
        let call = *calls.borrow_and_update();
        let object = self.own_object(&nodes).await?;
        known.status = object.status.clone();
        self.beat().await?;
        self.act(&nodes, &object, &mut known).await?;
        self.attention.answer(call);
        let config = watcher::Config::default().fields(&format!("metadata.name={}", self.node));
        let changes = watcher(nodes.clone(), config).default_backoff().applied_objects();
        self.follow(&nodes, object, Box::pin(changes), calls, &mut known, &cancel).await
    }

    async fn follow(
        &mut self,
        nodes: &Api<GpuNode>,
        mut latest: GpuNode,
        mut changes: impl Stream<Item = watcher::Result<GpuNode>> + Unpin,
        mut calls: watch::Receiver<u64>,
        known: &mut Known,
        cancel: &CancellationToken,
    ) -> Result<(), AgentError> {
        let mut beats = tokio::time::interval(HEARTBEAT_INTERVAL);
        beats.reset();
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                _ = beats.tick() => {
                    // A lost heartbeat is what the limit is for: the next one comes in time.
                    let _ = self.beat().await;
                    self.act(nodes, &latest, known).await?;
                }
                Ok(()) = calls.changed() => {
                    let call = *calls.borrow_and_update();
                    self.act(nodes, &latest, known).await?;
                    self.attention.answer(call);
                }
                change = changes.next() => match change {
                    Some(Ok(object)) => {
                        self.act(nodes, &object, known).await?;
                        latest = object;
                    }
                    // The watcher itself starts again, later each time.
                    Some(Err(_)) => {}
                    None => return Ok(()),
                },
            }
        }
    }

    fn api(&self, source: kube::Error) -> AgentError {
        AgentError::Api { node: self.node.clone(), source: Box::new(source) }
    }

    async fn beat(&mut self) -> Result<(), AgentError> {
        heartbeat::beat(&self.client, &self.node, &*self.host).await.map_err(|e| self.api(e))
    }

    async fn own_object(&mut self, nodes: &Api<GpuNode>) -> Result<GpuNode, AgentError> {
        if let Some(object) = nodes.get_opt(self.node.as_str()).await.map_err(|e| self.api(e))? {
            return Ok(object);
        }
        let metadata = ObjectMeta { name: Some(self.node.to_string()), ..ObjectMeta::default() };
        let object = GpuNode { metadata, spec: GpuNodeSpec::default(), status: None };
        nodes.create(&PostParams::default(), &object).await.map_err(|e| self.api(e))
    }

    /// Everything, read anew. An error is what the status says then.
    async fn read(&mut self) -> Result<(Inventory, Vec<PodDevice>), String> {
        let inventory = self.gpus.inventory().map_err(|e| e.to_string())?;
        let pods = self.pods.list().await.map_err(|e| e.to_string())?;
        Ok((inventory, pods))
    }

    /// A node that was restarted since the last status gets its approved layout again, where nothing is in use.
    async fn restore(&mut self, object: &GpuNode, known: &mut Known) {
        if known.looked {
            return;
        }
        let Ok((inventory, pods)) = self.read().await else { return };
        known.looked = true;
        let before = known.status.as_ref().map(|status| status.boot_id.as_str()).unwrap_or_default();
        if before.is_empty() || before == inventory.boot_id {
            return;
        }
        let mut failed: BTreeSet<GpuUuid> = BTreeSet::new();
        let last = known.status.as_ref().and_then(|status| status.operation.as_ref());
        for step in operation::restore(&operation::accepted(&object.spec, last), &inventory, &pods) {
            // A card that cannot be restored is drift, which the next plan shows with its reason.
            if !failed.contains(step.card()) && operation::run(&mut *self.gpus, &step, true).is_err() {
                failed.insert(step.card().clone());
            }
        }
    }

    /// Restores what a restart of the node has taken away, acts on an operation that is new, then reports.
    async fn act(&mut self, nodes: &Api<GpuNode>, object: &GpuNode, known: &mut Known) -> Result<(), AgentError> {
        self.restore(object, known).await;
        let reported = known.status.as_ref().and_then(|status| status.operation.clone());
        let mut last = reported.clone();
        if let Some(spec) = &object.spec.operation {
            let finished = reported.as_ref().is_some_and(|o| o.id == spec.id && o.phase != OperationPhase::Running);
            if !finished {
                last = Some(self.operate(nodes, object, spec, known).await?);
            }
        }
        self.report(nodes, object, last, known).await
    }

    async fn operate(
        &mut self,
        nodes: &Api<GpuNode>,
        object: &GpuNode,
        spec: &OperationSpec,
        known: &mut Known,
    ) -> Result<OperationStatus, AgentError> {
        // What was begun before a crash may have changed something.
        let begun = known.memory.begun.as_ref() == Some(&spec.id);
        let no = if begun { OperationPhase::Failed } else { OperationPhase::Refused };
        let refused = |why: String| operation::phase(&spec.id, no, 0, 0, why);
        let (inventory, pods) = match self.read().await {
            Ok(read) => read,
            Err(why) => return Ok(refused(why)),
        };
        let steps = match operation::check(spec, &inventory, &pods, &known.memory) {
            Ok(steps) => steps,
            Err(why) => return Ok(refused(why)),
        };
        known.memory = Memory { begun: Some(spec.id.clone()), fence: spec.fence };
        self.journal.store(&known.memory)?;
        let index = |card| inventory.cards.iter().find(|c| &c.uuid == card).map_or(0, |c| c.index);
        for (done, step) in steps.iter().enumerate() {
            let doing = step.describe(index(step.card()));
            let running = operation::phase(&spec.id, OperationPhase::Running, done, steps.len(), doing.clone());
            self.report(nodes, object, Some(running), known).await?;
            // Many resets take longer than the limit of a heartbeat.
            let _ = self.beat().await;
            if let Err(error) = operation::run(&mut *self.gpus, step, spec.allow_reset) {
                let why = format!("{doing}: {error}");
                return Ok(operation::phase(&spec.id, OperationPhase::Failed, done, steps.len(), why));
            }
        }
        Ok(operation::phase(&spec.id, OperationPhase::Succeeded, steps.len(), steps.len(), String::new()))
    }

    /// Writes the status, where it says something new.
    async fn report(
        &mut self,
        nodes: &Api<GpuNode>,
        object: &GpuNode,
        operation: Option<OperationStatus>,
        known: &mut Known,
    ) -> Result<(), AgentError> {
        let mut status = match self.read().await {
            Ok((inventory, pods)) => status::observed(&inventory, &pods),
            Err(why) => {
                let last = known.status.clone().unwrap_or_default();
                GpuNodeStatus { last_error: Some(why), ..last }
            }
        };
        status.operation = operation;
        status.fence = known.memory.fence;
        status.observed_generation = object.metadata.generation.unwrap_or_default();
        if known.status.as_ref() == Some(&status) {
            return Ok(());
        }
        self.write(nodes, &status).await?;
        known.status = Some(status);
        Ok(())
    }

    /// A merge patch without the object's version: nobody else writes this status. `null` takes away what is gone.
    async fn write(&mut self, nodes: &Api<GpuNode>, status: &GpuNodeStatus) -> Result<(), AgentError> {
        let mut value = serde_json::to_value(status).expect("a status has only text keys, so it is always JSON");
        for gone in ["operation", "lastError"] {
            if value.get(gone).is_none() {
                value[gone] = serde_json::Value::Null;
            }
        }
        let patch = json!({ "status": value });
        let mut tries = 0;
        loop {
            let written = nodes.patch_status(self.node.as_str(), &PatchParams::default(), &Patch::Merge(&patch)).await;
            match written {
                Ok(_) => return Ok(()),
                Err(kube::Error::Api(error)) if error.code < 500 && error.code != 429 => {
                    return Err(self.api(kube::Error::Api(error)));
                }
                Err(error) if tries >= WRITE_TRIES => return Err(self.api(error)),
                Err(_) => {
                    tries += 1;
                    tokio::time::sleep(WRITE_DELAY * tries).await;
                }
            }
        }
    }
}

/// An API server that restarts is back within half a minute; the agent itself is restarted by the kubelet after that.
const WRITE_TRIES: u32 = 7;

/// Before the second try; grows by itself each time, so that the last is made after 28 s.
const WRITE_DELAY: Duration = Duration::from_secs(1);
