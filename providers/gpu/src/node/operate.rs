//! Carries out one operation: checks what was approved against what is, writes it for the agent, waits for its end, and
//! then until Kubernetes offers what was cut.

use std::time::Duration;

use engine_model::name::NodeName;
use kube::api::PostParams;
use providers_agent_api::{GpuNode, OperationPhase, OperationSpec, OperationStatus, layout_digest};
use providers_api::{Call, ErrorKind, OperateRequest, ProviderError};

use super::offered::missing;
use crate::{
    cluster::{Cluster, FIELD_MANAGER, passes},
    operations::Payload,
    wait::{Patience, Wait},
    world::read_node,
};

/// For one operation of an agent: seven slices take seconds, a reset of a card up to a minute.
const AGENT_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Until the node offers what was cut: the device plugin restarts and registers, the kubelet writes its status.
const OFFER_LIMIT: Duration = Duration::from_secs(2 * 60);

/// How often a write is tried again because the agent wrote the object in between.
const CONFLICTS: u32 = 8;

/// Carries out one operation. Again after a crash it finds what it wrote, and waits for the same.
///
/// # Errors
/// Conflict where a card is not as the plan saw it or a newer run has taken over; permanent where the agent refuses or
/// fails, with its words; timeout where it does not answer in time.
pub(crate) async fn operate(cluster: &Cluster, request: &OperateRequest, call: Call<'_>) -> Result<(), ProviderError> {
    let payload = Payload::from_json(&request.operation.payload)?;
    let node = &request.operation.node;
    if call.cancel.is_cancelled() {
        let what = format!("interrupted before {node} was changed");
        return Err(ProviderError::new(ErrorKind::Cancelled, what));
    }
    write(cluster, request, &payload).await?;
    wait_for_agent(cluster, request, call).await?;
    wait_for_offer(cluster, node, call).await
}

async fn write(cluster: &Cluster, request: &OperateRequest, payload: &Payload) -> Result<(), ProviderError> {
    let (api, node) = (cluster.gpu_nodes().await?, &request.operation.node);
    let (what, doing) = (format!("GpuNode {node}"), format!("cannot write the operation for {node}"));
    let (mut conflicts, mut failures) = (0, 0);
    loop {
        let Some(mut found) = cluster.find(&api, node.as_str(), &what).await? else {
            let what = format!("{node} has no GpuNode any more");
            return Err(ProviderError::new(ErrorKind::Conflict, what).hint("Check that the agent runs on it."));
        };
        if is_written(&found, request) {
            return Ok(());
        }
        check(&found, request)?;
        fill(&mut found, request, payload);
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        // The whole object, onto the very version that was read: no part of an older operation stays.
        let written = api.replace(node.as_str(), &params, &found).await;
        match written.map_err(|error| cluster.error(&doing, &error)) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind == ErrorKind::Conflict && conflicts < CONFLICTS => conflicts += 1,
            Err(error) => {
                failures += 1;
                // It is read again first: the write may have gone through.
                if !passes(&error, failures).await {
                    return Err(error);
                }
            }
        }
    }
}

fn is_written(found: &GpuNode, request: &OperateRequest) -> bool {
    let written = found.spec.operation.as_ref();
    written.is_some_and(|operation| {
        operation.id == request.operation.id.as_str() && operation.plan_digest == request.plan.as_str()
    })
}

