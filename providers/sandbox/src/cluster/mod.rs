//! What moves in a cluster besides its API: device plugin, GPU feature discovery, scheduler, kubelets; and the commands
//! that people run on nodes.
//!
//! One task follows the store's changes and acts on what they concern, with the rights of the part that it plays. It
//! keeps nothing that cannot be read from the store again, so it may be cut off at any instant. Not here: preemption,
//! eviction by taints.

mod advertise;
mod alarms;
mod api_server;
mod containers;
mod events;
mod execution;
mod fit;
mod hands;
mod kubelet;
mod labels;
mod pod;
mod schedule;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine_model::host::Host;
use providers_simulator::SharedFleet;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use alarms::Alarms;
pub(crate) use api_server::ApiServer;
pub(crate) use execution::definition as execution_definition;
pub(crate) use execution::{GROUP_VERSION, KIND};
use hands::Hands;

use crate::agents::Agents;
use crate::names::record;
use crate::store::{Change, ChangeKind, Feed, Key, Revision, Store};
use crate::world::{self, Trouble, WorldClock};
use workloads::Retries;

/// How often kubelets say that they live, as the real ones do.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Namespace and name of a pod.
pub(crate) type PodName = (Arc<str>, Arc<str>);

/// Which kubelets work. Shared with whoever writes the script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kubelets(Arc<Mutex<BTreeSet<String>>>);

impl Kubelets {
    pub(crate) fn all_but(stopped: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(Mutex::new(stopped.into_iter().collect())))
    }

    pub(crate) fn works(&self, node: &str) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(node)
    }

    pub(crate) fn set(&self, node: &str, works: bool) {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if works {
            stopped.remove(node)
        } else {
            stopped.insert(node.to_owned())
        };
    }
}

/// What is done here of a cluster's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// All of it.
    Cluster,
    /// That of its nodes. Somebody else schedules, looks after workloads and forgets events.
    Nodes,
}

/// What the parts of a cluster share.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) api: Arc<dyn ApiServer>,
    pub(crate) duty: Duty,
    pub(crate) store: Arc<Store>,
    pub(crate) hardware: SharedFleet,
    pub(crate) clock: WorldClock,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) kubelets: Kubelets,
    pub(crate) trouble: Trouble,
}

/// How others wait for a cluster and wake it.
#[derive(Clone)]
pub(crate) struct Pulse {
    store: Arc<Store>,
    /// Up to where everything has been acted upon.
    seen: Arc<watch::Sender<Revision>>,
    wake: Arc<Notify>,
}

impl Pulse {
    /// Returns when nothing is left to be done. Somebody who keeps writing keeps it from returning: bound it.
    pub(crate) async fn settled(&self) {
        let mut seen = self.seen.subscribe();
        loop {
            let now = self.store.read().revision();
            if *seen.borrow_and_update() >= now {
                return;
            }
            // Cannot fail: `self` holds the sender.
            let _ = seen.changed().await;
        }
    }

    /// Makes the cluster look at its nodes and at the time.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }
}

/// The task.
pub(crate) struct Cluster {
    ground: Ground,
    hands: Hands,
    pulse: Pulse,
    feed: Feed,
    /// Pods without a node.
    waiting: BTreeSet<PodName>,
    /// Nodes of pods, and pods of nodes.
    node_of: BTreeMap<PodName, Arc<str>>,
    pods_of: BTreeMap<Arc<str>, BTreeSet<PodName>>,
    alarms: Alarms<PodName>,
    workload_alarms: Alarms<Key>,
    retries: Retries,
    work: Work,
    /// Commands that have been run and are not forgotten yet: never twice.
    executed: BTreeSet<Arc<str>>,
    /// Answers to commands that wait to be noticed.
    tasks: JoinSet<()>,
}

/// What the last changes concern.
#[derive(Default)]
struct Work {
    nodes: BTreeSet<Arc<str>>,
    pods: BTreeSet<PodName>,
    /// Something has changed that may let a waiting pod in.
    schedule: bool,
    executions: BTreeSet<Arc<str>>,
    /// Replica sets, deployments and jobs of which something has changed.
    workloads: BTreeSet<Key>,
}

impl Cluster {
    /// A cluster that begins with everything there is.
    pub(crate) fn new(ground: Ground) -> (Self, Pulse) {
        let store = ground.store.clone();
        let pulse = Pulse { store, seen: Arc::new(watch::Sender::new(Revision(0))), wake: Arc::new(Notify::new()) };
        let hands = Hands::new(ground.api.clone(), ground.trouble.clone());
        let feed = subscribe(&ground.store);
        let mut cluster = Self {
            ground,
            hands,
            pulse: pulse.clone(),
            feed,
            waiting: BTreeSet::new(),
            node_of: BTreeMap::new(),
            pods_of: BTreeMap::new(),
            alarms: Alarms::default(),
            workload_alarms: Alarms::default(),
            retries: Retries::default(),
            work: Work::default(),
            executed: BTreeSet::new(),
            tasks: JoinSet::new(),
        };
        cluster.forget_executions();
        cluster.begin();
        (cluster, pulse)
    }

