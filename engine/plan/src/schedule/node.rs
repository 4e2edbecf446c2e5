//! Operations on nodes: between one hold and one release, whatever resources they come from.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::{Diagnostic, Diagnostics};
use engine_graph::NodeId;
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    execution::Step,
    name::{NodeName, OperationId},
    operation::{Operation, OperationKind},
};

use super::{Builder, Work};
use crate::depend::Subject;

impl Builder {
    /// Adds operations with the hold and the release around them, and hangs the owners' own steps behind them.
    pub(super) fn add_operations(&mut self, work: &Work<'_>) -> Result<(), Diagnostics> {
        one_provider_per_node(work)?;
        for cluster in work.clusters {
            for operation in &cluster.operations {
                let id = self.step(Step::Operation(operation.id.clone()), &cluster.provider);
                self.operations.insert(operation.id.clone(), id);
                for owner in &operation.owners {
                    let nodes = self.on_nodes.entry(owner.clone()).or_default();
                    nodes.entry((cluster.provider.clone(), operation.node.clone())).or_default().push(id);
                }
            }
            for (node, operations) in by_node(&cluster.operations) {
                self.hold(&cluster.provider, node, &operations);
            }
            for operation in &cluster.operations {
                self.order_operation(&cluster.provider, operation, &cluster.operations);
            }
            self.hang_owners(&cluster.provider, &cluster.operations);
        }
        Ok(())
    }

    /// Nodes with only operations of kind `none` need no hold.
    fn hold(&mut self, provider: &ProviderConfigAddr, node: &NodeName, operations: &[&Operation]) {
        if operations.iter().all(|o| o.kind == OperationKind::None) {
            return;
        }
        let hold = self.step(Step::Hold(provider.clone(), node.clone()), provider);
        let release = self.step(Step::Release(provider.clone(), node.clone()), provider);
        for operation in operations {
            let id = self.operations[&operation.id];
            self.dag.edge(hold, id);
            self.dag.edge(id, release);
        }
        self.held.insert((provider.clone(), node.clone()), (hold, release));
    }

    /// An operation comes after those that it names: on its own node directly, on another node after that node's
    /// release.
    fn order_operation(&mut self, provider: &ProviderConfigAddr, operation: &Operation, all: &[Operation]) {
        let nodes: BTreeMap<&OperationId, &NodeName> =
            if operation.after.is_empty() { BTreeMap::new() } else { all.iter().map(|o| (&o.id, &o.node)).collect() };
        for before in &operation.after {
            let Some(node) = nodes.get(before) else { continue };
            let (mut from, mut to) = (self.operations[before], self.operations[&operation.id]);
            if **node != operation.node {
                from = self.held.get(&(provider.clone(), (*node).clone())).map_or(from, |(_, release)| *release);
                to = self.held.get(&(provider.clone(), operation.node.clone())).map_or(to, |(hold, _)| *hold);
            }
            self.dag.edge(from, to);
        }
    }

    /// The owner's own step comes last and only settles; what it depends on precedes the holds of its nodes.
    fn hang_owners(&mut self, provider: &ProviderConfigAddr, operations: &[Operation]) {
        let mut first: BTreeMap<&ResourceAddr, BTreeSet<NodeId>> = BTreeMap::new();
        let mut last: BTreeMap<&ResourceAddr, BTreeSet<NodeId>> = BTreeMap::new();
        for operation in operations {
            let id = self.operations[&operation.id];
            let held = self.held.get(&(provider.clone(), operation.node.clone()));
            for owner in &operation.owners {
                first.entry(owner).or_default().insert(held.map_or(id, |(hold, _)| *hold));
                last.entry(owner).or_default().insert(held.map_or(id, |(_, release)| *release));
            }
        }
        for (owner, last) in last {
            let first: Vec<NodeId> = first[owner].iter().copied().collect();
            let last: Vec<NodeId> = last.into_iter().collect();
            let Some(steps) = self.steps.get_mut(owner) else { continue };
            let (made, destroyed) = (steps.made, steps.destroyed);
            if made.is_some() {
                steps.makes.extend(&first);
            } else {
                steps.destroys.extend(&first);
            }
            let settle = made.or(destroyed);
            self.join(&last, settle.as_slice(), String::new);
        }
    }

