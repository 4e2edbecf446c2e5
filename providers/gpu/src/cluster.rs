//! Calls to the cluster behind one instance: typed APIs, and errors with what failed. Retries nothing: errors say
//! whether that may help.

use engine_model::name::ClusterIdentity;
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node, Pod, ResourceQuota},
};
use kube::{Api, api::ListParams};
use providers_agent_api::{GpuNode, LEASE_NAMESPACE};
use providers_api::ProviderError;
use providers_kubernetes::Connection;
use serde::de::DeserializeOwned;

/// Who we are among the owners of fields.
pub(crate) const FIELD_MANAGER: &str = "sliceform";

/// The cluster behind one instance.
pub(crate) struct Cluster(Connection);

impl Cluster {
    pub(crate) fn new(connection: Connection) -> Self {
        Self(connection)
    }

    pub(crate) async fn identity(&self) -> Result<ClusterIdentity, ProviderError> {
        self.0.identity().await
    }

    pub(crate) async fn nodes(&self) -> Result<Api<Node>, ProviderError> {
        Ok(Api::all(self.0.client().await?))
    }

    pub(crate) async fn gpu_nodes(&self) -> Result<Api<GpuNode>, ProviderError> {
        Ok(Api::all(self.0.client().await?))
    }

    pub(crate) async fn leases(&self) -> Result<Api<Lease>, ProviderError> {
        Ok(Api::namespaced(self.0.client().await?, LEASE_NAMESPACE))
    }

    pub(crate) async fn all_pods(&self) -> Result<Api<Pod>, ProviderError> {
        Ok(Api::all(self.0.client().await?))
    }

    pub(crate) async fn pods(&self, namespace: &str) -> Result<Api<Pod>, ProviderError> {
        Ok(Api::namespaced(self.0.client().await?, namespace))
    }

    pub(crate) async fn all_quotas(&self) -> Result<Api<ResourceQuota>, ProviderError> {
        Ok(Api::all(self.0.client().await?))
    }

    pub(crate) async fn quotas(&self, namespace: &str) -> Result<Api<ResourceQuota>, ProviderError> {
        Ok(Api::namespaced(self.0.client().await?, namespace))
    }

    /// What an error of the client means; `doing` is what failed, as a fragment.
    pub(crate) fn error(&self, doing: &str, error: &kube::Error) -> ProviderError {
        self.0.error(doing, error)
    }

    /// Everything of a kind, in the order that the server gives.
    pub(crate) async fn list<K>(&self, api: &Api<K>, what: &str) -> Result<Vec<K>, ProviderError>
    where
        K: Clone + DeserializeOwned + std::fmt::Debug,
    {
        self.list_with(api, what, &ListParams::default()).await
    }

    /// Everything of a kind that matches.
    pub(crate) async fn list_with<K>(
        &self,
        api: &Api<K>,
        what: &str,
        params: &ListParams,
    ) -> Result<Vec<K>, ProviderError>
    where
        K: Clone + DeserializeOwned + std::fmt::Debug,
    {
        let list = api.list(params).await;
        Ok(list.map_err(|error| self.error(&format!("cannot list {what}"), &error))?.items)
    }

    /// One object; `None` where it is not there.
    pub(crate) async fn find<K>(&self, api: &Api<K>, name: &str, what: &str) -> Result<Option<K>, ProviderError>
    where
        K: Clone + DeserializeOwned + std::fmt::Debug,
    {
        api.get_opt(name).await.map_err(|error| self.error(&format!("cannot read {what}"), &error))
    }
}
