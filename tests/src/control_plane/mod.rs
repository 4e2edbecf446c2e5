//! A real Kubernetes control plane: etcd, API server, controllers and scheduler, in one binary of our own
//! (`tests/control-plane`), on free ports of this machine.
//!
//! One is shared by the tests of a test binary ([`ControlPlane::shared`]): each has a namespace, users and names of its
//! own. A test that restarts the server has a control plane of its own ([`ControlPlane::alone`]). Both end with this
//! process, however it ends: the binary's `up` role ends when its stdin is closed.
//!
//! The binary is built by Go, which need not be there: then the tests are skipped, and say so (`absent.rs`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod absent;
mod audit;
mod binary;
mod fleet;
mod supervisor;
mod user;

use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::api::{Api, ObjectMeta, PostParams};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;

pub use audit::Request;
pub use binary::binary;
use supervisor::Supervisor;

/// What a control plane is to be like.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name of a node that a real kubelet plays. It needs root.
    pub kubelet: Option<String>,
    /// How long a node may be silent before it is not ready, as Go writes it (`40s`). Without it, 24 hours: nodes need
    /// no kubelet.
    pub node_monitor_grace_period: Option<String>,
}

/// A node that a real kubelet plays. Containers are only said to run.
#[derive(Clone, Debug, Deserialize)]
pub struct Kubelet {
    /// The name of the node.
    pub name: String,
    /// What the kubelet sees as `/var/lib/kubelet`.
    pub root: PathBuf,
    /// What the kubelet sees as `/var/log/pods`.
    pub logs: PathBuf,
    /// What the container runtime was told to create: a `CreateContainerRequest` per line.
    pub containers: PathBuf,
}

/// A control plane that runs.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    supervisor: Arc<Supervisor>,
}

static SHARED: OnceCell<ControlPlane> = OnceCell::const_new();

impl ControlPlane {
    /// The control plane of this test binary. Nothing where there is no Go to build it with; then this test has said
    /// that it is skipped, and ends.
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn shared() -> impl Future<Output = Option<Self>> {
        let caller = Location::caller();
        async move {
            let binary = available(caller).await?;
            let start = || async { Self::start(&binary, &Options::default()).await };
            Some(SHARED.get_or_init(start).await.clone())
        }
    }

    /// A control plane for one test. It ends when the last clone is dropped. Nothing as for [`ControlPlane::shared`].
    ///
    /// # Panics
    /// When it does not start.
    #[track_caller]
    pub fn alone(options: Options) -> impl Future<Output = Option<Self>> {
        let caller = Location::caller();
        async move {
            if options.kubelet.is_some() && !absent::may_unshare() {
                absent::skip(caller, "a kubelet needs root and a mount namespace of its own");
                return None;
            }
            let binary = available(caller).await?;
            Some(Self::start(&binary, &options).await)
        }
    }

    async fn start(binary: &Path, options: &Options) -> Self {
        let (binary, options) = (binary.to_owned(), options.clone());
        let started = tokio::task::spawn_blocking(move || Supervisor::start(&binary, &options)).await.unwrap();
        Self { supervisor: Arc::new(started.unwrap_or_else(|error| panic!("the control plane: {error}"))) }
    }

    /// `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.supervisor.description.url
    }

    /// The certificate of the authority, a PEM file.
    pub fn ca(&self) -> &Path {
        &self.supervisor.description.ca
    }

    /// The kubeconfig file of a member of `system:masters`.
    pub fn kubeconfig(&self) -> &Path {
        &self.supervisor.description.kubeconfig
    }

    /// Each part writes `ROLE.log` in it.
    pub fn folder(&self) -> &Path {
        &self.supervisor.description.folder
    }

    /// The node of the real kubelet.
    ///
    /// # Panics
    /// When none was asked for.
    pub fn kubelet(&self) -> &Kubelet {
        self.supervisor.description.kubelet.as_ref().unwrap()
    }

    /// Makes a namespace and waits until it has what the controllers put into each: a service account, without which no
    /// pod is admitted, and the authority's certificate.
    ///
    /// # Panics
    /// When it is there already, or is not complete in time.
    pub async fn namespace(&self, name: &str) {
        let client = self.client().await;
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), name);
        let config_maps: Api<ConfigMap> = Api::namespaced(client, name);
        wait_until(&format!("the namespace {name} is complete"), async || {
            accounts.get_opt("default").await.unwrap().is_some()
                && config_maps.get_opt("kube-root-ca.crt").await.unwrap().is_some()
        })
        .await;
    }

    /// Kills a part (`kube-apiserver`, `etcd`, `kubelet`, ...), starts it again, and waits until it is ready.
    ///
    /// # Panics
    /// When it does not come back.
    pub async fn restart(&self, role: &str) {
        self.tell(format!("restart {role}")).await;
    }

    /// Kills a part. [`ControlPlane::bring_back`] starts it again.
    ///
    /// # Panics
    /// When there is no such part.
    pub async fn kill(&self, role: &str) {
        self.tell(format!("kill {role}")).await;
    }

    /// Starts a part that was killed, and waits until it is ready.
    ///
    /// # Panics
    /// When it runs, or does not come back.
    pub async fn bring_back(&self, role: &str) {
        self.tell(format!("start {role}")).await;
    }

    /// Stops a part where it is: who connects gets no answer, until [`ControlPlane::thaw`].
    ///
    /// # Panics
    /// When it does not run.
    pub async fn freeze(&self, role: &str) {
        self.tell(format!("freeze {role}")).await;
    }

    /// Lets a part go on.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn thaw(&self, role: &str) {
        self.tell(format!("thaw {role}")).await;
    }

    async fn tell(&self, line: String) -> Value {
        let supervisor = Arc::clone(&self.supervisor);
        let told = tokio::task::spawn_blocking(move || supervisor.tell(&line)).await.unwrap();
        told.unwrap_or_else(|error| panic!("the control plane: {error}"))
    }
}

async fn available(caller: &'static Location<'static>) -> Option<PathBuf> {
    let built = tokio::task::spawn_blocking(binary::built).await.unwrap();
    if built.is_none() {
        absent::skip_without_go(caller);
    }
    built
}

/// Asks again and again whether something has come about.
///
/// # Panics
/// When it has not within two minutes: a controller or a kubelet that needs longer does nothing.
pub async fn wait_until(what: &str, mut check: impl AsyncFnMut() -> bool) {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
    let wait = async {
        while !check().await {
            tokio::time::sleep(PAUSE).await;
        }
    };
    if tokio::time::timeout(PATIENCE, wait).await.is_err() {
        panic!("waited {} s in vain until {what}", PATIENCE.as_secs());
    }
}
