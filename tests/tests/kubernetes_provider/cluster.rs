//! Clusters that one test runs against: the sandbox, and a real control plane where there is one.

use std::sync::Arc;

use engine_model::host::FixedHost;
use http::Method;
use providers_api::{Call, Imported, Provider, Silent};
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Environment, KubernetesProvider};
use serde_json::Value as Json;
use tests::control_plane::ControlPlane;
use tokio_util::sync::CancellationToken;

use crate::world::{World, null};

/// A cluster, with somebody else in it.
pub(crate) trait Cluster {
    /// A provider for it.
    fn provider(&self) -> Arc<KubernetesProvider>;

    /// Somebody else asks the API. A patch is a merge.
    async fn ask(&self, method: Method, path: &str, body: Option<Json>) -> Option<Json>;

    /// The same, which must be answered.
    async fn write(&self, method: Method, path: &str, body: Json) -> Json {
        self.ask(method, path, Some(body)).await.unwrap_or_else(|| panic!("{path} was refused"))
    }

    /// An object as it is.
    async fn live(&self, path: &str) -> Option<Json> {
        self.ask(Method::GET, path, None).await
    }

    /// Takes an object into a state.
    async fn import(&self, ty: &str, id: &str) -> Imported {
        let provider = self.provider();
        let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
        let call = Call { progress: &Silent, cancel: &cancel, host: &host };
        let instance = provider.configure(&null(&provider.schemas().provider), call).await.unwrap();
        instance.import(ty, id, call).await.unwrap()
    }
}

impl Cluster for World {
    fn provider(&self) -> Arc<KubernetesProvider> {
        self.another_provider()
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Json>) -> Option<Json> {
        match body {
            None => World::live(self, path),
            Some(_) => Some(self.other(method, path, body)),
        }
    }
}

/// A real control plane.
pub(crate) struct Real {
    plane: ControlPlane,
    client: kube::Client,
}

impl Real {
    pub(crate) async fn new(plane: ControlPlane) -> Self {
        let client = plane.client().await;
        Self { plane, client }
    }
}

impl Cluster for Real {
    fn provider(&self) -> Arc<KubernetesProvider> {
        let settings = ConnectionSettings {
            config_paths: vec![self.plane.kubeconfig().display().to_string()],
            ..ConnectionSettings::default()
        };
        Arc::new(KubernetesProvider::new(Environment::default(), Some(ConnectionOverride(settings))))
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Json>) -> Option<Json> {
        let named = path.contains("fieldManager=") || method == Method::GET;
        let uri = if named { path.to_owned() } else { format!("{path}?fieldManager=somebody") };
        let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = body.map(|body| serde_json::to_vec(&body).unwrap()).unwrap_or_default();
        let request = http::Request::builder().method(method).uri(uri).header("content-type", kind).body(body).unwrap();
        match self.client.request::<Json>(request).await {
            Ok(object) => Some(object),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{path}: {error}"),
        }
    }
}
