//! A sandbox in use: opened by a command, or served by another process and joined.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine_diag::Sources;
use engine_model::host::Host;
use providers_kubernetes::ConnectionOverride;
use providers_simulator::SharedFleet;
use tokio::time::Instant;

use crate::api::{Calls, Faults, Renewal, User};
use crate::embedded::{Embedded, administrator};
use crate::endpoint::Endpoint;
use crate::error::SandboxError;
use crate::fleet::{self, Fleet};
use crate::holder;
use crate::store::OpenError;
use crate::world::{World, WorldError};

/// How often it is looked whether a sandbox that another command has is free.
const RETRY: Duration = Duration::from_millis(50);

/// How a sandbox is opened.
#[derive(Clone)]
pub struct Options {
    /// The clock, and where a new world's identity comes from.
    pub host: Arc<dyn Host>,
    /// What opens it, for others that wait for it: `apply`.
    pub command: String,
    /// How long to wait for another command that has it.
    pub lock_timeout: Duration,
    /// How long to wait until every agent has reported.
    pub ready_timeout: Duration,
}

impl Options {
    /// What fits a command that a person waits for.
    pub fn new(host: Arc<dyn Host>, command: impl Into<String>) -> Self {
        let (lock_timeout, ready_timeout) = (Duration::from_secs(10), Duration::from_secs(60));
        Self { host, command: command.into(), lock_timeout, ready_timeout }
    }
}

/// An embedded cluster. Dropped without [`Sandbox::close`] it ends at once, as if the process had been killed: nothing is
/// lost, but its folder may stay locked for a moment.
pub struct Sandbox {
    place: Place,
}

enum Place {
    Here(Box<Embedded>),
    Elsewhere(Endpoint),
}

impl Sandbox {
    /// Opens the sandbox in the folder `dir`, making it from the fleet (file name and text) where there is none; without a
    /// fleet from the default one. While another process serves it, that one is joined. Returns when every node's agent
    /// has reported (but those that the fleet says are down).
    ///
    /// # Errors
    /// The fleet is wrong or another one than the sandbox's; another command has it; its files are damaged; agents do not
    /// report in time.
    pub async fn open(dir: &Path, fleet: Option<(&str, &str)>, options: Options) -> Result<Self, SandboxError> {
        let fleet = fleet.map(|(name, text)| parse(name, text).map(|fleet| (name, fleet))).transpose()?;
        crate::private::create_dir(dir).map_err(|source| SandboxError::File {
            action: "create the folder",
            path: dir.to_owned(),
            source,
        })?;
        let began = Instant::now();
        loop {
            match World::open(&dir.join("world"), fleet.clone(), &*options.host) {
                Ok(world) => {
                    let embedded = Embedded::start(dir, world, &options).await?;
                    return Ok(Self { place: Place::Here(Box::new(embedded)) });
                }
                Err(WorldError::Open(OpenError::InUse { .. })) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(endpoint) = Endpoint::find(dir).await {
                check_fleet(dir, &endpoint, fleet.as_ref())?;
                return Ok(Self { place: Place::Elsewhere(endpoint) });
            }
            let waited = began.elapsed();
            if waited >= options.lock_timeout {
                return Err(SandboxError::Busy { dir: dir.to_owned(), holder: holder::read(dir), waited });
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// The connection with the rights of an administrator, for every provider that speaks to a cluster.
    pub fn connection(&self) -> ConnectionOverride {
        match &self.place {
            Place::Here(embedded) => embedded.connection(),
            Place::Elsewhere(endpoint) => endpoint.connection(),
        }
    }

    /// The same as a kubeconfig. It holds a token: write it for its owner only.
    pub fn kubeconfig(&self) -> String {
        match &self.place {
            Place::Here(embedded) => embedded.kubeconfig(),
            Place::Elsewhere(endpoint) => endpoint.kubeconfig.clone(),
        }
    }

    /// Whether another process serves it.
    pub fn is_served(&self) -> bool {
        matches!(self.place, Place::Elsewhere(_))
    }

    /// Stops everything and leaves the world as it is. A served one goes on.
    ///
    /// # Errors
    /// Something could not be recorded while it was open.
    pub async fn close(self) -> Result<(), SandboxError> {
        match self.place {
            Place::Here(embedded) => embedded.close().await,
            Place::Elsewhere(_) => Ok(()),
        }
    }

    /// The script by which tests make the world misbehave; none for a sandbox that another process serves.
    pub fn script(&self) -> Option<Script<'_>> {
        match &self.place {
            Place::Here(embedded) => Some(Script { embedded }),
            Place::Elsewhere(_) => None,
        }
    }

    /// The sandbox of this process.
    pub(crate) fn embedded(&self) -> Option<&Embedded> {
        match &self.place {
            Place::Here(embedded) => Some(embedded),
            Place::Elsewhere(_) => None,
        }
    }
}

/// What a test can see of a world, and do to it, past the API.
#[derive(Clone, Copy)]
pub struct Script<'a> {
    embedded: &'a Embedded,
}

impl<'a> Script<'a> {
    /// The record of calls since the sandbox was opened.
    pub fn calls(self) -> &'a Calls {
        self.embedded.api().calls()
    }

    /// The connection with the rights of a node's agent.
    pub fn agent_connection(self, node: &str) -> ConnectionOverride {
        self.embedded.connection_of(&User::agent(node))
    }

    /// The hardware: processes, faults, reboots.
    pub fn hardware(self) -> &'a SharedFleet {
        self.embedded.hardware()
    }

