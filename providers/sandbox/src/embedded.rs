//! A sandbox that this process runs: API server, cluster, agents, over one world.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine_model::host::Host;
use futures::future::join_all;
use http::Method;
use jiff::Timestamp;
use providers_agent_api::{GROUP, LEASE_NAMESPACE};
use providers_kubernetes::ConnectionOverride;
use providers_simulator::SharedFleet;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::agents::{self, Agents};
use crate::api::{AgentRules, Api, Clock, Rbac, Running, Server, Setup, User};
use crate::cluster::{Cluster, Ground, Kubelets, Pulse};
use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::fleet::{self, AgentState, Fleet, PodSpec};
use crate::holder;
use crate::sandbox::Options;
use crate::world::{self, World};

/// See the module.
pub(crate) struct Embedded {
    dir: PathBuf,
    world: World,
    /// Taken when it is closed.
    server: Option<Running>,
    agents: Arc<Agents>,
    cluster: Option<JoinHandle<()>>,
    stop: CancellationToken,
    pulse: Pulse,
    kubelets: Kubelets,
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
        let journals = dir.join("agents");
        prepare_journals(&journals, world.origin.complete)?;
        let setup = Setup {
            seed: world.origin.seed,
            clock: Arc::new(HostClock(options.host.clone())),
            authorizer: Arc::new(agent_rules()),
            admission: vec![Arc::new(agent_rules())],
            graceful_pods: true,
        };
        let server = Server::start(world.store.clone(), setup).await?;
        let agents = Arc::new(Agents::new(&server, world.hardware.clone(), options.host.clone(), journals));
        let stopped = world.origin.fleet.nodes.iter().filter(|node| !node.ready).map(|node| node.name.clone());
        let kubelets = Kubelets::all_but(stopped);
        create(server.api(), &world.origin.fleet, world.origin.complete)?;
        let (cluster, pulse) = Cluster::new(Ground {
            api: server.api().clone(),
            store: world.store.clone(),
            hardware: world.hardware.clone(),
            clock: world.clock.clone(),
            host: options.host.clone(),
            agents: agents.clone(),
            kubelets: kubelets.clone(),
            trouble: world.trouble.clone(),
        });
        let stop = CancellationToken::new();
        let cluster = tokio::spawn(cluster.run(stop.clone()));
        let (dir, server, cluster) = (dir.to_owned(), Some(server), Some(cluster));
        let mut embedded = Self { dir, world, server, agents, cluster, stop, pulse, kubelets };
        embedded.begin(options.ready_timeout).await?;
        embedded.api().calls().take();
        Ok(embedded)
    }

    async fn begin(&mut self, patience: Duration) -> Result<(), SandboxError> {
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

    fn nodes(&self, state: AgentState) -> Vec<String> {
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
        match self.world.trouble.first() {
            Some(trouble) => Err(SandboxError::Failed(trouble.to_owned())),
            None => Ok(()),
        }
    }

    fn not_ready(&self, waited: Duration) -> SandboxError {
        let nodes: Vec<String> = self.hardware().read(|fleet| fleet.nodes.keys().cloned().collect());
        let late =
            nodes.iter().filter_map(|node| Some(format!("the agent of {node} ended: {}", self.agents.ended(node)?)));
        let mut why: Vec<String> = late.collect();
        why.extend(self.world.trouble.first().map(str::to_owned));
        if why.is_empty() {
            why.push("the agents have not reported yet".to_owned());
        }
        SandboxError::NotReady { waited, why: why.join("; ") }
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
        let nodes = self.nodes(AgentState::Absent).into_iter();
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
            fleet: self.world.origin.name.clone(),
            fleet_digest: self.world.origin.fleet.digest(),
        }
    }

    pub(crate) fn api(&self) -> &Api {
        self.server().api()
    }

    pub(crate) fn hardware(&self) -> &SharedFleet {
        &self.world.hardware
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.agents
    }

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

    /// Stops agents, cluster and server in this order, and keeps the time.
    pub(crate) async fn close(mut self) -> Result<(), SandboxError> {
        self.agents.stop_all().await;
        self.stop.cancel();
        if let Some(cluster) = self.cluster.take() {
            // A task that panicked is our own bug; the world is as whole as after any other end.
            let _ = cluster.await;
        }
        if let Some(server) = self.server.take() {
            server.shutdown().await;
        }
        let kept = world::keep_time(&self.world.store, &self.world.clock);
        holder::remove(&self.dir);
        if let Some(trouble) = self.trouble() {
            return Err(SandboxError::Failed(trouble.to_owned()));
        }
        Ok(kept.map_err(world::WorldError::from)?)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.agents.abort_all();
        self.stop.cancel();
        if let Some(cluster) = &self.cluster {
            cluster.abort();
        }
    }
}

/// The folder of the agents' journals; those of an earlier world are not this one's.
fn prepare_journals(path: &Path, world_is_old: bool) -> Result<(), SandboxError> {
    let failed = |action| move |source| SandboxError::File { action, path: path.to_owned(), source };
    if !world_is_old && path.exists() {
        fs::remove_dir_all(path).map_err(failed("remove the folder"))?;
    }
    crate::private::create_dir(path).map_err(failed("create the folder"))
}

/// Makes the objects of the fleet, as far as they are not there.
fn create(api: &Api, fleet: &Fleet, is_complete: bool) -> Result<(), SandboxError> {
    for (path, object) in fleet::definitions() {
        put(api, &path, &object)?;
    }
    if is_complete {
        return Ok(());
    }
    for (path, object) in fleet::objects(fleet) {
        post(api, &path, &object)?;
    }
    fleet.pods.iter().try_for_each(|pod| create_pod(api, pod))
}

fn create_pod(api: &Api, pod: &PodSpec) -> Result<(), SandboxError> {
    let mut controller: Option<Value> = None;
    for (path, mut object) in fleet::owners(pod) {
        if let Some(controller) = &controller {
            object["metadata"]["ownerReferences"] = serde_json::json!([fleet::reference(controller)]);
        }
        controller = Some(post(api, &path, &object)?);
    }
    let path = format!("/api/v1/namespaces/{}/pods", pod.namespace);
    post(api, &path, &fleet::pod_object(pod, controller.as_ref())).map(|_| ())
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Creates an object, or reads the one that is there.
fn post(api: &Api, path: &str, object: &Value) -> Result<Value, SandboxError> {
    let admin = User::admin("sandbox");
    match api.call(&admin, &Method::POST, path, Some(object)) {
        Err(failure) if failure.reason == "AlreadyExists" => {
            api.call(&admin, &Method::GET, &format!("{path}/{}", name(object)), None)
        }
        answer => answer,
    }
    .map_err(|failure| SandboxError::Create { what: format!("{path}/{}", name(object)), why: failure.message })
}

/// Makes an object what it should be: definitions follow the release of the program.
fn put(api: &Api, path: &str, object: &Value) -> Result<Value, SandboxError> {
    let path = format!("{path}/{}", name(object));
    let query = format!("{path}?fieldManager=sandbox&force=true");
    api.call_as(&User::admin("sandbox"), &Method::PATCH, &query, "application/apply-patch+yaml", Some(object))
        .map_err(|failure| SandboxError::Create { what: path, why: failure.message })
}
