//! Waves: which nodes are held together, under one budget per cluster, without breaking another order.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::{Diagnostic, Diagnostics, Severity};
use engine_graph::NodeId;
use engine_model::{
    address::ProviderConfigAddr,
    event::HeldNode,
    execution::Step,
    finding::{BUDGET_USED_UP, Finding},
    name::NodeName,
    operation::{GivenBack, Hold, Operation, OperationKind, Victim, Wave},
};

use super::{Builder, ClusterWork, Item, Work, node::by_node};

/// Nodes that are held at once or not at all.
#[derive(Debug)]
struct Unit<'a> {
    /// How many holds must have been released before, at least.
    rank: usize,
    /// An earlier run still holds one of its nodes.
    held: bool,
    domain: String,
    name: String,
    nodes: Vec<(&'a NodeName, Vec<&'a Operation>)>,
}

impl Builder {
    /// Orders the holds of each cluster: operations → gate → releases → holds of the next wave. A failed gate so leaves
    /// its nodes held, and later ones without a single write.
    pub(super) fn add_waves(
        &mut self,
        work: &Work<'_>,
        order: &[NodeId],
        findings: &mut Vec<Finding>,
    ) -> Result<(Vec<Hold>, Vec<Wave>), Diagnostics> {
        let ranks = self.ranks(order);
        let (mut holds, mut waves) = (Vec::new(), Vec::new());
        for clusters in by_cluster(work.clusters) {
            // Provider configurations of one cluster share one budget, so they take turns. Nodes that are given back use
            // it up until they are.
            let back = clusters.iter().filter_map(|cluster| self.given_back.get(&cluster.provider));
            let mut released: Vec<NodeId> = back.flatten().copied().collect();
            for cluster in clusters {
                let packed = pack(units(cluster, &ranks, work.held), cluster, findings)?;
                for (number, units) in packed.into_iter().enumerate() {
                    let wave = waves.len();
                    released = self.add_wave(cluster, wave, &units, &released);
                    holds.extend(
                        units
                            .iter()
                            .flat_map(|unit| &unit.nodes)
                            .map(|(node, ops)| hold(cluster, node, ops, wave, work)),
                    );
                    waves.push(describe(cluster, number + 1, &units));
                }
            }
        }
        Ok((holds, waves))
    }

    /// A node that an earlier run holds, and that this plan does not hold, is given back at once.
    pub(super) fn give_back(&mut self, held: &BTreeMap<(ProviderConfigAddr, NodeName), HeldNode>) -> Vec<GivenBack> {
        let mut all = Vec::new();
        for ((provider, node), held) in held {
            if !self.held.contains_key(&(provider.clone(), node.clone())) {
                let release = self.step(Step::Release(provider.clone(), node.clone()), provider);
                self.given_back.entry(provider.clone()).or_default().push(release);
                all.push(GivenBack { node: node.clone(), provider: provider.clone(), plan: held.plan.clone() });
            }
        }
        all
    }

    fn add_wave(&mut self, cluster: &ClusterWork, wave: usize, units: &[Unit<'_>], earlier: &[NodeId]) -> Vec<NodeId> {
        let gate = self.step(Step::Gate(wave), &cluster.provider);
        let (mut holds, mut releases) = (Vec::new(), Vec::new());
        for (node, operations) in units.iter().flat_map(|unit| &unit.nodes) {
            let (hold, release) = self.held[&(cluster.provider.clone(), (*node).clone())];
            for operation in operations {
                let id = self.operations[&operation.id];
                self.dag.edge(id, gate);
            }
            self.dag.edge(gate, release);
            holds.push(hold);
            releases.push(release);
        }
        self.join(earlier, &holds, || format!("waves before wave {}", wave + 1));
        releases
    }

    /// For each hold, the most releases on any way to it.
    fn ranks(&self, order: &[NodeId]) -> BTreeMap<(ProviderConfigAddr, NodeName), usize> {
        let mut rank = vec![0usize; self.dag.len()];
        for id in order {
            let releases = usize::from(matches!(self.dag.get(*id), Item::Step(Step::Release(..))));
            let own = rank[id.0 as usize] + releases;
            for after in self.dag.after(*id) {
                let slot = &mut rank[after.0 as usize];
                *slot = own.max(*slot);
            }
        }
        self.held.iter().map(|(key, (hold, _))| (key.clone(), rank[hold.0 as usize])).collect()
    }
}

fn by_cluster(clusters: &[ClusterWork]) -> Vec<Vec<&ClusterWork>> {
    let mut groups: Vec<Vec<&ClusterWork>> = Vec::new();
    for cluster in clusters {
        let same = |group: &&mut Vec<&ClusterWork>| cluster.cluster.is_some() && group[0].cluster == cluster.cluster;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(cluster),
            None => groups.push(vec![cluster]),
        }
    }
    groups
}

/// In the order in which they are held: of equal rank those first that an earlier run still holds, as they use up the
/// budget until they are given back.
fn units<'a>(
    cluster: &'a ClusterWork,
    ranks: &BTreeMap<(ProviderConfigAddr, NodeName), usize>,
    held: &BTreeMap<(ProviderConfigAddr, NodeName), HeldNode>,
) -> Vec<Unit<'a>> {
    let mut units: BTreeMap<(usize, String, String), Unit<'a>> = BTreeMap::new();
    for (node, operations) in by_node(&cluster.operations) {
        let key = (cluster.provider.clone(), node.clone());
        let Some(rank) = ranks.get(&key) else { continue };
        let label = |read: fn(&Operation) -> &Option<String>| operations.iter().find_map(|o| read(o).clone());
        // A missing label is a domain, or a unit, of its own.
        let own = || format!("\u{0}{node}");
        let domain = match cluster.policy.failure_domain {
            Some(_) => label(|o| &o.domain).unwrap_or_else(own),
            None => String::new(),
        };
        let name = cluster.policy.unit.as_ref().and_then(|_| label(|o| &o.unit)).unwrap_or_else(own);
        let unit = units.entry((*rank, domain.clone(), name.clone())).or_insert_with(|| Unit {
            rank: *rank,
            held: false,
            domain,
            name,
            nodes: Vec::new(),
        });
        unit.held |= held.contains_key(&key);
        unit.nodes.push((node, operations));
    }
    let mut units: Vec<Unit<'a>> = units.into_values().collect();
    units.sort_by_key(|unit| (unit.rank, !unit.held));
    units
}

