//! The cluster that a case runs against: a client and a namespace.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::{Client, Config};
use providers_sandbox::api::{Clock, Rbac, Running, Server, Setup, User};
use providers_sandbox::store::Store;
use serde_json::{Value, json};

pub(crate) struct Cluster {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) running: Running,
}

/// A clock that stands still.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }
}

pub(crate) fn setup() -> Setup {
    Setup { seed: 7, clock: Arc::new(Still), authorizer: Arc::new(Rbac), admission: Vec::new(), graceful_pods: false }
}

pub(crate) async fn client(running: &Running, user: &User) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(&running.kubeconfig(user)).unwrap();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    // A 429 is an answer here, not a reason to ask fifteen times.
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

impl Cluster {
    pub(crate) async fn start() -> Cluster {
        Cluster::over(Arc::new(Store::in_memory()), setup()).await
    }

    pub(crate) async fn over(store: Arc<Store>, setup: Setup) -> Cluster {
        let running = Server::start(store, setup).await.unwrap();
        let client = client(&running, &User::admin("test")).await;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let namespace = Namespace {
            metadata: kube::core::ObjectMeta { name: Some("case".into()), ..Default::default() },
            ..Default::default()
        };
        match namespaces.create(&PostParams::default(), &namespace).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => panic!("{error}"),
        }
        Cluster { client, namespace: "case".to_owned(), running }
    }

    pub(crate) async fn stop(self) {
        drop(self.client);
        self.running.shutdown().await;
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
