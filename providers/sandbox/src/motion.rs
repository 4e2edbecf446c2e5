//! A world in motion: the task of its cluster, and the agents of its nodes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use providers_kubernetes::ConnectionOverride;
use providers_simulator::SharedFleet;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agents::{self, Agents};
use crate::cluster::{ApiServer, Cluster, Duty, Ground, Kubelets, Pulse};
use crate::error::SandboxError;
use crate::fleet::AgentState;
use crate::sandbox::Options;
use crate::world::{self, World};

/// See the module. Dropped, it ends at once.
pub(crate) struct Motion {
    pub(crate) world: World,
    agents: Arc<Agents>,
    /// Taken when it is stopped.
    cluster: Option<JoinHandle<()>>,
    stop: CancellationToken,
    pulse: Pulse,
    kubelets: Kubelets,
}

impl Motion {
    /// Sets the cluster of a world in motion. Its agents do not run yet: each has the connection that `connect` gives for
    /// its node, and keeps its journal in `dir`.
    pub(crate) fn begin(
        dir: &Path,
        world: World,
        options: &Options,
        duty: Duty,
        api: Arc<dyn ApiServer>,
        connect: impl Fn(&str) -> ConnectionOverride,
    ) -> Result<Self, SandboxError> {
        let journals = dir.join("agents");
        agents::prepare_journals(&journals, world.origin.complete)?;
        let agents = Arc::new(Agents::new(connect, world.hardware.clone(), options.host.clone(), journals));
        let stopped = world.origin.fleet.nodes.iter().filter(|node| !node.ready).map(|node| node.name.clone());
        let kubelets = Kubelets::all_but(stopped);
        let (cluster, pulse) = Cluster::new(Ground {
            api,
            duty,
            store: world.store.clone(),
            hardware: world.hardware.clone(),
            clock: world.clock.clone(),
            host: options.host.clone(),
            agents: agents.clone(),
            kubelets: kubelets.clone(),
            trouble: world.trouble.clone(),
        });
        let stop = CancellationToken::new();
        let cluster = Some(tokio::spawn(cluster.run(stop.clone())));
        Ok(Self { world, agents, cluster, stop, pulse, kubelets })
    }

    /// Starts the agents, and waits until each has reported.
    pub(crate) async fn start_agents(&mut self, patience: Duration) -> Result<(), SandboxError> {
        for node in self.nodes(AgentState::Up) {
            self.agents.start(&node);
        }
        if !self.world.origin.complete {
            let down = self.nodes(AgentState::Down);
            let once = join_all(down.iter().map(|node| self.agents.run_once(node)));
            tokio::time::timeout(patience, once).await.map_err(|_| self.not_ready(patience))?;
            self.world.complete()?;
        }
        self.settle(patience).await
    }

    /// The nodes whose agent is so from the start.
    pub(crate) fn nodes(&self, state: AgentState) -> Vec<String> {
        let nodes = self.world.origin.fleet.nodes.iter().filter(|node| node.agent == state);
        nodes.map(|node| node.name.clone()).collect()
    }

    /// Returns when the cluster has nothing to do and every agent that runs has reported how it is.
    pub(crate) async fn settle(&self, patience: Duration) -> Result<(), SandboxError> {
        let nodes: Vec<String> = self.hardware().read(|fleet| fleet.nodes.keys().cloned().collect());
        let settled = async {
            self.pulse.settled().await;
            join_all(nodes.iter().filter(|node| self.agents.runs(node)).map(|node| self.agents.look(node))).await;
        };
        tokio::time::timeout(patience, settled).await.map_err(|_| self.not_ready(patience))?;
        match self.trouble() {
            Some(trouble) => Err(SandboxError::Failed(trouble.to_owned())),
            None => Ok(()),
        }
    }

    fn not_ready(&self, waited: Duration) -> SandboxError {
        let nodes: Vec<String> = self.hardware().read(|fleet| fleet.nodes.keys().cloned().collect());
        let late =
            nodes.iter().filter_map(|node| Some(format!("the agent of {node} ended: {}", self.agents.ended(node)?)));
        let mut why: Vec<String> = late.collect();
        why.extend(self.trouble().map(str::to_owned));
        if why.is_empty() {
            why.push("the agents have not reported yet".to_owned());
        }
        SandboxError::NotReady { waited, why: why.join("; ") }
    }

    pub(crate) fn hardware(&self) -> &SharedFleet {
        &self.world.hardware
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Lets the world's time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.world.clock.pass(time);
        self.pulse.wake();
    }

    pub(crate) fn set_ready(&self, node: &str, ready: bool) {
        self.kubelets.set(node, ready);
        self.pulse.wake();
    }

    /// The first thing that could not be recorded.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.world.trouble.first()
    }

    /// Stops the agents, then the cluster.
    pub(crate) async fn stop(&mut self) {
        self.agents.stop_all().await;
        self.stop.cancel();
        if let Some(cluster) = self.cluster.take() {
            // A task that panicked is our own bug; the world is as whole as after any other end.
            let _ = cluster.await;
        }
    }

    /// Keeps the time, when everything has stopped.
    pub(crate) fn keep(&self) -> Result<(), SandboxError> {
        let kept = world::keep_time(&self.world.store, &self.world.clock);
        if let Some(trouble) = self.trouble() {
            return Err(SandboxError::Failed(trouble.to_owned()));
        }
        Ok(kept.map_err(world::WorldError::from)?)
    }
}

impl Drop for Motion {
    fn drop(&mut self) {
        self.agents.abort_all();
        self.stop.cancel();
        if let Some(cluster) = &self.cluster {
            cluster.abort();
        }
    }
}