/// Packs units into waves, in order, as many as the budget allows; a wave stays inside one rank and one domain.
fn pack<'a>(
    units: Vec<Unit<'a>>,
    cluster: &ClusterWork,
    findings: &mut Vec<Finding>,
) -> Result<Vec<Vec<Unit<'a>>>, Diagnostics> {
    let all = cluster.policy.max_unavailable.of(cluster.managed);
    let changed: BTreeSet<&NodeName> = units.iter().flat_map(|u| u.nodes.iter().map(|(node, _)| *node)).collect();
    let foreign: Vec<&NodeName> = cluster.unavailable.iter().filter(|node| !changed.contains(node)).collect();
    let budget = all.saturating_sub(foreign.len() as u64);
    let largest = units.iter().map(|unit| unit.nodes.len() as u64).max().unwrap_or(0);
    if budget < largest && !foreign.is_empty() {
        findings.push(budget_used_up(all, &foreign));
    }
    let too_large: Diagnostics = Diagnostics(
        units.iter().filter(|unit| unit.nodes.len() as u64 > all).map(|unit| unit_too_large(unit, all)).collect(),
    );
    if !too_large.is_empty() {
        return Err(too_large);
    }
    let mut waves: Vec<Vec<Unit<'a>>> = Vec::new();
    let mut used = 0;
    for unit in units {
        let size = unit.nodes.len() as u64;
        let fits = waves
            .last()
            .is_some_and(|wave| wave[0].rank == unit.rank && wave[0].domain == unit.domain && used + size <= budget);
        match waves.last_mut().filter(|_| fits) {
            Some(wave) => {
                wave.push(unit);
                used += size;
            }
            None => {
                waves.push(vec![unit]);
                used = size;
            }
        }
    }
    Ok(waves)
}

/// A finding, since apply must know it: it then stops before the first node.
fn budget_used_up(all: u64, foreign: &[&NodeName]) -> Finding {
    let names: Vec<&str> = foreign.iter().map(|node| node.as_str()).collect();
    Finding {
        severity: Severity::Warning,
        code: BUDGET_USED_UP.to_owned(),
        summary: "The disruption budget is used up".to_owned(),
        detail: format!(
            "max_unavailable allows {all} at a time, and {} {} unavailable already: {}. Apply would stop before the first node.",
            foreign.len(),
            if foreign.len() == 1 { "node is" } else { "nodes are" },
            names.join(", ")
        ),
        hint: Some("Bring these nodes back, or raise max_unavailable.".to_owned()),
        places: Vec::new(),
    }
}

fn unit_too_large(unit: &Unit<'_>, all: u64) -> Diagnostic {
    let names: Vec<&str> = unit.nodes.iter().map(|(node, _)| node.as_str()).collect();
    Diagnostic::error(
        "A unit is larger than the disruption budget",
        format!(
            "The {} nodes of unit {:?} change together, and max_unavailable allows {all}: {}.",
            names.len(),
            unit.name,
            names.join(", ")
        ),
    )
    .hint(format!("Raise max_unavailable to at least {}.", names.len()))
}

fn describe(cluster: &ClusterWork, number: usize, units: &[Unit<'_>]) -> Wave {
    let mut nodes: Vec<NodeName> = units.iter().flat_map(|unit| &unit.nodes).map(|(node, _)| (*node).clone()).collect();
    nodes.sort();
    let domain = units.first().map(|u| u.domain.clone()).filter(|d| !d.is_empty() && !d.starts_with('\u{0}'));
    Wave { provider: cluster.provider.clone(), number, nodes, domain }
}

fn hold(cluster: &ClusterWork, node: &NodeName, operations: &[&Operation], wave: usize, work: &Work<'_>) -> Hold {
    let held = work.held.get(&(cluster.provider.clone(), node.clone()));
    let kind = operations.iter().map(|o| o.kind).max().unwrap_or(OperationKind::None);
    Hold {
        node: node.clone(),
        provider: cluster.provider.clone(),
        kind,
        operations: operations.iter().map(|o| o.id.clone()).collect(),
        victims: envelope(operations),
        wave,
        timeout: cluster.policy.timeout,
        takes_over: held.map(|held| held.plan.clone()),
    }
}

/// The envelopes together. What two operations both end counts twice: an envelope says "at most".
fn envelope(operations: &[&Operation]) -> Vec<Victim> {
    let mut victims: BTreeMap<(&str, &str, &str, i32), u64> = BTreeMap::new();
    for victim in operations.iter().flat_map(|o| &o.victims) {
        let key = (&*victim.namespace, &*victim.owner_kind, &*victim.owner_name, victim.priority);
        *victims.entry(key).or_default() += victim.count;
    }
    let named = |((namespace, kind, name, priority), count): ((&str, &str, &str, i32), u64)| Victim {
        namespace: namespace.to_owned(),
        owner_kind: kind.to_owned(),
        owner_name: name.to_owned(),
        priority,
        count,
    };
    victims.into_iter().map(named).collect()
}
