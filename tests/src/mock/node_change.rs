//! `mock_node_change`: sets something on nodes, by one operation on each. What was approved and is not finished is kept
//! beside the object, as `gpu_pool` does it.

use std::collections::{BTreeMap, BTreeSet};

use engine_model::{
    address::{ModulePath, ProviderAddr, ProviderConfigAddr},
    change::Action,
    name::NodeName,
    operation::{Excluded, ExclusionReason, Operation, OperationKind, Precondition, Undo},
    schema::{Attribute, Block, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::{
    Applied, ApplyRequest, ErrorKind, Issue, Operations, Outcome, PlanRequest, Planned, PlannedChange, PlannedReason,
    ProviderError, ReadAnswer, ReadObject, ReadRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    call::Verb,
    world::{Contents, World},
};

pub(super) const TYPE: &str = "mock_node_change";

const CONFIGURED: [&str; 4] = ["nodes", "setting", "to", "kind"];

pub(super) fn block() -> Block {
    let text = |usage, what| Attribute::new(Type::String, usage, what);
    let plain = Attribute::new;
    Block::new(
        [
            ("nodes", plain(Type::set(Type::String), Usage::Required, "The nodes.")),
            ("setting", text(Usage::Required, "What is set on them.")),
            ("to", text(Usage::Required, "To what it is set.")),
            ("kind", text(Usage::Optional, "How much that disrupts: none, drain, reset or reboot; drain if left out.")),
            ("applied", plain(Type::map(Type::String), Usage::Computed, "What it is set to, by node.")),
            ("id", text(Usage::Computed, "The address.")),
        ],
        "Sets something on nodes.",
    )
}

/// What is kept beside an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Private {
    /// What was approved and not yet seen to be finished.
    approved: Option<Approved>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Approved {
    setting: String,
    to: String,
    /// All nodes of the configuration.
    asked: BTreeSet<NodeName>,
    /// Those that it changes.
    nodes: BTreeSet<NodeName>,
}

impl Private {
    fn of(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data is always JSON")
    }
}

impl Approved {
    fn done(&self, contents: &Contents) -> usize {
        let has = |node: &&NodeName| {
            contents.nodes.get(*node).is_some_and(|node| node.settings.get(&self.setting) == Some(&self.to))
        };
        self.nodes.iter().filter(has).count()
    }
}

fn text(object: &Value, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn nodes(object: &Value) -> Vec<NodeName> {
    let nodes = object.get("nodes").and_then(Value::as_sequence).unwrap_or_default();
    nodes.iter().filter_map(Value::as_str).map(NodeName::from).collect()
}

fn kind(object: &Value) -> Option<OperationKind> {
    match object.get("kind").and_then(Value::as_str) {
        None | Some("drain") => Some(OperationKind::Drain),
        Some("none") => Some(OperationKind::None),
        Some("reset") => Some(OperationKind::Reset),
        Some("reboot") => Some(OperationKind::Reboot),
        Some(_) => None,
    }
}

fn with(object: &Value, parts: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let configured = CONFIGURED.iter().map(|name| {
        let ty = if *name == "nodes" { Type::set(Type::String) } else { Type::String };
        (*name, object.get(name).cloned().unwrap_or_else(|| Value::null(ty)))
    });
    Value::object(configured.chain(parts))
}

fn map(applied: &BTreeMap<NodeName, String>) -> Value {
    Value::map(Type::String, applied.iter().map(|(node, to)| (node.as_str(), Value::string(to))))
}

pub(super) fn validate(config: &Value) -> Vec<Issue> {
    if kind(config).is_some() {
        return Vec::new();
    }
    let detail = format!("none, drain, reset or reboot was expected, found {:?}.", text(config, "kind"));
    vec![Issue::error(Path::root().attr("kind"), "Invalid kind", detail)]
}

/// Nodes that are left alone, and why.
fn excluded(contents: &Contents, node: &NodeName) -> Option<ExclusionReason> {
    match contents.nodes.get(node) {
        None => Some(ExclusionReason::Vanished),
        Some(node) => node.excluded,
    }
}

/// What is set on the nodes of an object now. One that cannot be seen is as it was.
fn applied(contents: &Contents, object: &Value) -> BTreeMap<NodeName, String> {
    let setting = text(object, "setting");
    let before = object.get("applied").and_then(Value::as_map);
    let mut applied = BTreeMap::new();
    for name in nodes(object) {
        let now = match excluded(contents, &name) {
            None => contents.nodes.get(&name).and_then(|node| node.settings.get(&setting)).cloned(),
            Some(_) => before.and_then(|map| map.get(name.as_str())).and_then(Value::as_str).map(str::to_owned),
        };
        applied.extend(now.map(|now| (name, now)));
    }
    applied
}

pub(super) fn read(world: &World, request: &ReadRequest) -> ReadAnswer {
    if let Some(how) = world.called(Verb::Read, &request.addr.to_string()) {
        let error = how.error(&format!("read {}", request.addr));
        return match error.kind {
            ErrorKind::Unreachable => ReadAnswer::Unreachable(error),
            _ => ReadAnswer::Failed(error),
        };
    }
    let contents = world.contents();
    let (now, was) = (applied(&contents, &request.object), request.object.get("applied").and_then(Value::as_map));
    let unfinished = Private::of(&request.private).approved.map(|approved| approved.nodes).unwrap_or_default();
    let setting = text(&request.object, "setting");
    let mut notes = Vec::new();
    for name in nodes(&request.object) {
        let was = was.and_then(|map| map.get(name.as_str())).and_then(Value::as_str);
        let now = now.get(&name).map(String::as_str);
        let shown = |value: Option<&str>| value.unwrap_or("nothing").to_owned();
        if was != now && unfinished.contains(&name) {
            notes.push(format!("{name}: {setting} is not set yet: an earlier apply did not come to its end"));
        } else if was != now {
            notes.push(format!("{name}: {setting} was {} and is {}", shown(was), shown(now)));
        }
    }
    let id = ("id", request.object.get("id").cloned().unwrap_or_else(|| Value::null(Type::String)));
    let object = with(&request.object, [("applied", map(&now)), id]);
    ReadAnswer::Object(ReadObject { object, private: request.private.clone(), notes })
}

pub(super) fn plan(world: &World, request: &PlanRequest) -> Result<Planned, Vec<Issue>> {
    let config = &request.config;
    if config.is_null() {
        return Ok(Planned { private: request.private.clone(), ..Planned::object(config.clone()) });
    }
    for name in CONFIGURED {
        if config.get(name).is_some_and(Value::has_unknown) {
            let detail = "What is done on nodes must be known when it is planned.";
            return Err(vec![Issue::error(Path::root().attr(name), "Not known yet", detail)]);
        }
    }
    let contents = world.contents();
    let (setting, to) = (text(config, "setting"), text(config, "to"));
    let mut after = applied(
        &contents,
        &with(config, [("applied", request.prior.get("applied").cloned().unwrap_or_else(|| map(&BTreeMap::new())))]),
    );
    let mut targets = BTreeSet::new();
    for node in nodes(config).into_iter().filter(|node| excluded(&contents, node).is_none()) {
        if after.insert(node.clone(), to.clone()).as_ref() != Some(&to) {
            targets.insert(node);
        }
    }
    let asked: BTreeSet<NodeName> = nodes(config).into_iter().collect();
    let object = with(config, [("applied", map(&after)), ("id", Value::string(request.addr.to_string()))]);
    let before =
        Private::of(&request.private).approved.filter(|a| a.setting == setting && a.to == to && a.asked == asked);
    let reason = before.as_ref().map(|approved| PlannedReason::Unfinished {
        done: approved.done(&contents) as u64,
        total: approved.nodes.len() as u64,
        unit: "nodes".to_owned(),
    });
    let unsettled = before.is_some();
    let mut approved = before.map(|approved| approved.nodes).unwrap_or_default();
    approved.extend(targets.iter().cloned());
    let approved = (!approved.is_empty()).then_some(Approved { setting, to, asked, nodes: approved });
    Ok(Planned {
        private: Private { approved }.bytes(),
        reason,
        pending: !targets.is_empty() || unsettled,
        ..Planned::object(object)
    })
}

/// What an operation sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) setting: String,
    /// `None`: it was not set.
    pub(super) from: Option<String>,
    /// `None`: it is unset.
    pub(super) to: Option<String>,
}

pub(super) fn operations(addr: &ProviderAddr, world: &World, changes: &[PlannedChange]) -> Operations {
    let contents = world.contents();
    let mut result = Operations {
        managed: contents.nodes.len() as u64,
        unavailable: contents.nodes.iter().filter(|(_, node)| node.unavailable).map(|(name, _)| name.clone()).collect(),
        ..Operations::default()
    };
    for change in changes.iter().filter(|change| &*change.addr.ty == TYPE) {
        let object = if change.after.is_null() { &change.before } else { &change.after };
        for node in nodes(object) {
            if let Some(why) = excluded(&contents, &node) {
                result.excluded.push(Excluded { node, why, detail: "the world says so".to_owned() });
                continue;
            }
            if matches!(change.action, Action::NoOp | Action::Forget) {
                continue;
            }
            let setting = text(object, "setting");
            let to = (!change.after.is_null()).then(|| text(object, "to"));
            let from = contents.nodes.get(&node).and_then(|node| node.settings.get(&setting)).cloned();
            if from != to {
                let payload = Payload { setting, from, to };
                result.operations.push(operation(addr, &contents, change, object, node, &payload));
            }
        }
    }
    result.operations.sort_by(|a, b| (&a.node, &a.id).cmp(&(&b.node, &b.id)));
    result
}

fn operation(
    addr: &ProviderAddr,
    contents: &Contents,
    change: &PlannedChange,
    object: &Value,
    node: NodeName,
    payload: &Payload,
) -> Operation {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    let json = |payload: &Payload| serde_json::to_value(payload).expect("plain data is always JSON");
    let undo = Payload { from: payload.to.clone(), to: payload.from.clone(), ..payload.clone() };
    let there = contents.nodes.get(&node).cloned().unwrap_or_default();
    let kind = kind(object).unwrap_or(OperationKind::Drain);
    Operation {
        id: format!("{}@{node}:{}-{}", payload.setting, shown(&payload.from), shown(&payload.to)).into(),
        provider: ProviderConfigAddr { module: ModulePath::root(), provider: addr.clone(), alias: None },
        kind,
        summary: format!("set {} to {}", payload.setting, shown(&payload.to)),
        domain: there.domain,
        unit: None,
        precondition: Precondition::default(),
        undo: Undo::Payload(json(&undo)),
        victims: if kind == OperationKind::None { Vec::new() } else { there.pods },
        owners: vec![change.addr.clone()],
        cards: Vec::new(),
        payload: json(payload),
        after: Vec::new(),
        node,
    }
}

/// Only reads: what its operations have done is there already.
pub(super) fn settle(world: &World, request: &ApplyRequest) -> Outcome<Applied> {
    let change = &request.change;
    let how = world.called(Verb::Settle, &change.addr.to_string());
    if let Some(how) = how {
        return Outcome::failed(None, how.error(&format!("settle {}", change.addr)));
    }
    if change.after.is_null() {
        return Outcome::gone();
    }
    let contents = world.contents();
    let mut private = Private::of(&change.private);
    let left = private.approved.as_ref().map_or(0, |approved| approved.nodes.len() - approved.done(&contents));
    if left == 0 {
        private.approved = None;
    }
    let id = ("id", Value::string(change.addr.to_string()));
    let object = with(&change.after, [("applied", map(&applied(&contents, &change.after))), id]);
    let now = Applied { object, private: private.bytes() };
    if left == 0 {
        return Outcome::done(now);
    }
    let what = format!("{left} nodes of {} are not as planned", change.addr);
    Outcome::failed(Some(now), ProviderError::new(ErrorKind::Conflict, what))
}
