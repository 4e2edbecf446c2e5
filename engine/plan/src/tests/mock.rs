//! A provider whose world is a few lines of memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr, ResourceAddr},
    finding::{Finding, Place, Review},
    name::ClusterIdentity,
    operation::{Operation, OperationKind, Precondition, Undo},
    policy::{DisruptionPolicy, MaxUnavailable},
    schema::{Attribute, Block, Nesting, ProviderSchemas, Schema, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, ErrorKind, Instance, Issue, Operations, Outcome, PlanRequest, Planned,
    PlannedChange, PlannedReason, Provider, ProviderError, ReadAnswer, ReadObject, ReadRequest, ReviewRequest,
};

/// What the mock's world is, and what it was asked.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) cluster: Option<String>,
    /// Objects that are not as the state has them.
    pub(crate) drifted: BTreeMap<String, (&'static str, Value)>,
    pub(crate) gone: BTreeSet<String>,
    pub(crate) unreachable: BTreeSet<String>,
    pub(crate) unfinished: BTreeMap<String, (u64, u64)>,
    /// A planned value that contradicts the configuration.
    pub(crate) lies: bool,
    /// Findings of the review: code, address, path.
    pub(crate) findings: Vec<Finding>,
    /// Every call, in words.
    pub(crate) calls: Vec<String>,
    /// The objects that `plan` saw of the types that it plans after.
    pub(crate) earlier: BTreeMap<String, Vec<String>>,
}

pub(crate) struct Mock {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
    pub(crate) world: Arc<Mutex<World>>,
}

fn text(usage: Usage) -> Attribute {
    Attribute::new(Type::String, usage, "")
}

impl Mock {
    pub(crate) fn new() -> Self {
        let object = || {
            let nested = Attribute::nested(
                Nesting::Map,
                [("size", Attribute::new(Type::Number, Usage::Optional, ""))],
                Usage::Optional,
                "",
            );
            Block::new(
                [
                    ("name", text(Usage::Optional)),
                    ("any", Attribute::new(Type::Dynamic, Usage::Optional, "")),
                    ("zone", text(Usage::Optional)),
                    ("secret", text(Usage::Optional).sensitive()),
                    ("parts", nested),
                    ("id", text(Usage::Computed)),
                ],
                "",
            )
        };
        let schema = |block| Schema { version: 0, block };
        let data = Block::new([("input", text(Usage::Optional)), ("output", text(Usage::Computed))], "");
        let schemas = ProviderSchemas {
            provider: schema(Block::new(
                [("host", text(Usage::Optional)), ("budget", Attribute::new(Type::Number, Usage::Optional, ""))],
                "",
            )),
            resources: ["mock_object", "mock_pool", "mock_quota"].map(|ty| (ty.into(), schema(object()))).into(),
            data: [("mock_data".into(), schema(data))].into(),
            ..ProviderSchemas::default()
        };
        Self { addr: ProviderAddr::new("registry.terraform.io", "hashicorp", "mock"), schemas, world: Arc::default() }
    }
}

#[async_trait]
impl Provider for Mock {
    fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    fn schemas(&self) -> &ProviderSchemas {
        &self.schemas
    }

    fn validate_provider(&self, _: &Value) -> Vec<Issue> {
        Vec::new()
    }

    fn validate(&self, _: Mode, _: &str, config: &Value) -> Vec<Issue> {
        match config.get("name").and_then(Value::as_str) {
            Some("wrong") => vec![Issue::error(Path::root().attr("name"), "Wrong name", "It must not be \"wrong\".")],
            _ => Vec::new(),
        }
    }

    fn plans_after(&self, ty: &str) -> &[&'static str] {
        if ty == "mock_quota" { &["mock_pool"] } else { &[] }
    }

    fn announces(&self, _: &str, object: &Value) -> bool {
        object.get("name").and_then(Value::as_str) == Some("announced")
    }

    fn has_operations(&self, ty: &str) -> bool {
        ty == "mock_pool"
    }

    fn upgrade(&self, _: &str, _: u64, mut object: serde_json::Value) -> Result<serde_json::Value, String> {
        object["name"] = serde_json::Value::from("upgraded");
        Ok(object)
    }

    async fn configure(&self, config: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        self.world.lock().unwrap().calls.push("configure".into());
        Ok(Arc::new(MockInstance { world: self.world.clone(), config: config.clone() }))
    }
}

struct MockInstance {
    world: Arc<Mutex<World>>,
    config: Value,
}

fn with(object: &Value, name: &str, value: Value) -> Value {
    Path::root().attr(name).set(object, value).unwrap()
}

#[async_trait]
impl Instance for MockInstance {
    async fn identity(&self, _: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        Ok(self.world.lock().unwrap().cluster.as_deref().map(ClusterIdentity::from))
    }