    /// Runs until it is cancelled.
    pub(crate) async fn run(mut self, cancel: CancellationToken) {
        let mut beats = tokio::time::interval(HEARTBEAT);
        loop {
            let next = [self.alarms.next(), self.workload_alarms.next()].into_iter().flatten().min();
            let due = next.map(|due| self.ground.clock.instant(due));
            let due_time = async {
                match due {
                    Some(instant) => tokio::time::sleep_until(instant).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return self.tasks.shutdown().await,
                Some(_) = self.tasks.join_next() => continue,
                changes = self.feed.next() => match changes {
                    Ok(changes) => changes.iter().for_each(|change| self.follow(change)),
                    Err(_) => self.begin_again(),
                },
                () = due_time => {}
                () = self.pulse.wake.notified() => {
                    self.all_nodes();
                    self.work.pods.extend(self.node_of.keys().cloned());
                }
                _ = beats.tick() => self.beat(),
            }
            self.act();
            self.pulse.seen.send_replace(self.feed.position());
        }
    }

    /// Too much has happened to follow it.
    fn begin_again(&mut self) {
        self.feed = subscribe(&self.ground.store);
        self.waiting.clear();
        self.node_of.clear();
        self.pods_of.clear();
        self.alarms = Alarms::default();
        self.workload_alarms = Alarms::default();
        self.begin();
    }

    /// Everything there is may need something.
    fn begin(&mut self) {
        let (pods, executions): (Vec<Arc<Value>>, Vec<Arc<str>>) = {
            let read = self.ground.store.read();
            let pods = read.list("pods").map(|(_, pod)| pod.clone()).collect();
            let workloads = workloads::RESOURCES.iter().flat_map(|resource| read.list(resource));
            self.work.workloads.extend(workloads.map(|(key, _)| key.clone()));
            (pods, read.list(execution::RESOURCE).map(|(key, _)| key.name.clone()).collect())
        };
        for pod in &pods {
            self.follow_pod(pod);
        }
        self.work.executions.extend(executions);
        self.release_strangers();
        self.all_nodes();
    }

    fn all_nodes(&mut self) {
        let names: Vec<Arc<str>> =
            self.ground.hardware.read(|fleet| fleet.nodes.keys().map(|name| name.as_str().into()).collect());
        self.work.nodes.extend(names);
        self.work.schedule = true;
    }

    fn follow(&mut self, change: &Change) {
        self.work.workloads.extend(workloads::concerned(&change.key, &change.object));
        let Key { resource, name, .. } = &change.key;
        match (resource.as_ref(), change.kind) {
            ("pods", ChangeKind::Deleted) => self.forget_pod(&change.object),
            ("pods", _) => self.follow_pod(&change.object),
            ("nodes", ChangeKind::Deleted) => {}
            ("nodes", _) => self.work.schedule = true,
            (record::HARDWARE, _) => {
                self.work.nodes.insert(name.clone());
                // The driver tells nobody, but whoever cut the card by hand expects the next plan to know.
                self.ground.agents.call(name);
            }
            (execution::RESOURCE, ChangeKind::Added) => {
                self.work.executions.insert(name.clone());
            }
            (execution::RESOURCE, ChangeKind::Deleted) => {
                self.executed.remove(name);
            }
            _ => {}
        }
    }

    fn follow_pod(&mut self, pod: &Value) {
        let name = pod::name(pod);
        let node = pod::node(pod);
        if node.is_empty() {
            if pod::is_over(pod) || pod::is_terminating(pod) {
                self.waiting.remove(&name);
            } else {
                self.work.schedule |= self.waiting.insert(name);
            }
            return;
        }
        self.waiting.remove(&name);
        let node: Arc<str> = node.into();
        self.node_of.insert(name.clone(), node.clone());
        self.pods_of.entry(node).or_default().insert(name.clone());
        if pod::is_over(pod) {
            self.work.schedule = true;
        }
        self.work.pods.insert(name);
    }

    fn forget_pod(&mut self, pod: &Value) {
        let name = pod::name(pod);
        self.waiting.remove(&name);
        self.alarms.remove(&name);
        self.work.pods.remove(&name);
        self.forget_times(&name.0, &format!("pods/{}", name.1));
        if let Some(node) = self.node_of.remove(&name) {
            if let Some(pods) = self.pods_of.get_mut(&node) {
                pods.remove(&name);
            }
            self.release(&node, &name);
            self.work.schedule = true;
        }
    }

    /// Does what there is to be done. What comes of it is in the next changes.
    fn act(&mut self) {
        let work = std::mem::take(&mut self.work);
        for node in &work.nodes {
            self.advertise(node);
        }
        let mut pods = work.pods;
        pods.extend(self.alarms.take(self.ground.clock.now_ms()));
        for name in &pods {
            self.tend(name);
        }
        let is_all = self.ground.duty == Duty::Cluster;
        if work.schedule && is_all {
            self.schedule();
        }
        for name in &work.executions {
            self.execute(name);
        }
        if !is_all {
            return;
        }
        let mut workloads = work.workloads;
        workloads.extend(self.workload_alarms.take(self.ground.clock.now_ms()));
        let deployments = self.deployments_of(&workloads);
        workloads.extend(deployments);
        for key in &workloads {
            self.reconcile(key);
        }
    }

    fn beat(&mut self) {
        let nodes: Vec<String> = self.ground.hardware.read(|fleet| fleet.nodes.keys().cloned().collect());
        for node in nodes.iter().filter(|node| self.ground.kubelets.works(node)) {
            self.renew_lease(node);
        }
        if self.ground.duty == Duty::Cluster {
            self.forget_events();
        }
        if let Err(error) = world::keep_time(&self.ground.store, &self.ground.clock) {
            self.ground.trouble.report(format!("the world's time could not be recorded: {error}"));
        }
    }
}

fn subscribe(store: &Arc<Store>) -> Feed {
    loop {
        let now = store.read().revision();
        // Fails only if more was written in between than the store remembers.
        if let Ok(feed) = store.subscribe(now) {
            return feed;
        }
    }
}
