//! A fleet that joins another API server, as its nodes: their kubelets, device plugins, feature discovery and agents, and
//! the definitions that an operator would bring. Scheduler and controllers are that cluster's own.
//!
//! It is the same fleet as a sandbox's. Its parts read a copy of the objects that concern them (`mirror`), which is kept by
//! watches (`follow`), and write over HTTPS (`remote`).

mod follow;
mod mirror;
mod placed;
mod remote;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::conditions::is_crd_established;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Secret};
use providers_simulator::SharedFleet;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::cluster::Duty;
use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::motion::Motion;
use crate::sandbox::{Options, parse};
use crate::world::World;
use crate::{fleet, furnish, holder};
use mirror::Mirror;
use remote::Remote;

/// How it is reached that a fleet has joined.
#[derive(Clone, Debug)]
pub struct Server {
    /// `https://host:port`.
    pub url: String,
    /// Who signed its certificate, PEM.
    pub authority: String,
    /// The token of an identity that may do everything.
    pub token: Secret,
}

impl Server {
    fn connection(&self) -> ConnectionOverride {
        ConnectionOverride(ConnectionSettings {
            host: Some(self.url.clone()),
            token: Some(self.token.clone()),
            cluster_ca_certificate: Some(self.authority.clone()),
            ..ConnectionSettings::default()
        })
    }
}

/// See the module. Dropped without [`Joined::close`] it ends at once; its objects stay, as those of nodes that lost power.
pub struct Joined {
    dir: PathBuf,
    server: Server,
    /// It has threads of its own, since a part that writes waits for the answer. Taken when it is closed.
    life: Option<Life>,
}

struct Life {
    motion: Motion,
    watches: JoinSet<()>,
    runtime: Runtime,
}

impl Joined {
    /// Joins a server with the fleet (file name and text; without one the default fleet), whose world is in the folder
    /// `dir`. `agent` gives the connection with the identity of a node's agent. Returns when the nodes are ready, their
    /// agents have reported, and what the fleet's pods come from is made.
    ///
    /// # Errors
    /// As [`crate::Sandbox::open`]; or the server refuses something.
    pub async fn join(
        dir: &Path,
        fleet: Option<(&str, &str)>,
        options: Options,
        server: Server,
        agent: impl Fn(&str) -> ConnectionOverride + Send + 'static,
    ) -> Result<Self, SandboxError> {
        let fleet = fleet.map(|(name, text)| parse(name, text).map(|fleet| (name, fleet))).transpose()?;
        let file = |source| SandboxError::File { action: "create the folder", path: dir.to_owned(), source };
        crate::private::create_dir(dir).map_err(file)?;
        holder::write(dir, &options.command);
        let world = World::open(&dir.join("world"), fleet, &*options.host)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| SandboxError::Failed(format!("there are no threads: {error}")))?;
        let start = start(dir.to_owned(), world, options, server.connection(), agent);
        let started = runtime.spawn(start).await;
        match started {
            Ok(Ok((motion, watches))) => {
                let life = Some(Life { motion, watches, runtime });
                Ok(Self { dir: dir.to_owned(), server, life })
            }
            Ok(Err(error)) => {
                runtime.shutdown_background();
                Err(error)
            }
            Err(error) => {
                runtime.shutdown_background();
                Err(SandboxError::Failed(error.to_string()))
            }
        }
    }

    /// Lets commands find the cluster in the folder as a sandbox that is served: `sliceform … -sandbox` speaks to it then.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn serve(&self) -> Result<(), SandboxError> {
        let origin = &self.motion().world.origin;
        let endpoint = Endpoint {
            server: self.server.url.clone(),
            authority: self.server.authority.clone(),
            token: self.server.token.0.clone(),
            kubeconfig: String::new(),
            fleet: origin.name.clone(),
            fleet_digest: origin.fleet.digest(),
        };
        let file = |source| SandboxError::File { action: "write into", path: self.dir.clone(), source };
        endpoint.write(&self.dir).map_err(file)
    }

    /// The hardware: processes, faults, reboots.
    pub fn hardware(&self) -> &SharedFleet {
        self.motion().hardware()
    }

    /// Stops agents and kubelets. What they wrote stays.
    ///
    /// # Errors
    /// Something could not be written while it ran.
    pub async fn close(mut self) -> Result<(), SandboxError> {
        let Some(Life { mut motion, mut watches, runtime }) = self.life.take() else { return Ok(()) };
        let stopped = runtime.spawn(async move {
            motion.stop().await;
            watches.shutdown().await;
            motion.keep()
        });
        let kept = stopped.await;
        runtime.shutdown_background();
        let file = |source| SandboxError::File { action: "remove from", path: self.dir.clone(), source };
        Endpoint::remove(&self.dir).map_err(file)?;
        holder::remove(&self.dir);
        kept.unwrap_or_else(|error| Err(SandboxError::Failed(error.to_string())))
    }

    fn motion(&self) -> &Motion {
        &self.life.as_ref().expect("it lives until it is closed, which takes it").motion
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(Life { motion, watches, runtime }) = self.life.take() {
            drop((motion, watches));
            // To wait for its threads is not allowed where this may be dropped.
            runtime.shutdown_background();
        }
    }
}

async fn start(
    dir: PathBuf,
    world: World,
    options: Options,
    server: ConnectionOverride,
    agent: impl Fn(&str) -> ConnectionOverride,
) -> Result<(Motion, JoinSet<()>), SandboxError> {
    let patience = options.ready_timeout;
    let (fleet, is_new) = (world.origin.fleet.clone(), !world.origin.complete);
    let client = server.connection().client().await?;
    let mirror = Arc::new(Mirror::new(world.store.clone(), world.trouble.clone()));
    let api = Arc::new(Remote::new(client.clone(), mirror.clone()));
    furnish::define(&*api)?;
    timely(patience, established(&client)).await??;
    if is_new {
        furnish::objects(&*api, &fleet)?;
    }
    let watches = timely(patience, follow::begin(&client, &mirror)).await?;
    let mut motion = Motion::begin(&dir, world, &options, Duty::Nodes, api.clone(), agent)?;
    motion.start_agents(patience).await?;
    if is_new {
        let namespaces = fleet.pods.iter().map(|pod| pod.namespace.clone());
        timely(patience, admits_pods(&client, namespaces)).await??;
        fleet.pods.iter().try_for_each(|pod| furnish::origin(&*api, pod))?;
        timely(patience, placed::all(&motion.world.store, &fleet.pods)).await?;
        motion.settle(patience).await?;
    }
    Ok((motion, watches))
}

async fn timely<T>(patience: Duration, work: impl Future<Output = T>) -> Result<T, SandboxError> {
    let late = |_| SandboxError::NotReady { waited: patience, why: "the server that was joined is slow".to_owned() };
    tokio::time::timeout(patience, work).await.map_err(late)
}

/// Waits until the definitions are served.
async fn established(client: &Client) -> Result<(), SandboxError> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for (_, definition) in fleet::definitions() {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        await_condition(definitions.clone(), name, is_crd_established()).await.map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Waits until namespaces have what every pod needs, which a controller makes.
async fn admits_pods(client: &Client, namespaces: impl Iterator<Item = String>) -> Result<(), SandboxError> {
    for namespace in namespaces {
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &namespace);
        let is_there = |account: Option<&ServiceAccount>| account.is_some();
        await_condition(accounts, "default", is_there).await.map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn failed(error: &dyn std::error::Error) -> SandboxError {
    SandboxError::Failed(format!("the server that was joined cannot be watched: {}", engine_diag::chain(error)))
}
