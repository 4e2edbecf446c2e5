//! Changes, dependencies and operations become holds, waves and the execution graph.
//!
//! Pure. Makes every choice about order, so that apply makes none: both replace orders are spelled out, each node is
//! held once for everything that changes on it, and the waves of a cluster stand under one budget.

mod contraction;
mod node;
mod resource;
mod wave;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::{Diagnostic, Diagnostics};
use engine_graph::{Cycle, Dag, NodeId};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::ResourceChange,
    event::HeldNode,
    execution::{ExecutionGraph, Step},
    finding::Finding,
    name::{ClusterIdentity, NodeName, OperationId},
    operation::{GivenBack, Hold, Operation, Wave},
    policy::DisruptionPolicy,
};

use crate::depend::{Dependencies, Subject};

/// What is to be ordered.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// Every change, no-ops included.
    pub changes: &'a [ResourceChange],
    /// No-ops whose state must be written all the same: a new address, what was read.
    pub state_only: &'a BTreeSet<ResourceAddr>,
    /// Who depends on whom.
    pub dependencies: &'a Dependencies,
    /// Operations of each provider configuration that has any.
    pub clusters: &'a [ClusterWork],
    /// Nodes that an earlier run still holds: they are taken over, or given back.
    pub held: &'a BTreeMap<(ProviderConfigAddr, NodeName), HeldNode>,
}

/// The operations of one provider configuration.
#[derive(Clone, Debug)]
pub struct ClusterWork {
    /// Which.
    pub provider: ProviderConfigAddr,
    /// The cluster behind it: provider configurations of one cluster share one budget.
    pub cluster: Option<ClusterIdentity>,
    /// How much it may disrupt at a time.
    pub policy: DisruptionPolicy,
    /// What is done on nodes.
    pub operations: Vec<Operation>,
    /// Nodes that it manages: what percentages are of.
    pub managed: u64,
    /// Nodes that are unavailable for other reasons: they use up the budget.
    pub unavailable: Vec<NodeName>,
}

/// The order of everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Nodes that are taken out of use, in wave order.
    pub holds: Vec<Hold>,
    /// Nodes that are held together.
    pub waves: Vec<Wave>,
    /// Nodes that an earlier run still holds and that are given back.
    pub given_back: Vec<GivenBack>,
    /// What apply does, in which order.
    pub graph: ExecutionGraph,
    /// Warnings: a budget that others have used up.
    pub findings: Vec<Finding>,
}

/// A node of the graph while it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    /// A step.
    Step(Step),
    /// Something without a step that dependencies pass through.
    Through(String),
}

/// The steps of one address.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// What dependencies must precede when the object is made or changed: holds, operations, the step itself.
    makes: Vec<NodeId>,
    /// After this the object is as planned.
    made: Option<NodeId>,
    /// What must wait for the destruction of dependants: operations and holds of a deletion, the step itself.
    destroys: Vec<NodeId>,
    /// After this the object is gone.
    destroyed: Option<NodeId>,
}

/// When an object is destroyed whose dependants only let go of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletion {
    /// When they have: nothing ever refers to what is gone.
    AfterDependants,
    /// Before they do, as Terraform always has it: what they become may need something that itself has to wait until the
    /// object is gone. Everything is destroyed before anything is made then, so there is always an order.
    BeforeDependants,
}

#[derive(Debug, Default)]
struct Builder {
    dag: Dag<Item>,
    steps: BTreeMap<ResourceAddr, Steps>,
    groups: BTreeMap<String, NodeId>,
    configures: BTreeMap<ProviderConfigAddr, NodeId>,
    operations: BTreeMap<OperationId, NodeId>,
    /// Operations of each resource, by node.
    on_nodes: BTreeMap<ResourceAddr, BTreeMap<(ProviderConfigAddr, NodeName), Vec<NodeId>>>,
    /// Hold and release of each node.
    held: BTreeMap<(ProviderConfigAddr, NodeName), (NodeId, NodeId)>,
    /// Releases of nodes that are given back.
    given_back: BTreeMap<ProviderConfigAddr, Vec<NodeId>>,
    /// Groups behind which there are operations.
    over_operations: BTreeSet<Subject>,
    /// Which provider configuration carries a step out.
    providers: BTreeMap<NodeId, ProviderConfigAddr>,
}

/// Orders the work.
///
/// # Errors
/// Node groups that depend on each other crosswise, two provider configurations that change one node, a unit that is
/// larger than the budget: each names what it is about.
pub fn schedule(work: Work<'_>) -> Result<Schedule, Diagnostics> {
    let mut builder = Builder::of(&work, Deletion::AfterDependants)?;
    let mut order = builder.dag.order();
    if order.is_err() {
        builder = Builder::of(&work, Deletion::BeforeDependants)?;
        order = builder.dag.order();
    }
    let order = order.map_err(|cycle| builder.describe(&cycle))?;
    let mut findings = Vec::new();
    let given_back = builder.give_back(work.held);
    let (holds, waves) = builder.add_waves(&work, &order, &mut findings)?;
    builder.add_configures();
    let graph = contraction::graph(&builder.dag).map_err(|cycle| builder.describe(&cycle))?;
    Ok(Schedule { holds, waves, given_back, graph, findings })
}

