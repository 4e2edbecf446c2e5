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
    wait::Patience,
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
    let taken_over = request.hold.takes_over.as_ref();
    taint::put(cluster, node, &request.plan, taken_over).await?;
    let (mut evicted, mut refused): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    let mut patience = Patience::new(call, request.hold.timeout);
    loop {
        let world = read_node(cluster, node, call).await?;
        let next = decide(policy, request, &payloads, &world, &evicted)?;
        let mut waiting = next.waiting;
        for name in next.evict {
            let Some(pod) = world.pods.get(&name) else { continue };
            // Asking again is part of the wait for the budget, and is not told as if it were news.
            if !refused.contains(&pod.uid) {
                call.working(format!("evicting pod {name}"));
            }
            match evict(cluster, &name, pod).await? {
                Eviction::Begun => drop(evicted.insert(pod.uid.clone())),
                Eviction::Refused => {
                    refused.insert(pod.uid.clone());
                    waiting = Some(format!("a PodDisruptionBudget to allow the end of pod {name}"));
                }
            }
        }
        match waiting {
            None => return Ok(()),
            Some(what) => patience.wait(what).await?,
        }
    }
}

/// What comes next.
#[derive(Debug, Default, PartialEq, Eq)]
struct Next {
    /// Pods to evict now.
    evict: Vec<PodName>,
    /// What is waited for; `None`: nobody is on what goes.
    waiting: Option<String>,
}

// From what the node is now. `evicted` are the UIDs of pods that were evicted before.
fn decide(
    policy: &DisruptionPolicy,
    request: &HoldRequest,
    payloads: &[Payload],
    world: &World,
    evicted: &BTreeSet<String>,
) -> Result<Next, ProviderError> {
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
            return Ok(Next { waiting: Some(format!("protected pod {pod} to end by itself")), ..Next::default() });
        }
        let what = format!("pod {pod} on {name} is protected, and came after the plan was made");
        return Err(ProviderError::new(ErrorKind::Conflict, what).hint("Plan again."));
    }
    // Those that are ending already, whoever ended them, need no approval.
    let is_staying =
        |pod: &&PodName| world.pods.get(*pod).is_some_and(|pod| !pod.ending && !evicted.contains(&pod.uid));
    let staying: Vec<&PodName> = victims.iter().filter(is_staying).collect();
    refuse_outside(request, &staying, world, evicted)?;

    let waiting = victims.first().map(|pod| match world.pods.contains_key(pod) {
        true => format!("pod {pod} to end"),
        // What only the agent names has ended a moment ago.
        false => format!("{name}'s agent to see that pod {pod} has ended"),
    });
    // It was bound before the taint: which card it gets is known only when the kubelet has admitted it.
    let is_new = |pod: &PodName| world.pods.get(pod).is_some_and(|pod| pod.pending && !pod.ending);
    let unseen = || unseen(node).into_iter().find(is_new);
    let waiting = waiting.or_else(|| Some(format!("pod {} to be given its card on {name}", unseen()?)));
    Ok(Next { evict: staying.into_iter().cloned().collect(), waiting })
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

#[cfg(test)]
mod tests {
    use engine_model::{
        address::{ModulePath, ProviderAddr, ProviderConfigAddr},
        operation::{Hold, OperationKind, Victim},
        policy::Protect,
    };
    use providers_agent_api::CardSpec;

    use super::*;
    use crate::{
        fixture::{WorldBuilder, a100, mig, pod},
        world::agent_layout,
    };

    fn request(victims: Vec<Victim>) -> HoldRequest {
        let provider = ProviderConfigAddr {
            module: ModulePath::root(),
            provider: ProviderAddr::new("h", "n", "gpu"),
            alias: None,
        };
        let hold = Hold {
            node: "gpu-01".into(),
            provider,
            kind: OperationKind::Drain,
            operations: Vec::new(),
            victims,
            wave: 0,
            timeout: std::time::Duration::from_secs(60),
            takes_over: None,
        };
        HoldRequest { hold, operations: Vec::new(), plan: "plan".into() }
    }

    fn victim(name: &str) -> Victim {
        Victim {
            namespace: "b".to_owned(),
            owner_kind: "pod".to_owned(),
            owner_name: name.to_owned(),
            priority: 0,
            count: 1,
        }
    }

