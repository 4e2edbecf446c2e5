//! Takes a node out of use: our taint, then the end of exactly those pods that are on what goes.
//!
//! Pods on what stays are not touched. Who must go is found anew from what the node is now, and compared with the
//! envelope that was approved: anything outside it stops the node as it is.

use std::collections::BTreeSet;

use engine_model::{
    name::NodeName,
    policy::{DisruptionPolicy, OnHit},
};
use providers_api::{Call, ErrorKind, HoldRequest, ProviderError};
use providers_catalog::Layout;

use super::{
    evict::{Eviction, evict},
    taint,
};
use crate::{
    cluster::Cluster,
    envelope::{Protection, envelope, outside, unseen, victims_of},
    operations::Payload,
    wait::{Patience, Wait},
    world::{Card, Node, PodName, World, catalog_layout, read_node},
};

/// Holds a node.
///
/// # Errors
/// Conflict where another plan holds it, or a pod that is not in the envelope is on what goes; timeout where something
/// does not end in time.
pub(crate) async fn hold(
    cluster: &Cluster,
    policy: &DisruptionPolicy,
    request: &HoldRequest,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let node = &request.hold.node;
    let mut payloads = Vec::new();
    for operation in &request.operations {
        payloads.push(Payload::from_json(&operation.payload)?);
    }
    let taken_over = payloads.iter().find_map(|payload| payload.held_by.as_deref());
    call.working(format!("holding {node}"));
    taint::put(cluster, node, &request.plan, taken_over).await?;
    let mut evicted: BTreeSet<String> = BTreeSet::new();
    let mut patience = Patience::new(call, request.hold.timeout);
    loop {
        let world = read_node(cluster, node, call).await?;
        match look(cluster, policy, request, &payloads, &world, &mut evicted, call).await? {
            Wait::Done(()) => return Ok(()),
            Wait::For(what) => patience.wait(what).await?,
        }
    }
}

async fn look(
    cluster: &Cluster,
    policy: &DisruptionPolicy,
    request: &HoldRequest,
    payloads: &[Payload],
    world: &World,
    evicted: &mut BTreeSet<String>,
    call: Call<'_>,
) -> Result<Wait<()>, ProviderError> {
    let name = &request.hold.node;
    let Some(node) = world.nodes.get(name) else {
        return Err(ProviderError::new(ErrorKind::Conflict, format!("{name} is no longer in the cluster")));
    };
    let layouts = layouts(name, node, payloads)?;
    let pods = victims_of(name, node, layouts.iter().map(|(card, then)| (*card, then)), world);
    let protection = Protection::of(policy);
    let (protected, victims): (BTreeSet<PodName>, BTreeSet<PodName>) =
        pods.into_iter().partition(|pod| protection.is_some_and(|protection| protection.covers(&pod.namespace)));
    if let Some(pod) = protected.first() {
        if protection.is_some_and(|protection| protection.on_hit == OnHit::Wait) {
            return Ok(Wait::For(format!("protected pod {pod} to end by itself")));
        }
        let what = format!("pod {pod} on {name} is protected, and came after the plan was made");
        return Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again."));
    }
    // Those that are ending already, whoever ended them, need no approval.
    let staying: Vec<&PodName> = victims
        .iter()
        .filter(|pod| world.pods.get(*pod).is_some_and(|pod| !pod.ending && !evicted.contains(&pod.uid)))
        .collect();
    refuse_outside(request, &staying, world, evicted)?;

    let mut waiting = None;
    for pod_name in &victims {
        // What only the agent names has ended a moment ago.
        let Some(pod) = world.pods.get(pod_name) else {
            waiting.get_or_insert_with(|| format!("{name}'s agent to see that pod {pod_name} has ended"));
            continue;
        };
        let mut cause = format!("pod {pod_name} to end");
        if !pod.ending && evict(cluster, pod_name, pod, call).await? == Eviction::Refused {
            cause = format!("a PodDisruptionBudget to allow the end of pod {pod_name}");
        } else {
            evicted.insert(pod.uid.clone());
        }
        waiting.get_or_insert(cause);
    }
    if waiting.is_none()
        && let Some(pod) = unseen(node).into_iter().find(|pod| world.pods.get(pod).is_some_and(|pod| pod.pending))
    {
        // It was bound before the taint: which card it gets is known only when the kubelet has admitted it.
        waiting = Some(format!("pod {pod} to be given its card on {name}"));
    }
    Ok(waiting.map_or(Wait::Done(()), Wait::For))
}

fn refuse_outside(
    request: &HoldRequest,
    staying: &[&PodName],
    world: &World,
    evicted: &BTreeSet<String>,
) -> Result<(), ProviderError> {
    let found = envelope(staying.iter().copied(), world);
    // What was evicted already has used up its part.
    let mut approved = request.hold.victims.clone();
    let gone = world.pods.iter().filter(|(_, pod)| evicted.contains(&pod.uid));
    for (name, pod) in gone {
        let victim = pod.envelope(name);
        if let Some(used) =
            approved.iter_mut().find(|approved| approved.owner() == victim.owner() && approved.count > 0)
        {
            used.count -= 1;
        }
    }
    let outside = outside(&found, &approved);
    let Some((victim, count)) = outside.first() else { return Ok(()) };
    let node = &request.hold.node;
    let what = format!(
        "{node} stays as it is: {count} pod(s) of {} (priority {}) would have to end, and the plan does not say so",
        victim.owner(),
        victim.priority
    );
    Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again: the new plan shows whose pods end."))
}

// The cards as they are now, with what the operations make of them.
fn layouts<'a>(
    name: &NodeName,
    node: &'a Node,
    payloads: &[Payload],
) -> Result<Vec<(&'a Card, Layout)>, ProviderError> {
    let mut layouts = Vec::new();
    for (uuid, spec) in payloads.iter().flat_map(|payload| &payload.cards) {
        let cards = node.report.iter().flat_map(|report| &report.cards);
        let Some(card) = cards.into_iter().find(|card| card.uuid.as_str() == uuid) else {
            let what = format!("{name} no longer has card {uuid}, which the plan changes");
            return Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again."));
        };
        let layout = catalog_layout(&spec.layout).map_err(|why| {
            ProviderError::permanent(format!("the plan's layout of card {uuid} cannot be read: {why}"))
        })?;
        layouts.push((card, layout));
    }
    Ok(layouts)
}