    fn policy(&self) -> DisruptionPolicy {
        let budget = self.config.get("budget").and_then(Value::as_i64).unwrap_or(1);
        DisruptionPolicy { max_unavailable: MaxUnavailable::Nodes(budget as u64), ..DisruptionPolicy::default() }
    }

    async fn read(&self, requests: Vec<ReadRequest>, _: Call<'_>) -> Vec<ReadAnswer> {
        let mut world = self.world.lock().unwrap();
        world.calls.push(format!("read {}", requests.len()));
        let answer = |request: ReadRequest| {
            let addr = request.addr.to_string();
            if world.gone.contains(&addr) {
                return ReadAnswer::Gone;
            }
            if world.unreachable.contains(&addr) {
                return ReadAnswer::Unreachable(ProviderError::new(ErrorKind::Unreachable, "no answer"));
            }
            let object = match world.drifted.get(&addr) {
                Some((name, value)) => with(&request.object, name, value.clone()),
                None => request.object,
            };
            ReadAnswer::Object(ReadObject { object, private: request.private, notes: Vec::new() })
        };
        requests.into_iter().map(answer).collect()
    }

    async fn plan(&self, request: PlanRequest, _: Call<'_>) -> Result<Planned, Vec<Issue>> {
        // Later calls answer first where nobody waits for them.
        if request.addr.key.is_some() {
            tokio::task::yield_now().await;
        }
        let mut world = self.world.lock().unwrap();
        let addr = request.addr.to_string();
        world.calls.push(format!("plan {addr}"));
        let earlier = request.earlier.iter().map(|e| format!("{} {}", e.addr, e.action.names().join("+"))).collect();
        world.earlier.insert(addr.clone(), earlier);
        let mut planned = Planned::object(request.proposed.clone());
        if request.config.is_null() {
            return Ok(planned);
        }
        if world.lies {
            planned.object = with(&planned.object, "name", Value::from("a lie"));
        }
        let zone = |value: &Value| value.get("zone").cloned();
        if !request.prior.is_null() && zone(&request.prior) != zone(&request.proposed) {
            planned.replace = vec![Path::root().attr("zone")];
        }
        if request.config.get("name").and_then(Value::as_str) == Some("waits") {
            planned.waits = true;
            planned.after = request.earlier.iter().map(|change| change.addr.clone()).collect();
        }
        if let Some((done, total)) = world.unfinished.get(&addr) {
            planned.pending = true;
            planned.reason = Some(PlannedReason::Unfinished { done: *done, total: *total, unit: "nodes".into() });
        }
        Ok(planned)
    }

    async fn operations(&self, changes: &[PlannedChange], _: Call<'_>) -> Result<Operations, ProviderError> {
        let provider = "provider[\"registry.terraform.io/hashicorp/mock\"]".parse().unwrap();
        let busy = changes
            .iter()
            .filter(|change| *change.addr.ty == *"mock_pool" && change.action != engine_model::change::Action::NoOp);
        let operation = |change: &PlannedChange| Operation {
            id: format!("op-{}", change.addr.name).into(),
            provider: engine_model::address::ProviderConfigAddr::clone(&provider),
            node: "n1".into(),
            kind: OperationKind::Drain,
            summary: "work".into(),
            domain: None,
            unit: None,
            precondition: Precondition::default(),
            undo: Undo::Impossible("mock".into()),
            victims: Vec::new(),
            owners: vec![change.addr.clone()],
            cards: Vec::new(),
            payload: serde_json::Value::Null,
            after: Vec::new(),
        };
        Ok(Operations { operations: busy.map(operation).collect(), managed: 3, ..Operations::default() })
    }

    async fn apply(&self, request: ApplyRequest, _: Call<'_>) -> Outcome<Applied> {
        Outcome::done(Applied { object: request.change.after, private: Vec::new() })
    }

    async fn data(&self, request: DataRequest, _: Call<'_>) -> Result<Value, Vec<Issue>> {
        self.world.lock().unwrap().calls.push(format!("data {}", request.addr));
        let input = request.config.get("input").cloned().unwrap();
        let output = input.as_str().map_or_else(|| "nothing".to_owned(), |input| format!("read {input}"));
        Ok(with(&request.config, "output", Value::from(output)))
    }

    async fn review(&self, _: ReviewRequest<'_>, _: Call<'_>) -> Result<Review, ProviderError> {
        Ok(Review { findings: self.world.lock().unwrap().findings.clone(), capacity: Vec::new() })
    }
}

/// A finding about a place.
pub(crate) fn finding(addr: &str, path: Path) -> Finding {
    let addr: ResourceAddr = addr.parse().unwrap();
    Finding {
        severity: engine_diag::Severity::Error,
        code: "mock".into(),
        summary: "Found".into(),
        detail: String::new(),
        hint: None,
        places: vec![("here".into(), Place::new(addr, path))],
    }
}
