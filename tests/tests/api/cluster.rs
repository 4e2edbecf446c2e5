//! The cluster that a case runs against: a client and a namespace.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use providers_sandbox::api::{Clock, Rbac, Running, Server, Setup, User};
use providers_sandbox::store::Store;
use serde_json::{Value, json};
use tests::control_plane::ControlPlane;

pub(crate) struct Cluster {
    pub(crate) client: Client,
    /// The name of the case, which is also free to be the name of what has no namespace.
    pub(crate) namespace: String,
    /// The sandbox.
    running: Option<Running>,
}

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }
}

async fn sandbox_client(running: &Running) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&running.kubeconfig(&User::admin("test"))).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    // A 429 is an answer here, not a reason to ask fifteen times.
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// The name of a case as that of an object.
fn dashes(case: &str) -> String {
    case.replace('_', "-")
}

/// Waits for a case to end.
///
/// A case waits for controllers, and those of a busy machine are slow. Two minutes they are not.
pub(crate) async fn in_time(case: impl Future<Output = ()>) {
    tokio::time::timeout(Duration::from_secs(120), case).await.expect("the case ends");
}

impl Cluster {
    pub(crate) async fn sandbox(case: &str) -> Self {
        let setup = Setup {
            seed: 7,
            clock: Arc::new(Still),
            authorizer: Arc::new(Rbac),
            admission: Vec::new(),
            graceful_pods: false,
        };
        let running = Server::start(Arc::new(Store::in_memory()), setup).await.unwrap();
        let client = sandbox_client(&running).await;
        let cluster = Self { client, namespace: dashes(case), running: Some(running) };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace}});
        create(&cluster.global("", "v1", "Namespace"), namespace).await;
        cluster
    }

    pub(crate) async fn real(plane: &ControlPlane, case: &str) -> Self {
        let cluster = Self { client: plane.client().await, namespace: dashes(case), running: None };
        plane.namespace(&cluster.namespace).await;
        cluster
    }

    pub(crate) async fn stop(self) {
        drop(self.client);
        if let Some(running) = self.running {
            running.shutdown().await;
        }
    }

    /// An API group for the case's own definitions: those are of the whole cluster, which cases share.
    pub(crate) fn group(&self) -> String {
        format!("{}.example.com", self.namespace)
    }

    /// The path of a resource in the case's namespace, of the group without a name.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/api/v1/namespaces/{}/{rest}", self.namespace)
    }

    pub(crate) fn api(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource(group, version, kind))
    }

    pub(crate) fn global(&self, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &resource(group, version, kind))
    }

    pub(crate) fn config_maps(&self) -> Api<DynamicObject> {
        self.api("", "v1", "ConfigMap")
    }
}

pub(crate) fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

pub(crate) fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn json(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

pub(crate) async fn create(api: &Api<DynamicObject>, value: Value) -> Value {
    json(&api.create(&PostParams::default(), &object(value)).await.unwrap())
}

pub(crate) async fn apply(api: &Api<DynamicObject>, manager: &str, value: Value) -> Result<Value, kube::Error> {
    let name = value["metadata"]["name"].as_str().unwrap().to_owned();
    api.patch(&name, &PatchParams::apply(manager), &Patch::Apply(value)).await.map(|object| json(&object))
}

pub(crate) async fn get(api: &Api<DynamicObject>, name: &str) -> Value {
    json(&api.get(name).await.unwrap())
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// Code, reason and message of a refusal.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone(), status.message.clone()),
        other => panic!("expected a refusal, found {other:?}"),
    }
}