// Is everything as the plan saw it, and are we still the last to have locked the state?
fn check(found: &GpuNode, request: &OperateRequest) -> Result<(), ProviderError> {
    let node = &request.operation.node;
    let conflict = |what: String| Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again."));
    let status = found.status.clone().unwrap_or_default();
    let written = found.spec.operation.as_ref().map_or(0, |operation| operation.fence);
    let newest = written.max(status.fence);
    if newest > request.fence {
        return conflict(format!("a newer run has taken over {node} (fence {newest}, this run has {})", request.fence));
    }
    if let Some(running) = status.operation.filter(|operation| operation.phase == OperationPhase::Running) {
        return conflict(format!("{node} is in the middle of another operation, {}", running.id));
    }
    for (uuid, digest) in &request.operation.precondition.cards {
        let Some(card) = status.cards.iter().find(|card| card.uuid == uuid.as_str()) else {
            return conflict(format!("{node} no longer has card {uuid}"));
        };
        if layout_digest(&card.layout) != *digest {
            let what = format!("{node} card {} ({uuid}) is no longer cut as the plan saw it", card.index);
            return conflict(what);
        }
    }
    Ok(())
}

fn fill(found: &mut GpuNode, request: &OperateRequest, payload: &Payload) {
    let precondition = &request.operation.precondition.cards;
    found.spec.operation = Some(OperationSpec {
        id: request.operation.id.to_string(),
        plan_digest: request.plan.to_string(),
        fence: request.fence,
        cards: payload.cards.clone(),
        precondition: precondition.iter().map(|(uuid, digest)| (uuid.to_string(), digest.to_string())).collect(),
        allow_reset: payload.allow_reset,
    });
    found.spec.approved.extend(payload.cards.clone());
    for uuid in &payload.forget {
        found.spec.approved.remove(uuid);
    }
}

// An interrupt does not end this: an agent that has begun comes to its end, and stopping to look would leave the node in
// an unknown state for nothing.
async fn wait_for_agent(cluster: &Cluster, request: &OperateRequest, call: Call<'_>) -> Result<(), ProviderError> {
    let (api, node, id) = (cluster.gpu_nodes().await?, &request.operation.node, request.operation.id.as_str());
    let deaf = tokio_util::sync::CancellationToken::new();
    let patient = Call { cancel: &deaf, ..call };
    let mut patience = Patience::new(patient, AGENT_LIMIT);
    loop {
        let found = cluster.find(&api, node.as_str(), &format!("GpuNode {node}")).await?;
        let operation = found.and_then(|found| found.status?.operation).filter(|operation| operation.id == id);
        match progress(node, operation)? {
            Wait::Done(()) => return Ok(()),
            Wait::For(what) => patience.wait(what).await?,
        }
    }
}

fn progress(node: &NodeName, operation: Option<OperationStatus>) -> Result<Wait<()>, ProviderError> {
    let Some(operation) = operation else {
        return Ok(Wait::For(format!("the agent of {node} to begin")));
    };
    let step = format!("step {} of {}", operation.done, operation.total);
    let message = operation.message;
    match operation.phase {
        OperationPhase::Succeeded => Ok(Wait::Done(())),
        OperationPhase::Running => Ok(Wait::For(format!("the agent of {node}, {step}: {message}"))),
        OperationPhase::Refused => {
            let what = format!("the agent of {node} refuses, and changed nothing: {message}");
            Err(ProviderError::new(ErrorKind::Conflict, what).hint("Remove the cause, then plan again."))
        }
        OperationPhase::Failed => {
            let what = format!("the agent of {node} failed at {step}: {message}");
            Err(ProviderError::permanent(what).hint("Plan again: the next plan starts from what the cards are now."))
        }
    }
}