    /// One resource comes before another: its last steps before all steps of the other, or, where both have operations on
    /// one provider configuration, node by node, and last step before last step. A node is held once for both.
    pub(super) fn precede(
        &mut self,
        first: (&ResourceAddr, &[NodeId]),
        second: (&ResourceAddr, &[NodeId], Option<NodeId>),
    ) {
        let ((one, ends), (other, all, last)) = (first, second);
        if ends.is_empty() {
            return;
        }
        if !self.meet_on_nodes(one, other) {
            self.join(ends, all, String::new);
            return;
        }
        self.join(ends, last.as_slice(), String::new);
        let (earlier, later) = (self.on_nodes[one].clone(), self.on_nodes[other].clone());
        for (place, after) in later {
            // One operation may carry out both resources: then there is nothing to order.
            let before = earlier.get(&place).into_iter().flatten().copied().filter(|id| !after.contains(id));
            self.join(&before.collect::<Vec<_>>(), &after, || format!("{one} on {}", place.1));
        }
    }

    /// Do both resources have operations on one provider configuration? Then they meet on their nodes.
    pub(super) fn meet_on_nodes(&self, one: &ResourceAddr, other: &ResourceAddr) -> bool {
        let providers =
            |addr| self.on_nodes.get(addr).into_iter().flat_map(|nodes| nodes.keys().map(|(provider, _)| provider));
        let theirs: BTreeSet<&ProviderConfigAddr> = providers(other).collect();
        providers(one).any(|provider| theirs.contains(provider))
    }

    /// Groups through which a resource with operations is needed: who meets it on its nodes must see it behind them.
    pub(super) fn groups_over_operations(work: &Work<'_>) -> BTreeSet<Subject> {
        let owners = work.clusters.iter().flat_map(|cluster| &cluster.operations).flat_map(|o| &o.owners);
        let mut todo: Vec<Subject> = owners.cloned().map(Subject::Instance).collect();
        let mut found = BTreeSet::new();
        if todo.is_empty() {
            return found;
        }
        let mut users: BTreeMap<&Subject, Vec<&Subject>> = BTreeMap::new();
        for (subject, needs) in &work.dependencies.configured {
            if matches!(subject, Subject::Group(_)) {
                needs.iter().for_each(|need| users.entry(need).or_default().push(subject));
            }
        }
        while let Some(subject) = todo.pop() {
            for user in users.get(&subject).into_iter().flatten() {
                if found.insert((*user).clone()) {
                    todo.push((*user).clone());
                }
            }
        }
        found
    }

    /// What a subject needs. Of a resource with operations also what stands behind groups, as far as that has operations
    /// too: such a dependency is one of node to node, and a group would make it one of all nodes to all nodes.
    pub(super) fn needs(&self, work: &Work<'_>, subject: &Subject) -> BTreeSet<Subject> {
        let Some(needs) = work.dependencies.configured.get(subject) else { return BTreeSet::new() };
        if !matches!(subject, Subject::Instance(addr) if self.on_nodes.contains_key(addr)) {
            return needs.clone();
        }
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut todo: Vec<&Subject> = needs.iter().collect();
        while let Some(need) = todo.pop() {
            if !self.over_operations.contains(need) {
                found.insert(need.clone());
            } else if seen.insert(need) {
                todo.extend(work.dependencies.configured.get(need).into_iter().flatten());
            }
        }
        found.remove(subject);
        found
    }
}

pub(super) fn by_node(operations: &[Operation]) -> BTreeMap<&NodeName, Vec<&Operation>> {
    let mut nodes: BTreeMap<&NodeName, Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        nodes.entry(&operation.node).or_default().push(operation);
    }
    nodes
}

/// Two provider configurations of one cluster that change one node would hold it twice, each for itself.
fn one_provider_per_node(work: &Work<'_>) -> Result<(), Diagnostics> {
    let mut seen: BTreeMap<(&engine_model::name::ClusterIdentity, &NodeName), &ProviderConfigAddr> = BTreeMap::new();
    let mut diagnostics = Diagnostics::new();
    for cluster in work.clusters {
        let Some(identity) = &cluster.cluster else { continue };
        for node in by_node(&cluster.operations).into_keys() {
            match seen.insert((identity, node), &cluster.provider) {
                Some(other) if *other != cluster.provider => diagnostics.push(
                    Diagnostic::error(
                        "Two owners of one node",
                        format!(
                            "{other} and {} are of the same cluster, and both would change {node}.",
                            cluster.provider
                        ),
                    )
                    .hint("Let one provider configuration manage all resources on a node."),
                ),
                _ => {}
            }
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}