    /// What goes wrong between clients and the API: refusals, resets, slowness, and so on.
    pub fn faults(self) -> &'a Faults {
        self.embedded.api().faults()
    }

    /// The administrator's token expires: [`Sandbox::connection`] gives a connection with a new one.
    pub fn expire_token(self) {
        self.embedded.server().expire(&administrator());
    }

    /// The API server goes down as if it had been killed: connections are reset, new ones refused. The rest of the cluster
    /// goes on.
    pub async fn stop_server(self) {
        self.embedded.server().go_down().await;
    }

    /// The API server comes back at the same address. The agents go on trusting the authority that they began with.
    ///
    /// # Errors
    /// The port is another's now.
    pub async fn start_server(self, renewal: Renewal) -> Result<(), SandboxError> {
        Ok(self.embedded.server().come_back(renewal).await?)
    }

    /// Forgets how the cluster came to be as it is: watches from earlier than now and pages of earlier lists have expired.
    pub fn forget_history(self) {
        self.embedded.api().store().forget_history();
    }

    /// Lets the world's time pass.
    pub fn pass(self, time: Duration) {
        self.embedded.pass(time);
    }

    /// Makes a node's kubelet work, or not. When the sandbox is opened again, it is as the fleet says.
    pub fn set_ready(self, node: &str, ready: bool) {
        self.embedded.set_ready(node, ready);
    }

    /// Ends a node's agent where it stands, as a kill does: nothing that it had begun is finished.
    pub fn kill_agent(self, node: &str) {
        self.embedded.agents().kill(node);
    }

    /// Stops a node's agent.
    pub async fn stop_agent(self, node: &str) {
        self.embedded.agents().stop(node).await;
    }

    /// Starts a node's agent that was stopped.
    pub fn start_agent(self, node: &str) {
        self.embedded.agents().start(node);
    }

    /// Returns when nothing is left to be done in the cluster and the agents have reported how it is.
    ///
    /// # Errors
    /// That takes longer than a minute.
    pub async fn settle(self) -> Result<(), SandboxError> {
        self.embedded.settle(Duration::from_secs(60)).await
    }
}

pub(crate) fn parse(name: &str, text: &str) -> Result<Fleet, SandboxError> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    fleet::read(file, text).map_err(|diagnostics| SandboxError::Fleet { sources, diagnostics })
}

fn check_fleet(dir: &Path, endpoint: &Endpoint, wanted: Option<&(&str, Fleet)>) -> Result<(), WorldError> {
    match wanted.filter(|(_, fleet)| fleet.digest() != endpoint.fleet_digest) {
        None => Ok(()),
        Some((wanted, _)) => {
            let (existing, wanted) = (endpoint.fleet.clone(), (*wanted).to_owned());
            Err(WorldError::AnotherFleet { dir: dir.to_owned(), existing, wanted })
        }
    }
}
