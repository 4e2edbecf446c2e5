//! The agents of the fleet: the real agent's library, each with a client and an identity of its own, over simulated cards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use engine_diag::chain;
use engine_model::host::Host;
use engine_model::name::NodeName;
use providers_agent_api::HEARTBEAT_LIMIT;
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Secret};
use providers_node_agent::{Agent, Attention, Journal};
use providers_simulator::{SharedFleet, SimulatedGpus, SimulatedPods};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api::{Running, User};
use crate::error::SandboxError;

/// A kubelet starts a pod that has ended again; the first time after this.
const RESTART: Duration = Duration::from_secs(1);

/// An agent stops at the end of a step. A step takes as long as a script makes it; nobody waits for one that is longer.
const STOP: Duration = Duration::from_secs(5);

/// All agents.
pub(crate) struct Agents {
    /// By node.
    connections: BTreeMap<String, ConnectionOverride>,
    hardware: SharedFleet,
    host: Arc<dyn Host>,
    journals: PathBuf,
    slots: Mutex<BTreeMap<String, Slot>>,
}

/// One agent that runs.
struct Slot {
    attention: Attention,
    stop: CancellationToken,
    task: JoinHandle<()>,
    /// Why it ended the last time.
    ended: Arc<Mutex<Option<String>>>,
}

impl Agents {
    /// None of them runs yet. `connect` gives each the connection of its own identity; `journals` is the folder of their
    /// journals, which exists.
    pub(crate) fn new(
        connect: impl Fn(&str) -> ConnectionOverride,
        hardware: SharedFleet,
        host: Arc<dyn Host>,
        journals: PathBuf,
    ) -> Self {
        let nodes: Vec<String> = hardware.read(|fleet| fleet.nodes.keys().cloned().collect());
        let connections = nodes.into_iter().map(|node| {
            let connection = connect(&node);
            (node, connection)
        });
        Self { connections: connections.collect(), hardware, host, journals, slots: Mutex::new(BTreeMap::new()) }
    }

    /// Starts a node's agent, unless it runs.
    pub(crate) fn start(&self, node: &str) {
        self.start_with(node, self.host.clone());
    }

    /// Runs a node's agent until it has reported once, as if that had been a while ago: it has been down since.
    pub(crate) async fn run_once(&self, node: &str) {
        self.start_with(node, Arc::new(Earlier(self.host.clone())));
        self.look(node).await;
        self.stop(node).await;
    }

    fn start_with(&self, node: &str, host: Arc<dyn Host>) {
        let mut slots = self.slots();
        let Some(connection) = self.connections.get(node).filter(|_| !slots.contains_key(node)) else { return };
        let (attention, stop, ended) = (Attention::default(), CancellationToken::new(), Arc::new(Mutex::new(None)));
        let life = Life {
            connection: connection.clone(),
            node: NodeName::from(node),
            hardware: self.hardware.clone(),
            journal: Journal::new(self.journals.join(format!("{node}.json"))),
            host,
            attention: attention.clone(),
        };
        let task = tokio::spawn(live(life, stop.clone(), ended.clone()));
        slots.insert(node.to_owned(), Slot { attention, stop, task, ended });
    }

    /// Stops a node's agent; its heartbeat grows old from now on.
    pub(crate) async fn stop(&self, node: &str) {
        let slot = self.slots().remove(node);
        if let Some(slot) = slot {
            end(slot).await;
        }
    }

    /// Ends a node's agent where it stands, as a kill does: nothing that it had begun is finished.
    pub(crate) fn kill(&self, node: &str) {
        if let Some(slot) = self.slots().remove(node) {
            slot.task.abort();
        }
    }

    /// Ends a node's agent where it stands and starts it again, as a reboot does.
    pub(crate) fn restart(&self, node: &str) {
        let slot = self.slots().remove(node);
        if let Some(slot) = slot {
            slot.task.abort();
            self.start(node);
        }
    }