    // A card with a pod on each of two slices, of which the second goes.
    fn world() -> WorldBuilder {
        let users = [("1g.10gb@0:1", pod("b", "stays")), ("3g.40gb@4:4", pod("b", "goes"))];
        WorldBuilder::default()
            .node("gpu-01", vec![a100(0, "1g.10gb@0:1 3g.40gb@4:4", &users)])
            .pod("b/stays", "gpu-01", "nvidia.com/mig-1g.10gb")
            .pod("b/goes", "gpu-01", "nvidia.com/mig-3g.40gb")
    }

    fn next(
        world: WorldBuilder,
        victims: Vec<Victim>,
        on_hit: Option<OnHit>,
        evicted: &[&str],
    ) -> Result<Next, String> {
        let layout = agent_layout(&mig("1g.10gb@0:1 2g.20gb@2:2"));
        let spec = CardSpec { layout, ..CardSpec::default() };
        let payload = Payload { cards: [("GPU-0".to_owned(), spec)].into(), ..Payload::default() };
        let protect = on_hit.map(|on_hit| Protect { namespaces: vec!["b".to_owned()], on_hit });
        let policy = DisruptionPolicy { protect, ..DisruptionPolicy::default() };
        let evicted = evicted.iter().map(|uid| (*uid).to_owned()).collect();
        let next = decide(&policy, &request(victims), &[payload], &world.build(), &evicted);
        next.map_err(|error| {
            assert_eq!(error.kind, ErrorKind::Conflict);
            error.to_string()
        })
    }

    fn evicting(evict: &[&str], waiting: &str) -> Result<Next, String> {
        let pod = |name: &&str| PodName { namespace: "b".to_owned(), name: (*name).to_owned() };
        let waiting = (!waiting.is_empty()).then(|| waiting.to_owned());
        Ok(Next { evict: evict.iter().map(pod).collect(), waiting })
    }

    #[test]
    fn exactly_the_victims_are_evicted() {
        let approved = || vec![victim("goes")];
        assert_eq!(next(world(), approved(), None, &[]), evicting(&["goes"], "pod b/goes to end"));
        // Once is enough.
        assert_eq!(next(world(), approved(), None, &["uid-goes"]), evicting(&[], "pod b/goes to end"));
        let ending = world().with_pod("b/goes", |pod| pod.ending = true);
        assert_eq!(next(ending, Vec::new(), None, &[]), evicting(&[], "pod b/goes to end"));
    }

    #[test]
    fn the_end_is_when_nobody_is_on_what_goes() {
        let gone = WorldBuilder::default()
            .node("gpu-01", vec![a100(0, "1g.10gb@0:1 3g.40gb@4:4", &[("1g.10gb@0:1", pod("b", "stays"))])])
            .pod("b/stays", "gpu-01", "nvidia.com/mig-1g.10gb");
        assert_eq!(next(gone, Vec::new(), None, &[]), evicting(&[], ""));
        let users = [("3g.40gb@4:4", pod("b", "goes"))];
        let lagging = WorldBuilder::default().node("gpu-01", vec![a100(0, "1g.10gb@0:1 3g.40gb@4:4", &users)]);
        let waits = "gpu-01's agent to see that pod b/goes has ended";
        assert_eq!(next(lagging, Vec::new(), None, &[]), evicting(&[], waits));
        let bound = WorldBuilder::default()
            .node("gpu-01", vec![a100(0, "1g.10gb@0:1", &[])])
            .pod("b/new", "gpu-01", "nvidia.com/mig-1g.10gb")
            .with_pod("b/new", |pod| pod.pending = true);
        assert_eq!(next(bound, Vec::new(), None, &[]), evicting(&[], "pod b/new to be given its card on gpu-01"));
    }

    #[test]
    fn a_pod_outside_the_envelope_stops_the_node() {
        let expected = "gpu-01 stays as it is: 1 pod(s) of b/pod/goes (priority 0) would have to end, and the plan does \
                        not say so";
        assert_eq!(next(world(), vec![victim("other")], None, &[]), Err(expected.to_owned()));
    }

    #[test]
    fn protected_pods_are_waited_for_or_stop_the_node() {
        let waits = evicting(&[], "protected pod b/goes to end by itself");
        assert_eq!(next(world(), Vec::new(), Some(OnHit::Wait), &[]), waits);
        assert!(next(world(), Vec::new(), Some(OnHit::Skip), &[]).unwrap_err().contains("is protected"));
    }

    #[test]
    fn a_card_that_is_gone_stops_the_node() {
        let other = WorldBuilder::default().node("gpu-01", vec![a100(7, "", &[])]);
        assert!(next(other, Vec::new(), None, &[]).unwrap_err().contains("no longer has card GPU-0"));
    }
}
