//! A sandbox that this process runs: API server, cluster, agents, over one world.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine_model::host::Host;
use jiff::Timestamp;
use providers_agent_api::{GROUP, LEASE_NAMESPACE};
use providers_kubernetes::ConnectionOverride;
use providers_simulator::SharedFleet;

use crate::agents::{self, Agents};
use crate::api::{AgentRules, Api, Clock, Rbac, Running, Server, Setup, User};
use crate::cluster::Duty;
use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::fleet::AgentState;
use crate::motion::Motion;
use crate::sandbox::Options;
use crate::world::World;
use crate::{furnish, holder};

/// See the module.
pub(crate) struct Embedded {
    dir: PathBuf,
    motion: Motion,
    /// Taken when it is closed.
    server: Option<Running>,
}

/// The API's clock.
struct HostClock(Arc<dyn Host>);

impl Clock for HostClock {
    fn now(&self) -> Timestamp {
        Timestamp::try_from(self.0.now()).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

fn agent_rules() -> AgentRules<Rbac> {
    AgentRules {
        group: GROUP.to_owned(),
        plural: "gpunodes".to_owned(),
        lease_namespace: LEASE_NAMESPACE.to_owned(),
        others: Rbac,
    }
}

/// Whoever has opened the sandbox.
pub(crate) fn administrator() -> User {
    User::admin("sliceform")
}

impl Embedded {
    /// Starts everything over a world, and waits until every agent has reported.
    pub(crate) async fn start(dir: &Path, world: World, options: &Options) -> Result<Self, SandboxError> {
        holder::write(dir, &options.command);
        let setup = Setup {
            seed: world.origin.seed,
            clock: Arc::new(HostClock(options.host.clone())),
            authorizer: Arc::new(agent_rules()),
            admission: vec![Arc::new(agent_rules())],
            graceful_pods: true,
        };
        let server = Server::start(world.store.clone(), setup).await?;
        let api = server.api();
        furnish::define(&**api)?;
        if !world.origin.complete {
            furnish::objects(&**api, &world.origin.fleet)?;
            world.origin.fleet.pods.iter().try_for_each(|pod| furnish::pod(&**api, pod))?;
        }
        let connect = |node: &str| agents::connection(&server, &User::agent(node));
        let motion = Motion::begin(dir, world, options, Duty::Cluster, api.clone(), connect)?;
        let mut embedded = Self { dir: dir.to_owned(), motion, server: Some(server) };
        embedded.motion.start_agents(options.ready_timeout).await?;
        embedded.api().calls().take();
        Ok(embedded)
    }

    /// Returns when the cluster has nothing to do and every agent that runs has reported how it is.
    pub(crate) async fn settle(&self, patience: Duration) -> Result<(), SandboxError> {
        self.motion.settle(patience).await
    }

    pub(crate) fn server(&self) -> &Running {
        self.server.as_ref().expect("the server is there until the sandbox is closed, which takes it")
    }

    pub(crate) fn connection(&self) -> ConnectionOverride {
        self.connection_of(&administrator())
    }

    pub(crate) fn connection_of(&self, user: &User) -> ConnectionOverride {
        agents::connection(self.server(), user)
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.server().kubeconfig(&administrator())
    }

    /// Nodes without an agent, each with the kubeconfig of one.
    pub(crate) fn absent_agents(&self) -> Vec<(String, String)> {
        let nodes = self.motion.nodes(AgentState::Absent).into_iter();
        nodes.map(|node| (node.clone(), self.server().kubeconfig(&User::agent(&node)))).collect()
    }

    /// What others need to join it.
    pub(crate) fn endpoint(&self) -> Endpoint {
        let server = self.server();
        Endpoint {
            server: server.url(),
            authority: server.ca_pem(),
            token: server.token(&administrator()),
            kubeconfig: self.kubeconfig(),
            fleet: self.motion.world.origin.name.clone(),
            fleet_digest: self.motion.world.origin.fleet.digest(),
        }
    }

    pub(crate) fn api(&self) -> &Api {
        self.server().api()
    }

    pub(crate) fn hardware(&self) -> &SharedFleet {
        self.motion.hardware()
    }

    pub(crate) fn agents(&self) -> &Agents {
        self.motion.agents()
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.motion.pass(time);
    }

    pub(crate) fn set_ready(&self, node: &str, ready: bool) {
        self.motion.set_ready(node, ready);
    }

    /// Stops agents, cluster and server in this order, and keeps the time.
    pub(crate) async fn close(mut self) -> Result<(), SandboxError> {
        self.motion.stop().await;
        if let Some(server) = self.server.take() {
            server.shutdown().await;
        }
        holder::remove(&self.dir);
        self.motion.keep()
    }
}
