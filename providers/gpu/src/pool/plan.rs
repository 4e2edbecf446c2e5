//! Configuration, snapshot and world make a plan of a pool's nodes. Pure and deterministic.
//!
//! Each card is given a profile, then a layout. Nodes that are excluded keep what the snapshot has for them, and their
//! cards count towards their profiles: a node that is down never makes another one be cut in its place.

use std::collections::BTreeMap;

use engine_model::{
    name::NodeName,
    operation::{Excluded, ExclusionReason},
    policy::{DisruptionPolicy, OnHit},
};
use engine_value::Path;
use providers_api::Issue;
use providers_catalog::{DriverVersion, Layout};

use super::{
    CardState, Cut, NodeState, PoolConfig,
    assign::{Cost, assign},
    card_diff,
    profile::{Profile, what_fits},
    profile_path,
    target::{Solver, is_cut},
};
use crate::{
    envelope::{Protection, victims_of},
    exclusion::{exclusion, short},
    resource::{Amounts, add},
    world::{Card, Node, World},
};

/// The key of the label that tells the device plugin's strategy.
const STRATEGY: &str = "nvidia.com/mig.strategy";

/// The key of the label by which the GPU Operator runs mig-manager on a node.
const MIG_MANAGER: &str = "nvidia.com/gpu.deploy.mig-manager";

/// What a pool's nodes become.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolPlan {
    /// Every node of the pool, excluded ones included.
    pub(crate) nodes: BTreeMap<NodeName, NodeState>,
    /// Nodes that are left alone.
    pub(crate) excluded: Vec<Excluded>,
    /// Nodes that have the pool's labels now.
    pub(crate) selected: Vec<NodeName>,
    /// Nodes that the snapshot does not have, or had to leave alone.
    pub(crate) joined: Vec<NodeName>,
    /// Nodes of the snapshot that no longer have the pool's labels.
    pub(crate) left: Vec<NodeName>,
    /// What the nodes that are not excluded offer through the pool's profiles.
    pub(crate) resources: Amounts,
    /// Warnings.
    pub(crate) issues: Vec<Issue>,
}

/// Plans a pool. `stored` is what the snapshot knows of its nodes.
///
/// # Errors
/// It cannot be done: every reason, at the path of the profile that asks for it.
pub(crate) fn plan_pool(
    config: &PoolConfig,
    stored: &BTreeMap<NodeName, NodeState>,
    world: &World,
    policy: &DisruptionPolicy,
) -> Result<PoolPlan, Vec<Issue>> {
    let mut excluded: BTreeMap<NodeName, Excluded> = BTreeMap::new();
    let selected: Vec<NodeName> = world.selected(&config.selector).map(|(name, _)| name.clone()).collect();
    let vanished = stored.keys().filter(|name| !world.nodes.contains_key(*name));
    for name in selected.iter().chain(vanished) {
        if let Some(reason) = exclusion(name, world, stored.get(name)) {
            excluded.insert(name.clone(), reason);
        }
    }
    // Leaving out a node whose pods are protected may make others be cut in its place, and those may be protected too:
    // every round leaves out at least one more.
    loop {
        let plan = Attempt { config, stored, world, excluded: &excluded }.plan(&selected)?;
        let protected = protected_nodes(&plan, world, policy);
        if protected.is_empty() {
            return Ok(plan);
        }
        excluded.extend(protected);
    }
}

fn protected_nodes(plan: &PoolPlan, world: &World, policy: &DisruptionPolicy) -> BTreeMap<NodeName, Excluded> {
    let Some(protection) = Protection::of(policy).filter(|protection| protection.on_hit == OnHit::Skip) else {
        return BTreeMap::new();
    };
    let hit = plan.selected.iter().filter_map(|name| {
        let (node, state) = (world.nodes.get(name)?, plan.nodes.get(name)?);
        if state.excluded.is_some() {
            return None;
        }
        let victims = victims_of(name, node, state.changes(node), world);
        let pod = victims.iter().find(|victim| protection.covers(&victim.namespace))?;
        let detail = format!("pod {pod} is protected");
        Some((name.clone(), Excluded { node: name.clone(), why: ExclusionReason::Protected, detail }))
    });
    hit.collect()
}

