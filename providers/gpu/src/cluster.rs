//! Calls to the cluster behind one instance: typed APIs, and errors with what failed. Lists are not repeated here: who
//! reads several that belong together begins anew with all of them.

use std::future::Future;

use engine_model::name::ClusterIdentity;
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Node, Pod, ResourceQuota},
};
use kube::{Api, api::ListParams};
use providers_agent_api::{GpuNode, LEASE_NAMESPACE};
use providers_api::{ProviderError, retry::delay};
use providers_kubernetes::Connection;
use serde::de::DeserializeOwned;

/// Who we are among the owners of fields.
pub(crate) const FIELD_MANAGER: &str = "sliceform";

/// Objects of a page: what kubectl asks for.
const PAGE: u32 = 500;

/// Waits, where what failed may pass, until it is time to try again. For what is under way and is not left half done:
/// an interrupt waits, too.
pub(crate) async fn passes(error: &ProviderError, tried: u32) -> bool {
    let Some(delay) = delay(error, tried) else { return false };
    tokio::time::sleep(delay).await;
    true
}

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
        let mut found = Vec::new();
        let mut page = params.clone().limit(PAGE);
        loop {
            let list = api.list(&page).await;
            let list = list.map_err(|error| self.error(&format!("cannot list {what}"), &error))?;
            found.extend(list.items);
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(found),
            }
        }
    }

    /// One object; `None` where it is not there.
    pub(crate) async fn find<K>(&self, api: &Api<K>, name: &str, what: &str) -> Result<Option<K>, ProviderError>
    where
        K: Clone + DeserializeOwned + std::fmt::Debug,
    {
        self.repeated(&format!("cannot read {what}"), || api.get_opt(name)).await
    }

    /// What may be asked twice and is then as asked once, again and again while what fails may pass: see [`passes`].
    pub(crate) async fn repeated<T, F>(&self, doing: &str, mut attempt: impl FnMut() -> F) -> Result<T, ProviderError>
    where
        F: Future<Output = kube::Result<T>>,
    {
        let mut tried = 0;
        loop {
            let error = match attempt().await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.error(doing, &error),
            };
            tried += 1;
            if !passes(&error, tried).await {
                return Err(error);
            }
        }
    }
}
