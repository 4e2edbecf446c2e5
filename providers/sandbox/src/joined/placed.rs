//! When the pods of a fleet are where they will be.

use std::sync::Arc;

use serde_json::Value;

use crate::fleet::PodSpec;
use crate::store::Store;

/// Returns when each pod of the fleet runs, is over, or is known to find no node.
pub(super) async fn all(store: &Arc<Store>, pods: &[PodSpec]) {
    loop {
        let now = store.read().revision();
        if pods.iter().all(|pod| is_placed(store, pod)) {
            return;
        }
        let Ok(mut changes) = store.subscribe(now) else { continue };
        // Whoever is too late to follow looks at once.
        let _ = changes.next().await;
    }
}

fn is_placed(store: &Store, spec: &PodSpec) -> bool {
    let read = store.read();
    let mut pods = read.list_namespace("pods", &spec.namespace).map(|(_, pod)| pod);
    pods.any(|pod| {
        let metadata = &pod["metadata"];
        // A pod that has an owner is named by controllers.
        let is_it = match &spec.owner {
            Some(owner) => metadata["labels"]["app"] == owner.name(),
            None => metadata["name"] == *spec.name,
        };
        is_it && is_decided(pod)
    })
}

fn is_decided(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    pod["status"]["phase"] != "Pending"
        || conditions.into_iter().any(|one| one["type"] == "PodScheduled" && one["status"] == "False")
}