impl Builder {
    fn of(work: &Work<'_>, deletion: Deletion) -> Result<Self, Diagnostics> {
        let mut builder = Self { over_operations: Self::groups_over_operations(work), ..Self::default() };
        builder.add_changes(work);
        builder.add_operations(work)?;
        builder.add_configured(work);
        builder.add_stored(work, deletion);
        Ok(builder)
    }

    fn step(&mut self, step: Step, provider: &ProviderConfigAddr) -> NodeId {
        let id = self.dag.add(Item::Step(step));
        self.providers.insert(id, provider.clone());
        id
    }

    /// Everything of `before` precedes everything of `after`, with at most one edge more than there are ends.
    fn join(&mut self, before: &[NodeId], after: &[NodeId], name: impl FnOnce() -> String) {
        if before.len() > 1 && after.len() > 1 {
            let middle = self.dag.add(Item::Through(name()));
            self.join(before, &[middle], String::new);
            self.join(&[middle], after, String::new);
            return;
        }
        for (b, a) in before.iter().flat_map(|b| after.iter().map(move |a| (*b, *a))) {
            if b != a {
                self.dag.edge(b, a);
            }
        }
    }

    fn group(&mut self, name: &str) -> NodeId {
        if let Some(id) = self.groups.get(name) {
            return *id;
        }
        let id = self.dag.add(Item::Through(name.to_owned()));
        self.groups.insert(name.to_owned(), id);
        id
    }

    fn configure(&mut self, provider: &ProviderConfigAddr) -> NodeId {
        if let Some(id) = self.configures.get(provider) {
            return *id;
        }
        let id = self.dag.add(Item::Step(Step::Configure(provider.clone())));
        self.configures.insert(provider.clone(), id);
        id
    }

    /// Every step comes after the configuration of its provider; where another step of the same provider comes before
    /// it, that is already so.
    fn add_configures(&mut self) {
        let steps: Vec<(NodeId, ProviderConfigAddr)> = self.providers.iter().map(|(id, p)| (*id, p.clone())).collect();
        for (id, provider) in steps {
            let same = |before: &NodeId| self.providers.get(before) == Some(&provider);
            if !self.dag.before(id).iter().any(same) {
                let configure = self.configure(&provider);
                self.dag.edge(configure, id);
            }
        }
    }

    fn describe(&self, cycle: &Cycle) -> Diagnostics {
        let names: Vec<String> = cycle.0.iter().map(|id| name(self.dag.get(*id))).collect();
        let first = names.first().cloned().unwrap_or_default();
        let detail = format!(
            "These would each have to wait for the one before: {} → {first}. A node is held once for everything that \
             changes on it, so nothing that waits for one of its resources may come before another of them.",
            names.join(" → ")
        );
        Diagnostic::error("Cycle", detail)
            .hint("Remove one of these dependencies, or apply the resources in two plans with -target.")
            .into()
    }
}

fn name(item: &Item) -> String {
    match item {
        Item::Through(name) => name.clone(),
        Item::Step(step) => step_name(step),
    }
}

/// A step in words, as error messages name it.
fn step_name(step: &Step) -> String {
    match step {
        Step::Configure(provider) => provider.to_string(),
        Step::Read(addr) => format!("{addr} (read)"),
        Step::Create(addr) => format!("{addr} (create)"),
        Step::Update(addr) => format!("{addr} (update)"),
        Step::Delete(addr, _) => format!("{addr} (destroy)"),
        Step::Forget(addr) => format!("{addr} (forget)"),
        Step::StateOnly(addr) => format!("{addr} (state)"),
        Step::Open(addr) => format!("{addr} (open)"),
        Step::Close(addr) => format!("{addr} (close)"),
        Step::Hold(_, node) => format!("hold of {node}"),
        Step::Operation(id) => format!("operation {id}"),
        Step::Release(_, node) => format!("release of {node}"),
        Step::Gate(wave) => format!("gate of wave {}", wave + 1),
        Step::Group(name) => name.clone(),
    }
}

impl Steps {
    fn ends(&self) -> Vec<NodeId> {
        self.made.or(self.destroyed).into_iter().collect()
    }
}

impl Builder {
    /// What stands for a subject as something to wait for.
    fn settled(&mut self, subject: &Subject) -> Vec<NodeId> {
        match subject {
            Subject::Instance(addr) => self.steps.get(addr).map(Steps::ends).unwrap_or_default(),
            Subject::Provider(provider) => self.configures.get(provider).copied().into_iter().collect(),
            Subject::Group(name) => vec![self.group(name)],
        }
    }
}