    /// Stops all of them.
    pub(crate) async fn stop_all(&self) {
        let slots = std::mem::take(&mut *self.slots());
        slots.values().for_each(|slot| slot.stop.cancel());
        for slot in slots.into_values() {
            end(slot).await;
        }
    }

    /// Ends all of them where they stand.
    pub(crate) fn abort_all(&self) {
        std::mem::take(&mut *self.slots()).into_values().for_each(|slot| slot.task.abort());
    }

    /// Whether a node's agent runs.
    pub(crate) fn runs(&self, node: &str) -> bool {
        self.slots().contains_key(node)
    }

    /// Makes a node's agent look soon.
    pub(crate) fn call(&self, node: &str) {
        if let Some(slot) = self.slots().get(node) {
            slot.attention.call();
        }
    }

    /// Returns when a node's agent has looked and reported after this call. Not at all if it does not run, or cannot:
    /// bound it.
    pub(crate) async fn look(&self, node: &str) {
        let attention = self.slots().get(node).map(|slot| slot.attention.clone());
        match attention {
            Some(attention) => attention.look().await,
            None => std::future::pending().await,
        }
    }

    /// Why a node's agent ended the last time.
    pub(crate) fn ended(&self, node: &str) -> Option<String> {
        let slots = self.slots();
        slots.get(node)?.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of the agents' journals; those of an earlier world are not this one's.
pub(crate) fn prepare_journals(path: &Path, world_is_old: bool) -> Result<(), SandboxError> {
    let failed = |action| move |source| SandboxError::File { action, path: path.to_owned(), source };
    if !world_is_old && path.exists() {
        std::fs::remove_dir_all(path).map_err(failed("remove the folder"))?;
    }
    crate::private::create_dir(path).map_err(failed("create the folder"))
}

/// The connection of a user to a server.
pub(crate) fn connection(server: &Running, user: &User) -> ConnectionOverride {
    ConnectionOverride(ConnectionSettings {
        host: Some(server.url()),
        token: Some(Secret(server.token(user))),
        cluster_ca_certificate: Some(server.ca_pem()),
        ..ConnectionSettings::default()
    })
}

async fn end(slot: Slot) {
    slot.stop.cancel();
    let abort = slot.task.abort_handle();
    if tokio::time::timeout(STOP, slot.task).await.is_err() {
        abort.abort();
    }
}

/// What an agent is made of, as often as it is started.
struct Life {
    connection: ConnectionOverride,
    node: NodeName,
    hardware: SharedFleet,
    journal: Journal,
    host: Arc<dyn Host>,
    attention: Attention,
}

async fn live(life: Life, stop: CancellationToken, ended: Arc<Mutex<Option<String>>>) {
    loop {
        let end = match life.connection.connection().client().await {
            Ok(client) => {
                let agent = Agent {
                    client,
                    node: life.node.clone(),
                    gpus: Box::new(SimulatedGpus::new(life.hardware.clone(), life.node.as_str())),
                    pods: Arc::new(SimulatedPods::new(life.hardware.clone(), life.node.as_str())),
                    journal: life.journal.clone(),
                    host: life.host.clone(),
                    attention: life.attention.clone(),
                };
                agent.run(stop.clone()).await.map_err(|error| chain(&error))
            }
            Err(error) => Err(chain(&error)),
        };
        if stop.is_cancelled() {
            return;
        }
        let why = end.err().unwrap_or_else(|| "it came to its end".to_owned());
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(RESTART) => {}
        }
    }
}

/// A clock that is behind by twice what a heartbeat may be old.
struct Earlier(Arc<dyn Host>);

impl Host for Earlier {
    fn now(&self) -> SystemTime {
        self.0.now().checked_sub(2 * HEARTBEAT_LIMIT).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn random(&self, bytes: &mut [u8]) {
        self.0.random(bytes);
    }
}