impl NodeState {
    /// The cards of a node that become something else than they are, with what they become.
    pub(crate) fn changes<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = (&'a Card, &'a Layout)> {
        let cards = node.report.iter().flat_map(|report| &report.cards);
        cards.filter_map(|card| {
            let (_, layout) = self.cards.get(&card.pci)?.cut.as_ref()?;
            (card.layout != *layout).then_some((card, layout))
        })
    }
}

struct Attempt<'a> {
    config: &'a PoolConfig,
    stored: &'a BTreeMap<NodeName, NodeState>,
    world: &'a World,
    excluded: &'a BTreeMap<NodeName, Excluded>,
}

/// A card that may be given a profile.
struct Candidate<'a> {
    node: &'a NodeName,
    card: &'a Card,
    driver: Option<&'a DriverVersion>,
    stored: Option<&'a CardState>,
}

/// A profile with its name.
type Named<'a> = (&'a String, &'a Profile);

impl<'a> Attempt<'a> {
    fn plan(&self, selected: &[NodeName]) -> Result<PoolPlan, Vec<Issue>> {
        let mut plan = PoolPlan {
            excluded: self.excluded.values().cloned().collect(),
            selected: selected.to_vec(),
            joined: selected.iter().filter(|name| self.is_new(name)).cloned().collect(),
            left: self.stored.keys().filter(|name| self.has_left(name, selected)).cloned().collect(),
            ..PoolPlan::default()
        };
        for (name, excluded) in self.excluded {
            let mut state = self.stored.get(name).cloned().unwrap_or_default();
            state.excluded = Some(short(excluded.why).to_owned());
            plan.nodes.insert(name.clone(), state);
        }
        let candidates = self.candidates(selected);
        let mut errors: Vec<Issue> = self.wrong_strategies(selected).into_iter().collect();
        errors.extend(self.other_owners(selected));
        let mut solver = Solver::default();
        let mut products: BTreeMap<&str, Vec<Candidate<'_>>> = BTreeMap::new();
        for candidate in candidates {
            plan.nodes.entry(candidate.node.clone()).or_default();
            products.entry(&candidate.card.product).or_default().push(candidate);
        }
        // Profiles whose product no candidate has must still be looked at: they may ask for cards that are not there.
        for profile in self.config.profiles.values() {
            if let Some(model) = profile.product {
                products.entry(model.product.as_str()).or_default();
            }
        }
        for (product, candidates) in products {
            self.share_out(product, &candidates, &mut solver, &mut plan, &mut errors);
        }
        for state in plan.nodes.values().filter(|state| state.excluded.is_none()) {
            add(&mut plan.resources, &state.offered());
        }
        if selected.is_empty() {
            let detail = "No node of the cluster has these labels yet. Nodes that join later will be part of the pool.";
            plan.issues.push(Issue::warning(Path::root().attr("selector"), "The selector matches no node", detail));
        }
        if errors.is_empty() { Ok(plan) } else { Err(errors) }
    }

    fn is_new(&self, name: &NodeName) -> bool {
        self.stored.get(name).is_none_or(|state| state.excluded.is_some()) && !self.excluded.contains_key(name)
    }

    fn has_left(&self, name: &NodeName, selected: &[NodeName]) -> bool {
        self.world.nodes.contains_key(name) && selected.binary_search(name).is_err()
    }

    // In order of node and PCI address: the last tie-break.
    fn candidates<'b>(&'b self, selected: &'b [NodeName]) -> Vec<Candidate<'b>> {
        let free = selected.iter().filter(|name| !self.excluded.contains_key(*name));
        let reports = free.filter_map(|name| Some((name, self.world.nodes.get(name)?.report.as_ref()?)));
        let cards = reports
            .flat_map(|(node, report)| report.cards.iter().map(move |card| (node, card, report.driver.as_ref())));
        cards
            .map(|(node, card, driver)| {
                let stored = self.stored.get(node).and_then(|state| state.cards.get(&card.pci));
                Candidate { node, card, driver, stored }
            })
            .collect()
    }

