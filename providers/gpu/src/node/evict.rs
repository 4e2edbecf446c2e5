//! Evicts one pod and says what its end waits for.

use kube::api::{DeleteParams, EvictParams, Preconditions};
use providers_api::{Call, ErrorKind, ProviderError};
use providers_kubernetes::is_not_found;

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
pub(super) async fn evict(
    cluster: &Cluster,
    name: &PodName,
    pod: &Pod,
    call: Call<'_>,
) -> Result<Eviction, ProviderError> {
    let api = cluster.pods(&name.namespace).await?;
    let preconditions = Preconditions { uid: Some(pod.uid.clone()), resource_version: None };
    let options = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
    let params = EvictParams { delete_options: Some(options), ..EvictParams::default() };
    call.working(format!("evicting pod {name}"));
    match api.evict(&name.name, &params).await {
        Ok(_) => Ok(Eviction::Begun),
        Err(error) if is_not_found(&error) => Ok(Eviction::Begun),
        // 429 is how the API says that a budget forbids it; the same code for an overloaded server means the same: later.
        Err(kube::Error::Api(status)) if status.code == 429 => Ok(Eviction::Refused),
        Err(error) => {
            let error = cluster.error(&format!("cannot evict pod {name}"), &error);
            if error.kind == ErrorKind::Conflict {
                // Another pod has the name by now: the next look sees it.
                return Ok(Eviction::Begun);
            }
            Err(error)
        }
    }
}
