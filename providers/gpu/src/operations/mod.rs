//! How changes of pools are carried out on nodes: one operation per node, whatever number of pools and cards it is for.
//! Pure: the same changes and the same world make the same operations, to the byte.

mod card_map;
mod payload;
mod summary;

use std::collections::{BTreeMap, BTreeSet};

use engine_model::{
    address::{ModulePath, ProviderAddr, ProviderConfigAddr, ResourceAddr},
    change::Action,
    name::{GpuUuid, NodeName, OperationId},
    operation::{Excluded, Operation, OperationKind, Precondition, Undo},
    policy::{DisruptionPolicy, OnHit},
};
use engine_value::Path;
use providers_agent_api::CardSpec;
use providers_api::{Issue, Operations, PlannedChange};
use providers_catalog::Layout;
use sha2::{Digest, Sha256};

pub(crate) use payload::Payload;

use crate::{
    attributes::texts,
    envelope::{Protection, envelope, processes_of, victims_of},
    exclusion::exclusion,
    pool::{self, CardDiff, PoolConfig, Private, card_diff, nodes_of, plan_pool},
    world::{Card, Node, World, agent_layout},
};

/// What a card becomes, and in whose name.
#[derive(Clone, Debug)]
struct Target {
    layout: Layout,
    /// The profile that it gets; `None`: its pool is on its way out.
    profile: Option<String>,
}

/// What becomes of one node.
#[derive(Default)]
struct NodeTargets {
    owners: BTreeSet<ResourceAddr>,
    cards: BTreeMap<GpuUuid, Target>,
}

/// Carries out the changes of all pools of an instance together.
pub(crate) fn operations(
    provider: &ProviderAddr,
    changes: &[PlannedChange],
    world: &World,
    policy: &DisruptionPolicy,
) -> Operations {
    let pools: Vec<&PlannedChange> = changes.iter().filter(|change| &*change.addr.ty == pool::TYPE).collect();
    let mut result = Operations::default();
    let mut targets: BTreeMap<NodeName, NodeTargets> = BTreeMap::new();
    let (mut managed, mut owners) = (BTreeSet::new(), BTreeMap::<NodeName, &ResourceAddr>::new());
    for change in &pools {
        let selected = selected(change, world);
        if !change.after.is_null() {
            for node in &selected {
                if let Some(other) = owners.insert(node.clone(), &change.addr) {
                    result.issues.push((change.addr.clone(), two_pools(node, &change.addr, other)));
                }
            }
        }
        managed.extend(selected);
        result.excluded.extend(excluded(change, world, policy));
        collect(change, world, &mut targets);
    }
    result.excluded.sort();
    result.excluded.dedup_by(|a, b| a.node == b.node);
    // A node that another pool takes over is not left alone.
    result.excluded.retain(|excluded| !targets.contains_key(&excluded.node));
    let context = Context { provider, world, policy };
    for (name, node_targets) in &targets {
        let Some(node) = world.nodes.get(name) else { continue };
        context.node(name, node, node_targets, &mut result);
    }
    let unavailable =
        |name: &&NodeName| world.nodes.get(*name).is_some_and(|node| node.not_ready.is_some() || node.cordoned);
    result.unavailable = managed.iter().filter(unavailable).cloned().collect();
    result.managed = managed.len() as u64;
    result
}

fn selected(change: &PlannedChange, world: &World) -> Vec<NodeName> {
    let object = if change.after.is_null() { &change.before } else { &change.after };
    let selector = texts(object, "selector").collect();
    world.selected(&selector).map(|(name, _)| name.clone()).collect()
}

fn two_pools(node: &NodeName, pool: &ResourceAddr, other: &ResourceAddr) -> Issue {
    let detail = format!("{node} has the labels of {pool} and of {other}. A node belongs to one pool.");
    let hint = "Make the selectors exclude each other, or make the two one pool with more profiles.";
    let mut issue = Issue::error(Path::root().attr("selector"), "A node in two pools", detail).hint(hint);
    let place = engine_model::finding::Place::new(other.clone(), Path::root().attr("selector"));
    issue.related.push(("the other pool".to_owned(), place));
    issue
}