    fn share_out(
        &self,
        product: &str,
        candidates: &[Candidate<'_>],
        solver: &mut Solver,
        plan: &mut PoolPlan,
        errors: &mut Vec<Issue>,
    ) {
        let of_product = |profile: &Profile| profile.product.is_some_and(|model| model.product.as_str() == product);
        let counted: Vec<Named<'_>> =
            self.config.profiles.iter().filter(|(_, p)| of_product(p) && p.cards.is_some()).collect();
        let uncounted = |of: &dyn Fn(&Profile) -> bool| {
            self.config.profiles.iter().find(|(_, profile)| profile.cards.is_none() && of(profile))
        };
        let rest: Option<Named<'_>> =
            uncounted(&of_product).or_else(|| uncounted(&|profile| profile.product.is_none()));

        let counts: Vec<usize> = counted
            .iter()
            .map(|(name, profile)| profile.cards.unwrap_or(0).saturating_sub(self.on_excluded(name)))
            .collect();
        let places: Vec<Option<Named<'_>>> = counted.iter().map(|named| Some(*named)).chain([rest]).collect();
        let costs: Vec<Vec<Cost>> = candidates
            .iter()
            .enumerate()
            .map(|(rank, candidate)| places.iter().map(|place| cost(candidate, *place, rank, solver)).collect())
            .collect();
        let assigned = assign(&counts, &costs);

        for (place, ((name, profile), wanted)) in counted.iter().zip(&counts).enumerate() {
            let has = assigned.iter().filter(|at| **at == place).count();
            if has < *wanted {
                self.shortage(product, name, profile, has, *wanted, plan, errors);
            }
        }
        if let Some((name, profile)) = rest
            && profile.product.is_some()
            && candidates.is_empty()
            && !plan.selected.is_empty()
            && self.on_excluded(name) == 0
        {
            let detail = format!("No node of the pool has a card {product} that can be cut now.");
            let path = profile_path(name).attr("product");
            let hint = if self.excluded.is_empty() {
                "Check `product` and the selector."
            } else {
                "Plan again when the nodes that this plan excludes are back, or check `product` and the selector."
            };
            plan.issues.push(Issue::warning(path, "The profile has no card", detail).hint(hint));
        }
        for (candidate, place) in candidates.iter().zip(assigned) {
            let cut = places[place].and_then(|named| cut_as(candidate, named, solver, errors));
            let state = CardState { uuid: candidate.card.uuid.clone(), product: candidate.card.product.clone(), cut };
            plan.nodes.entry(candidate.node.clone()).or_default().cards.insert(candidate.card.pci.clone(), state);
        }
    }

    // Cards that the snapshot has given this profile on nodes that are left alone.
    fn on_excluded(&self, profile: &str) -> usize {
        let states = self.excluded.keys().filter_map(|name| self.stored.get(name));
        let cuts = states.flat_map(|state| state.cards.values()).filter_map(|card| card.cut.as_ref());
        cuts.filter(|(name, _)| name == profile).count()
    }

    // Too few cards. Where excluded nodes have enough of them it is a warning: they will be cut when they are back.
    #[expect(clippy::too_many_arguments, reason = "what was counted, and the two places where it is told")]
    fn shortage(
        &self,
        product: &str,
        name: &str,
        profile: &Profile,
        has: usize,
        wanted: usize,
        plan: &mut PoolPlan,
        errors: &mut Vec<Issue>,
    ) {
        let elsewhere = self.on_excluded(name);
        let (asked, there) = (profile.cards.unwrap_or(0), has + elsewhere);
        let out = self.excluded.values().filter(|excluded| excluded.why != ExclusionReason::Vanished);
        let out: Vec<&NodeName> = out.map(|excluded| &excluded.node).collect();
        let could = out.iter().filter(|node| self.stored.get(**node).is_none_or(|state| state.cards.is_empty()));
        let could = could.filter_map(|node| self.world.nodes.get(*node)?.report.as_ref());
        let could = could.flat_map(|report| &report.cards).filter(|card| card.product == product).count();
        let path = profile_path(name).attr("cards");
        let left_alone = if out.is_empty() {
            String::new()
        } else {
            let names: Vec<&str> = out.iter().map(|name| name.as_str()).collect();
            format!(" Left alone for now: {}.", names.join(", "))
        };
        let detail = format!("The profile asks for {asked} cards {product}, and the pool has {there}.{left_alone}");
        if there + could >= asked && has + could >= wanted {
            plan.issues.push(Issue::warning(path, "Not enough cards for now", detail));
        } else {
            let hint = format!("Ask for {there} cards at most, or add nodes to the pool.");
            errors.push(Issue::error(path, "Not enough cards", detail).hint(hint));
        }
    }

    // MIG slices have names of their own only under the device plugin's strategy `mixed`.
    fn wrong_strategies(&self, selected: &[NodeName]) -> Option<Issue> {
        let mig = self.config.profiles.iter().find(|(_, profile)| matches!(profile.cut, Cut::Mig(_)));
        let (profile, _) = mig?;
        let names = self.labelled(selected, STRATEGY, |strategy| strategy != "mixed")?;
        let detail = format!(
            "The device plugin of {names} has another strategy than mixed ({STRATEGY}), under which slices have no \
             names of their own: no pod could ask for them."
        );
        let hint = "Set mig.strategy = mixed in the ClusterPolicy.";
        Some(Issue::error(profile_path(profile).attr("mig"), "Wrong MIG strategy", detail).hint(hint))
    }

    // Two that cut the same card would undo each other's work.
    fn other_owners(&self, selected: &[NodeName]) -> Option<Issue> {
        let names = self.labelled(selected, MIG_MANAGER, |value| value == "true")?;
        let detail = format!(
            "NVIDIA's mig-manager runs on {names} ({MIG_MANAGER}=true) and cuts the same cards: whoever acts last undoes \
             the other's work."
        );
        let hint =
            format!("Label these nodes {MIG_MANAGER}=false, or set migManager.enabled = false in the ClusterPolicy.");
        Some(Issue::error(Path::root().attr("partitioned_by"), "Two owners of one GPU", detail).hint(hint))
    }

    // The nodes that may be changed and have a label with such a value, as text.
    fn labelled(&self, selected: &[NodeName], key: &str, is: impl Fn(&str) -> bool) -> Option<String> {
        let free = selected.iter().filter(|name| !self.excluded.contains_key(*name));
        let has = |name: &&NodeName| {
            let value = self.world.nodes.get(*name).and_then(|node| node.labels.get(key));
            value.is_some_and(|value| is(value))
        };
        let names: Vec<&str> = free.filter(has).map(|name| name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

// Cannot be cut so; is not as wanted; was something else; who must go; MIG is switched; slices that go; slices that
// come; the card's place in the order.
fn cost(candidate: &Candidate<'_>, place: Option<Named<'_>>, rank: usize, solver: &mut Solver) -> Cost {
    let was = candidate.stored.and_then(|stored| stored.cut.as_ref()).map(|(profile, _)| profile);
    let moved = i64::from(candidate.stored.is_some() && was != place.map(|(name, _)| name));
    let Some((name, profile)) = place else { return Cost([0, 0, moved, 0, 0, 0, 0, 0]) };
    // Of equal cards those with the lowest address are taken for what is counted.
    let rank = if profile.cards.is_some() { i64::try_from(rank).unwrap_or(i64::MAX) } else { 0 };
    let nonconforming = i64::from(!is_cut(&candidate.card.layout, &profile.cut));
    match solver.layout(candidate.card, &profile.cut, candidate.driver, candidate.snapshot_of(name)) {
        Err(_) => Cost([1, nonconforming, moved, 0, 0, 0, 0, rank]),
        Ok(layout) => {
            let diff = card_diff(candidate.card, &layout);
            let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
            let mode = i64::from(diff.mode.is_some());
            let (hit, gone, new) = (count(diff.hit.len()), count(diff.destroyed.len()), count(diff.created.len()));
            Cost([0, nonconforming, moved, hit, mode, gone, new, rank])
        }
    }
}

fn cut_as(
    candidate: &Candidate<'_>,
    (name, profile): Named<'_>,
    solver: &mut Solver,
    errors: &mut Vec<Issue>,
) -> Option<(String, Layout)> {
    match solver.layout(candidate.card, &profile.cut, candidate.driver, candidate.snapshot_of(name)) {
        Ok(layout) => Some((name.clone(), layout)),
        Err(infeasible) => {
            let detail = format!("{} {}: {infeasible}.", candidate.node, candidate.card.label());
            let path = profile_path(name).attr("mig");
            let issue = Issue::error(path, "The profile does not fit the card", detail);
            errors.push(issue.hint(what_fits(&infeasible.suggestions)));
            None
        }
    }
}

impl Candidate<'_> {
    // How the snapshot has the card cut, if it has it under this profile.
    fn snapshot_of(&self, profile: &str) -> Option<&Layout> {
        let (name, layout) = self.stored?.cut.as_ref()?;
        (name == profile).then_some(layout)
    }
}