async fn wait_for_offer(cluster: &Cluster, node: &NodeName, call: Call<'_>) -> Result<(), ProviderError> {
    let mut patience = Patience::new(call, OFFER_LIMIT);
    loop {
        let world = read_node(cluster, node, call).await?;
        let Some(missing) = world.nodes.get(node).and_then(missing) else { return Ok(()) };
        patience.wait(format!("{node} to offer {missing}")).await.map_err(|error| {
            if error.kind == ErrorKind::Timeout {
                let hint = "The cards are cut. Check the device plugin's pod there: it must have restarted after the \
                            change.";
                error.hint(hint)
            } else {
                error
            }
        })?;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engine_model::{
        address::{ModulePath, ProviderAddr, ProviderConfigAddr},
        operation::{Operation, OperationKind, Precondition, Undo},
    };
    use providers_agent_api::{CardSpec, CardStatus, GpuNodeSpec, GpuNodeStatus, Layout};

    use super::*;

    fn request() -> OperateRequest {
        let spec = CardSpec { layout: Layout { mig: true, ..Layout::default() }, ..CardSpec::default() };
        let payload = Payload { cards: BTreeMap::from([("GPU-0".to_owned(), spec)]), ..Payload::default() };
        let operation = Operation {
            id: "op-2".into(),
            provider: ProviderConfigAddr {
                module: ModulePath::root(),
                provider: ProviderAddr::new("h", "n", "gpu"),
                alias: None,
            },
            node: "gpu-01".into(),
            kind: OperationKind::Drain,
            summary: String::new(),
            domain: None,
            unit: None,
            precondition: Precondition { cards: [("GPU-0".into(), layout_digest(&Layout::default()))].into() },
            undo: Undo::Impossible(String::new()),
            victims: Vec::new(),
            owners: Vec::new(),
            cards: Vec::new(),
            payload: payload.to_json(),
            after: Vec::new(),
        };
        OperateRequest { operation, plan: "plan".into(), fence: 7 }
    }

    fn node(change: impl FnOnce(&mut GpuNode)) -> GpuNode {
        let mut node = GpuNode::new("gpu-01", GpuNodeSpec::default());
        let cards = vec![CardStatus { uuid: "GPU-0".to_owned(), ..CardStatus::default() }];
        node.status = Some(GpuNodeStatus { cards, ..GpuNodeStatus::default() });
        change(&mut node);
        node
    }

    #[test]
    fn anything_but_what_the_plan_saw_stops_it() {
        let request = request();
        let status = |change: fn(&mut GpuNodeStatus)| node(|node| change(node.status.as_mut().unwrap()));
        for (node, expected) in [
            (node(|_| {}), None),
            (status(|status| status.cards.clear()), Some("no longer has card GPU-0")),
            (status(|status| status.cards[0].layout.mig = true), Some("no longer cut as the plan saw it")),
            (status(|status| status.fence = 8), Some("a newer run has taken over gpu-01 (fence 8, this run has 7)")),
            (
                status(|status| {
                    status.operation = Some(OperationStatus {
                        id: "op-1".to_owned(),
                        phase: OperationPhase::Running,
                        done: 0,
                        total: 1,
                        message: String::new(),
                    });
                }),
                Some("in the middle of another operation, op-1"),
            ),
        ] {
            let result = check(&node, &request);
            assert_eq!(result.is_err(), expected.is_some());
            if let (Err(error), Some(expected)) = (result, expected) {
                assert_eq!(error.kind, ErrorKind::Conflict);
                assert!(error.to_string().contains(expected), "{error}");
            }
        }
    }

    #[test]
    fn an_operation_replaces_the_one_before_and_adds_to_what_is_approved() {
        let request = request();
        let payload = Payload::from_json(&request.operation.payload).unwrap();
        let other = CardSpec { pci_address: "other".to_owned(), ..CardSpec::default() };
        let mut found = node(|node| {
            node.spec.approved = BTreeMap::from([("GPU-1".to_owned(), other)]);
        });
        fill(&mut found, &request, &payload);
        assert!(is_written(&found, &request));
        let approved: Vec<&str> = found.spec.approved.keys().map(String::as_str).collect();
        assert_eq!(approved, ["GPU-0", "GPU-1"]);
        let operation = found.spec.operation.as_ref().unwrap();
        assert_eq!((operation.fence, operation.cards.len(), operation.precondition.len()), (7, 1, 1));

        let leaving = Payload { forget: vec!["GPU-0".to_owned()], ..payload };
        fill(&mut found, &request, &leaving);
        assert_eq!(found.spec.approved.len(), 1);
    }
}
