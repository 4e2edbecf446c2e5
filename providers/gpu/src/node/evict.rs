//! Evicts one pod and says what its end waits for.

use kube::api::PostParams;
use providers_api::{ErrorKind, ProviderError};
use providers_kubernetes::is_not_found;
use serde_json::{Value as Json, json};

use crate::{
    cluster::Cluster,
    world::{Pod, PodName},
};

/// What became of an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eviction {
    /// The pod is on its way out.
    Begun,
    /// A PodDisruptionBudget does not allow it now.
    Refused,
}

/// Asks the API to evict a pod: this very pod, not one of the same name that came after it.
///
/// # Errors
/// The API refuses for another reason than a budget.
pub(super) async fn evict(cluster: &Cluster, name: &PodName, pod: &Pod) -> Result<Eviction, ProviderError> {
    let api = cluster.pods(&name.namespace).await?;
    let body = body(name, pod);
    // Asked twice is as asked once: the pod is named by its UID.
    let doing = format!("cannot evict pod {name}");
    let asked = cluster.repeated(&doing, || async {
        let answer: kube::Result<Json> =
            api.create_subresource("eviction", &name.name, &PostParams::default(), &body).await;
        match answer {
            Ok(_) => Ok(Eviction::Begun),
            Err(error) if is_not_found(&error) => Ok(Eviction::Begun),
            // 429 is how the API says that a budget forbids it; the same code for an overloaded server means the same: later.
            Err(kube::Error::Api(status)) if status.code == 429 => Ok(Eviction::Refused),
            Err(error) => Err(error),
        }
    });
    match asked.await {
        // Another pod has the name by now: the next look sees it.
        Err(error) if error.kind == ErrorKind::Conflict => Ok(Eviction::Begun),
        other => other,
    }
}

// The client's own call names the options so that an API server does not see them, and the precondition would be lost.
fn body(name: &PodName, pod: &Pod) -> Json {
    json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": { "namespace": name.namespace, "name": name.name },
        "deleteOptions": { "preconditions": { "uid": pod.uid } },
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::policy::v1::Eviction as ApiEviction;

    use super::*;
    use crate::fixture::WorldBuilder;

    #[test]
    fn the_very_pod_is_evicted() {
        let world = WorldBuilder::default().pod("b/goes", "gpu-01", "nvidia.com/gpu").build();
        let (name, pod) = world.pods.first_key_value().unwrap();
        // As an API server reads it.
        let read: ApiEviction = serde_json::from_value(body(name, pod)).unwrap();
        assert_eq!(read.metadata.name.as_deref(), Some("goes"));
        assert_eq!(read.delete_options.unwrap().preconditions.unwrap().uid.as_deref(), Some("uid-goes"));
    }
}
