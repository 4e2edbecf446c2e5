//! What the engine is answered when it plans a pool: the object afterwards, why, and what is to be stored beside it.

use std::collections::BTreeMap;

use engine_model::{name::NodeName, policy::DisruptionPolicy};
use engine_value::{Path, Type, Value, json};
use providers_api::{Issue, PlanRequest, Planned, PlannedReason};
use sha2::{Digest, Sha256};

use super::{
    NodeState, OnDestroy, PoolConfig, PoolPlan, Private,
    config::defaults,
    destroy,
    object::{isolation_value, nodes_of, nodes_value, resources_value},
    plan_pool,
    private::Approved,
};
use crate::{
    attributes::{known, text, with},
    world::World,
};

/// What the configuration decides, and so what tells whether anything was asked for anew.
const CONFIGURED: [&str; 5] = ["selector", "partitioned_by", "advertised_by", "on_destroy", "profiles"];

/// Plans a pool.
///
/// # Errors
/// What is wrong with the configuration or the world, each with its path.
pub(crate) fn propose(request: &PlanRequest, world: &World, policy: &DisruptionPolicy) -> Result<Planned, Vec<Issue>> {
    let private = Private::from_bytes(&request.private);
    if request.config.is_null() {
        return propose_end(request, private, world);
    }
    let config = PoolConfig::of(&request.config)?;
    let stored = nodes_of(&request.prior);
    let plan = plan_pool(&config, &stored, world, policy)?;
    let candidate = object(request, &plan);
    let same_configuration = CONFIGURED.iter().all(|name| candidate.get(name) == request.prior.get(name));
    let settled = same_configuration && plan.joined.is_empty() && !changes_a_node(&plan, &stored);
    let object = if settled { request.prior.clone() } else { candidate };

    let configuration = digest(&object);
    let approved = private.approved.as_ref().filter(|approved| approved.configuration == configuration);
    let targets = targets(&plan, world);
    let reason = if let Some(approved) = approved {
        Some(unfinished(approved.done(world), approved.nodes.len()))
    } else if same_configuration && !plan.joined.is_empty() && request.stored == request.prior {
        Some(PlannedReason::NodesJoined(plan.joined.clone()))
    } else {
        None
    };
    // Everything that was approved is done, and only the run that did it did not live to say so.
    let unsettled = approved.is_some_and(|approved| approved.done(world) == approved.nodes.len());
    let pending = !targets.is_empty() || unsettled;
    let mut issues = plan.issues.clone();
    issues.extend(plan.left.iter().map(left));
    Ok(Planned {
        private: stored_beside(private.clone(), &plan, world, configuration, targets).to_bytes(),
        reason: reason.filter(|_| pending || !settled),
        pending,
        issues,
        ..Planned::object(object)
    })
}

fn propose_end(request: &PlanRequest, private: Private, world: &World) -> Result<Planned, Vec<Issue>> {
    let mut planned = Planned::object(Value::null(request.prior.type_of()));
    if OnDestroy::of(&request.prior) == OnDestroy::Restore {
        let errors = destroy::impossible(&request.prior, &private, world);
        if !errors.is_empty() {
            return Err(errors);
        }
        planned.issues = destroy::forgotten(&request.prior, &private, world);
    }
    planned.private = private.to_bytes();
    Ok(planned)
}

fn unfinished(done: usize, total: usize) -> PlannedReason {
    PlannedReason::Unfinished { done: done as u64, total: total as u64, unit: "nodes".to_owned() }
}

fn left(node: &NodeName) -> Issue {
    let detail = format!("{node} no longer has the labels of the selector. Its cards stay as they are.");
    Issue::warning(Path::root().attr("selector"), "A node left the pool", detail)
}

// Nodes that left, vanished or are excluded change nothing by themselves.
fn changes_a_node(plan: &PoolPlan, stored: &BTreeMap<NodeName, NodeState>) -> bool {
    plan.nodes.iter().any(|(name, state)| state.excluded.is_none() && stored.get(name) != Some(state))
}

// The configuration with its defaults, and what is computed.
fn object(request: &PlanRequest, plan: &PoolPlan) -> Value {
    let id = text(&request.prior, "id").map_or_else(|| request.addr.to_string(), str::to_owned);
    let mut object = with(&request.config, "id", Value::string(id));
    for (name, default) in defaults() {
        if known(&object, name).is_none() {
            object = with(&object, name, Value::string(default));
        }
    }
    let object = with(&object, "nodes", nodes_value(&plan.nodes));
    let object = with(&object, "resources", resources_value(&plan.resources));
    with(&object, "isolation", isolation_value(&plan.resources))
}

// What each card that changes becomes.
fn targets(plan: &PoolPlan, world: &World) -> super::Found {
    let free = plan.nodes.iter().filter(|(_, state)| state.excluded.is_none());
    let changed = free.filter_map(|(name, state)| {
        let node = world.nodes.get(name)?;
        let cards: BTreeMap<_, _> = state.changes(node).map(|(card, then)| (card.uuid.clone(), then.clone())).collect();
        (!cards.is_empty()).then(|| (name.clone(), cards))
    });
    changed.collect()
}

// Remembers the layout that each card had before it was given a profile, and what is now approved. Of an approved
// configuration that is not finished, nodes that are done stay, so that they are counted.
fn stored_beside(
    mut private: Private,
    plan: &PoolPlan,
    world: &World,
    configuration: String,
    targets: super::Found,
) -> Private {
    for (name, state) in plan.nodes.iter().filter(|(_, state)| state.excluded.is_none()) {
        let report = world.nodes.get(name).and_then(|node| node.report.as_ref());
        for card in report.into_iter().flat_map(|report| &report.cards) {
            if state.cards.get(&card.pci).is_some_and(|state| state.cut.is_some()) {
                let found = private.found.entry(name.clone()).or_default();
                found.entry(card.uuid.clone()).or_insert_with(|| card.layout.clone());
            }
        }
    }
    if targets.is_empty() {
        return private;
    }
    let before = private.approved.take().filter(|approved| approved.configuration == configuration);
    let mut nodes = before.map(|approved| approved.nodes).unwrap_or_default();
    nodes.extend(targets);
    private.approved = Some(Approved { configuration, nodes });
    private
}

/// A digest of what the configuration of a pool says.
pub(super) fn digest(object: &Value) -> String {
    let configured = CONFIGURED.iter().map(|name| {
        let value = object.get(name).cloned().unwrap_or_else(|| Value::null(Type::Dynamic));
        (*name, value.unmark_deep().0)
    });
    let text = json::encode(&Value::object(configured)).expect("a configuration that was planned is wholly known");
    Sha256::digest(text.as_bytes())[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
