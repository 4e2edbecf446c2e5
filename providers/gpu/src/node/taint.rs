//! Our taint on a node: put on, taken over, taken off. Cordons and others' taints are never touched.

use engine_model::name::{NodeName, PlanDigest};
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::api::{Patch, PatchParams};
use providers_agent_api::HOLD_TAINT;
use providers_api::{ErrorKind, HoldRequest, ProviderError};
use serde_json::json;

use crate::cluster::{Cluster, FIELD_MANAGER, passes};

/// As long as the value of a label, or of a taint, may be.
const LONGEST_VALUE: usize = 63;

/// How often a write is tried again because somebody else wrote the node in between: kubelets write every few seconds, so
/// more than a few in a row is something else.
const CONFLICTS: u32 = 8;

/// The taint's value for a plan.
pub(super) fn value(plan: &PlanDigest) -> &str {
    let text = plan.as_str();
    text.get(..LONGEST_VALUE).unwrap_or(text)
}

// The value of our taint on a node.
fn hold_of(node: &Node) -> Option<&str> {
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
    let ours = taints.into_iter().flatten().find(|taint| taint.key == HOLD_TAINT)?;
    Some(ours.value.as_deref().unwrap_or_default())
}

/// Puts our taint on a node. A taint of the same plan is left as it is; `taken_over` names an earlier plan whose taint
/// is replaced.
///
/// # Errors
/// Another plan holds the node; the node is gone; it cannot be written.
pub(super) async fn put(
    cluster: &Cluster,
    node: &NodeName,
    plan: &PlanDigest,
    taken_over: Option<&PlanDigest>,
) -> Result<(), ProviderError> {
    let (ours, taken_over) = (value(plan), taken_over.map(value));
    change(cluster, node, &format!("cannot hold {node}"), |found, taints| match hold_of(found) {
        Some(value) if value == ours => Ok(None),
        Some(other) if taken_over != Some(other) => {
            let what = format!("{node} is held by another plan, {other}");
            let hint = "If that apply still runs, wait for its end. If nothing runs any more and no state knows of it, \
                        remove the taint: kubectl taint node NAME sliceform.io/hold-";
            Err(ProviderError::new(ErrorKind::Conflict, what).hint(hint))
        }
        _ => {
            let others = taints.iter().filter(|taint| taint.key != HOLD_TAINT).cloned();
            let hold = Taint {
                key: HOLD_TAINT.to_owned(),
                value: Some(ours.to_owned()),
                effect: "NoSchedule".to_owned(),
                time_added: None,
            };
            Ok(Some(others.chain([hold]).collect()))
        }
    })
    .await
}

/// Takes our taint off a node. A node that is gone, or that another plan holds by now, is left as it is.
///
/// # Errors
/// It cannot be written: the node stays held.
pub(crate) async fn release(cluster: &Cluster, request: &HoldRequest) -> Result<(), ProviderError> {
    let (node, ours) = (&request.hold.node, value(&request.plan));
    let doing = format!("cannot give back {node}");
    let released = change(cluster, node, &doing, |found, taints| {
        if hold_of(found) != Some(ours) {
            return Ok(None);
        }
        Ok(Some(taints.iter().filter(|taint| taint.key != HOLD_TAINT).cloned().collect()))
    });
    match released.await {
        Err(error) if error.kind == ErrorKind::Permanent && error.what.ends_with(GONE) => Ok(()),
        other => other,
    }
}

const GONE: &str = "there is no such node any more";

// Taints are one list to the API server: whoever writes it writes all of it. So it is written only onto the very version
// that was read, and read again where somebody was faster.
async fn change(
    cluster: &Cluster,
    node: &NodeName,
    doing: &str,
    decide: impl Fn(&Node, &[Taint]) -> Result<Option<Vec<Taint>>, ProviderError>,
) -> Result<(), ProviderError> {
    let api = cluster.nodes().await?;
    let (mut conflicts, mut failures) = (0, 0);
    loop {
        let Some(found) = cluster.find(&api, node.as_str(), &format!("node {node}")).await? else {
            return Err(ProviderError::permanent(format!("{doing}: {GONE}")));
        };
        let taints = found.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
        let Some(taints) = decide(&found, &taints)? else { return Ok(()) };
        let patch = Patch::Merge(json!({
            "metadata": { "resourceVersion": found.metadata.resource_version },
            "spec": { "taints": taints },
        }));
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        match api.patch(node.as_str(), &params, &patch).await.map_err(|error| cluster.error(doing, &error)) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind == ErrorKind::Conflict && conflicts < CONFLICTS => conflicts += 1,
            Err(error) => {
                failures += 1;
                if !passes(&error, failures).await {
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_cut_to_a_value() {
        let digest = PlanDigest::from("a".repeat(64));
        assert_eq!(value(&digest), "a".repeat(63));
        assert_eq!(value(&PlanDigest::from("short")), "short");
    }
}
