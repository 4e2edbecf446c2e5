//! Who may do what.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Api, Client, Resource};
use providers_agent_api::{GpuNode, LEASE_NAMESPACE};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::setting::{FLEET, Setting};

fn refused<T>(answer: Result<T, kube::Error>) {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 403 => {}
        Err(other) => unreachable!("expected 403, found {other:?}"),
        Ok(_) => unreachable!("expected 403, found success"),
    }
}

async fn patch<K>(api: &Api<K>, name: &str, status: bool) -> Result<K, kube::Error>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let (params, patch) = (PatchParams::default(), Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}})));
    if status { api.patch_status(name, &params, &patch).await } else { api.patch(name, &params, &patch).await }
}

#[tokio::test]
async fn an_agent_writes_what_is_its_own() {
    let world = Setting::new(FLEET).await;
    let agent: Client = world.sandbox.script().unwrap().agent_connection("a").connection().client().await.unwrap();
    let gpu_nodes: Api<GpuNode> = Api::all(agent.clone());
    let leases: Api<Lease> = Api::namespaced(agent.clone(), LEASE_NAMESPACE);
    let nodes: Api<Node> = Api::all(agent.clone());

    patch(&gpu_nodes, "a", true).await.unwrap();
    patch(&leases, "a", false).await.unwrap();
    gpu_nodes.get("a").await.unwrap();
    nodes.get("a").await.unwrap();

    refused(patch(&gpu_nodes, "b", true).await);
    refused(patch(&gpu_nodes, "a", false).await);
    refused(patch(&leases, "b", false).await);
    refused(patch(&nodes, "a", false).await);
    refused(gpu_nodes.get("b").await);
    refused(gpu_nodes.delete("a", &DeleteParams::default()).await);
    let executions: Api<DynamicObject> = Api::all_with(
        agent,
        &kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(
            "sandbox.sliceform.io",
            "v1alpha1",
            "Execution",
        )),
    );
    refused(executions.list(&ListParams::default()).await);
    world.close().await;
}
