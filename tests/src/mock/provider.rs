//! The pure half: schemas and the provider block.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr},
    policy::{DisruptionPolicy, MaxUnavailable},
    schema::{Attribute, Block, ProviderSchemas, Schema, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::{Call, Instance, Issue, Provider, ProviderError};

use super::{call::Verb, instance::MockInstance, node_change, object, world::World};

/// The provider `mock`.
pub struct Mock {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
    world: World,
}

impl Mock {
    /// The provider of a world.
    pub fn new(world: &World) -> Self {
        let text = |usage, what| Attribute::new(Type::String, usage, what);
        let provider = Block::new(
            [
                ("cluster", text(Usage::Optional, "The cluster behind it.")),
                ("max_unavailable", text(Usage::Optional, "A number of nodes, or a percentage.")),
                ("failure_domain", text(Usage::Optional, "The label whose value the nodes of a wave share.")),
                ("password", text(Usage::Optional, "What it would log in with.").sensitive()),
            ],
            "A world in memory.",
        );
        let value = Block::new(
            [("key", text(Usage::Required, "Which value.")), ("result", text(Usage::Computed, "The value."))],
            "A value of the world.",
        );
        let schema = |block| Schema { version: 0, block };
        let resources = BTreeMap::from([
            (Arc::from(object::TYPE), schema(object::block())),
            (Arc::from(node_change::TYPE), schema(node_change::block())),
        ]);
        let data = BTreeMap::from([(Arc::from("mock_value"), schema(value))]);
        Self {
            addr: ProviderAddr::new("registry.terraform.io", "hashicorp", "mock"),
            schemas: ProviderSchemas { provider: schema(provider), resources, data, ..ProviderSchemas::default() },
            world: world.clone(),
        }
    }
}

fn most(text: &str) -> Option<MaxUnavailable> {
    match text.strip_suffix('%') {
        Some(percent) => percent.parse().ok().map(MaxUnavailable::Percent),
        None => text.parse().ok().map(MaxUnavailable::Nodes),
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

    fn validate_provider(&self, config: &Value) -> Vec<Issue> {
        let path = Path::root().attr("max_unavailable");
        match config.get("max_unavailable").and_then(Value::as_str) {
            Some(text) if most(text).is_none() => {
                let detail = format!("A number of nodes or a percentage was expected, found {text:?}.");
                vec![Issue::error(path, "Invalid max_unavailable", detail)]
            }
            _ => Vec::new(),
        }
    }

    fn validate(&self, _: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        if ty == node_change::TYPE { node_change::validate(config) } else { Vec::new() }
    }

    fn has_operations(&self, ty: &str) -> bool {
        ty == node_change::TYPE
    }

    async fn configure(&self, config: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
        let cluster = text("cluster").unwrap_or_else(|| "cluster-1".to_owned());
        self.world.called(Verb::Configure, &cluster);
        let default = DisruptionPolicy::default();
        let policy = DisruptionPolicy {
            max_unavailable: text("max_unavailable").and_then(|text| most(&text)).unwrap_or(default.max_unavailable),
            failure_domain: text("failure_domain"),
            ..default
        };
        Ok(Arc::new(MockInstance { addr: self.addr.clone(), world: self.world.clone(), cluster, policy }))
    }
}