// The plan of a pool was made before, from the same inputs: here it only tells again whom it left out.
fn excluded(change: &PlannedChange, world: &World, policy: &DisruptionPolicy) -> Vec<Excluded> {
    let stored = nodes_of(&change.before);
    if change.after.is_null() {
        return stored.iter().filter_map(|(name, state)| exclusion(name, world, Some(state))).collect();
    }
    let Ok(config) = PoolConfig::of(&change.config) else { return Vec::new() };
    plan_pool(&config, &stored, world, policy).map(|plan| plan.excluded).unwrap_or_default()
}

fn collect(change: &PlannedChange, world: &World, targets: &mut BTreeMap<NodeName, NodeTargets>) {
    if matches!(change.action, Action::NoOp | Action::Read | Action::Forget) {
        return;
    }
    let mut add = |name: &NodeName, cards: BTreeMap<GpuUuid, Target>| {
        if !cards.is_empty() {
            let entry = targets.entry(name.clone()).or_default();
            entry.owners.insert(change.addr.clone());
            entry.cards.extend(cards);
        }
    };
    if change.after.is_null() {
        let private = Private::from_bytes(&change.private);
        for (name, layouts) in pool::destroy::layouts(&change.before, &private, world) {
            let Some(node) = world.nodes.get(&name) else { continue };
            let differing = cards(node).filter_map(|card| {
                let layout = layouts.get(&card.uuid).filter(|layout| **layout != card.layout)?;
                Some((card.uuid.clone(), Target { layout: layout.clone(), profile: None }))
            });
            add(&name, differing.collect());
        }
        return;
    }
    let selector = texts(&change.after, "selector").collect();
    let nodes = nodes_of(&change.after);
    for (name, node) in world.selected(&selector) {
        let Some(state) = nodes.get(name).filter(|state| state.excluded.is_none()) else { continue };
        if exclusion(name, world, Some(state)).is_some() {
            continue;
        }
        let differing = state.changes(node).map(|(card, layout)| {
            let profile = state.cards.get(&card.pci).and_then(|state| state.cut.as_ref()).map(|(name, _)| name.clone());
            (card.uuid.clone(), Target { layout: layout.clone(), profile })
        });
        add(name, differing.collect());
    }
}

fn cards(node: &Node) -> impl Iterator<Item = &Card> {
    node.report.iter().flat_map(|report| &report.cards)
}

struct Context<'a> {
    provider: &'a ProviderAddr,
    world: &'a World,
    policy: &'a DisruptionPolicy,
}

