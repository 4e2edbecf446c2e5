//! What became of an operation that was begun and not seen to finish.

use providers_agent_api::{GpuNode, OperationPhase, layout_digest};
use providers_api::{ErrorKind, ProviderError, RecoverRequest, Recovery};

use crate::{cluster::Cluster, operations::Payload};

/// Asks what became of an operation. Only reads.
pub(crate) async fn recover(cluster: &Cluster, request: &RecoverRequest) -> Recovery {
    let node = &request.operation.node;
    let found = async {
        let api = cluster.gpu_nodes().await?;
        cluster.find(&api, node.as_str(), &format!("GpuNode {node}")).await
    };
    match found.await {
        Err(error) => Recovery::Unknown(error),
        Ok(None) => {
            let what = format!("{node} has no GpuNode any more");
            Recovery::Unknown(ProviderError::new(ErrorKind::Conflict, what))
        }
        Ok(Some(found)) => match Payload::from_json(&request.operation.payload) {
            Ok(payload) => became(&found, request, &payload),
            Err(error) => Recovery::Unknown(error),
        },
    }
}

fn became(found: &GpuNode, request: &RecoverRequest, payload: &Payload) -> Recovery {
    let id = request.operation.id.as_str();
    let status = found.status.clone().unwrap_or_default();
    if let Some(operation) = status.operation.as_ref().filter(|operation| operation.id == id) {
        let progress = || format!("step {} of {}: {}", operation.done, operation.total, operation.message);
        return match operation.phase {
            OperationPhase::Succeeded => Recovery::Done,
            OperationPhase::Refused => Recovery::NotStarted,
            OperationPhase::Running => Recovery::Partly(format!("the agent is at {}", progress())),
            OperationPhase::Failed => Recovery::Partly(format!("the agent failed at {}", progress())),
        };
    }
    if found.spec.operation.as_ref().is_some_and(|operation| operation.id == id) {
        return Recovery::Partly("it is written for the agent, which has not begun".to_owned());
    }
    // Another operation came after it, or it was never written: the cards themselves tell.
    let card = |uuid: &str| status.cards.iter().find(|card| card.uuid == uuid);
    let done = payload
        .cards
        .iter()
        .all(|(uuid, spec)| card(uuid).is_some_and(|card| layout_digest(&card.layout) == layout_digest(&spec.layout)));
    let untouched = request
        .operation
        .precondition
        .cards
        .iter()
        .all(|(uuid, digest)| card(uuid.as_str()).is_some_and(|card| layout_digest(&card.layout) == *digest));
    match (done, untouched) {
        (true, _) => Recovery::Done,
        (false, true) => Recovery::NotStarted,
        (false, false) => Recovery::Partly("its cards are neither as before nor as planned".to_owned()),
    }
}