impl Context<'_> {
    fn node(&self, name: &NodeName, node: &Node, targets: &NodeTargets, result: &mut Operations) {
        let changes: Vec<(&Card, &Target)> =
            cards(node).filter_map(|card| Some((card, targets.cards.get(&card.uuid)?))).collect();
        let layouts = || changes.iter().map(|(card, target)| (*card, &target.layout));
        let diffs: Vec<(&Card, CardDiff)> = layouts().map(|(card, then)| (card, card_diff(card, then))).collect();
        let owner = targets.owners.first().expect("targets are only made in the name of a pool");

        let pods = victims_of(name, node, layouts(), self.world);
        let protection = Protection::of(self.policy);
        let (protected, victims): (BTreeSet<_>, BTreeSet<_>) =
            pods.into_iter().partition(|pod| protection.is_some_and(|protection| protection.covers(&pod.namespace)));
        for pod in &protected {
            if protection.is_some_and(|protection| protection.on_hit == OnHit::Fail) {
                let detail = format!("The change of {name} would end pod {pod}, whose namespace the policy protects.");
                let hint = "Wait until it has ended, leave its slice as it is, or set disruption.protect.on_hit.";
                let path = Path::root().attr("profiles");
                result
                    .issues
                    .push((owner.clone(), Issue::error(path, "A protected pod would be ended", detail).hint(hint)));
            }
        }
        for pod in victims.iter().filter(|pod| self.world.pods.get(*pod).is_some_and(|pod| pod.is_static)) {
            let detail = format!("Pod {pod} on {name} is a static pod: the API cannot evict it.");
            let hint = format!("Remove its manifest from {name} first.");
            let issue = Issue::error(Path::root().attr("profiles"), "A static pod is in the way", detail).hint(hint);
            result.issues.push((owner.clone(), issue));
        }
        for (card, pid, process) in processes_of(layouts()) {
            let process = if process.is_empty() { process } else { format!(" ({process})") };
            let detail = format!(
                "{name} {} is held by process {pid}{process}, which is in no pod. The agent refuses the change while \
                 it runs.",
                card.label()
            );
            let issue = Issue::warning(Path::root().attr("profiles"), "A process is in the way", detail);
            result.issues.push((owner.clone(), issue.hint("Stop it before apply.")));
        }

        let is_leaving = targets.cards.values().all(|target| target.profile.is_none());
        let payload = Payload {
            cards: changes.iter().map(|(card, target)| (card.uuid.to_string(), spec(card, &target.layout))).collect(),
            forget: if is_leaving {
                changes.iter().map(|(card, _)| card.uuid.to_string()).collect()
            } else {
                Vec::new()
            },
            allow_reset: diffs.iter().any(|(_, diff)| diff.reset),
        };
        let undo = changes.iter().map(|(card, _)| (card.uuid.to_string(), spec(card, &card.layout)));
        let undo = Payload { cards: undo.collect(), ..payload.clone() };
        result.operations.push(Operation {
            id: self.id(name, node, &changes, &payload),
            provider: ProviderConfigAddr { module: ModulePath::root(), provider: self.provider.clone(), alias: None },
            node: name.clone(),
            kind: kind(&diffs),
            summary: summary::summary(&diffs),
            domain: self.policy.failure_domain.as_ref().and_then(|label| node.labels.get(label)).cloned(),
            unit: self.policy.unit.as_ref().and_then(|label| node.labels.get(label)).cloned(),
            precondition: Precondition {
                cards: changes.iter().map(|(card, _)| (card.uuid.clone(), card.digest.clone())).collect(),
            },
            undo: Undo::Payload(undo.to_json()),
            victims: envelope(&victims, self.world),
            owners: targets.owners.iter().cloned().collect(),
            cards: changes
                .iter()
                .map(|(card, target)| card_map::change(name, card, &target.layout, target.profile.as_deref()))
                .collect(),
            payload: payload.to_json(),
            after: Vec::new(),
        });
    }

    // The same work on the same node has the same id, and work that is tried again after it failed has another: an agent
    // acts once on each.
    fn id(&self, name: &NodeName, node: &Node, changes: &[(&Card, &Target)], payload: &Payload) -> OperationId {
        let mut hash = Sha256::new();
        let mut feed = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        feed(name.as_str());
        for (card, target) in changes {
            feed(card.uuid.as_str());
            feed(card.digest.as_str());
            feed(&target.layout.to_string());
        }
        feed(&payload.to_json().to_string());
        let report = node.report.as_ref();
        feed(report.and_then(|report| report.asked.as_deref()).unwrap_or_default());
        let digest = hash.finalize();
        let digest: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        OperationId::from(format!("{name}-{digest}"))
    }
}

fn spec(card: &Card, layout: &Layout) -> CardSpec {
    CardSpec { pci_address: card.pci.to_string(), layout: agent_layout(layout), settings: Default::default() }
}

// Slices that only come disrupt nobody. Whatever goes needs the hold even if nobody is on it: a pod could be scheduled
// there a moment before.
fn kind(diffs: &[(&Card, CardDiff)]) -> OperationKind {
    let one = |diff: &CardDiff| {
        if diff.reset {
            OperationKind::Reset
        } else if diff.mode.is_some() || !diff.destroyed.is_empty() {
            OperationKind::Drain
        } else {
            OperationKind::None
        }
    };
    diffs.iter().map(|(_, diff)| one(diff)).fold(OperationKind::None, OperationKind::max)
}
