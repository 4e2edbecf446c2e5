//! `data "gpu_nodes"`: the GPU nodes of the cluster, with their cards and what those are cut into.

use engine_model::schema::{Attribute, Block, Schema, Usage};
use engine_value::{Type, Value};

use crate::{
    attributes::{optional, texts, with},
    exclusion::exclusion,
    pool::spell,
    resource::Amounts,
    world::{Card, Node, World},
};

/// The type's name.
pub(super) const TYPE: &str = "gpu_nodes";

/// The schema.
pub(super) fn schema() -> Schema {
    let block = Block::new(
        [
            ("id", Attribute::new(Type::String, Usage::Computed, "Always `gpu_nodes`.")),
            (
                "selector",
                Attribute::new(
                    Type::map(Type::String),
                    Usage::Optional,
                    "Labels that the nodes have; all nodes without.",
                ),
            ),
            (
                "nodes",
                Attribute::new(
                    Type::map(node_type()),
                    Usage::Computed,
                    "By node: `excluded` (why a pool would leave it alone, or null), `labels`, `offers` by resource \
                     name, and `cards` by PCI address, with `layout` as `gpu_pool` has it.",
                ),
            ),
        ],
        "GPU nodes: those that have an agent, or offer a GPU resource.",
    );
    Schema { version: 0, block }
}

fn node_type() -> Type {
    Type::object([
        ("excluded", Type::String),
        ("labels", Type::map(Type::String)),
        ("offers", Type::map(Type::Number)),
        ("cards", Type::map(card_type())),
    ])
}

fn card_type() -> Type {
    Type::object([("uuid", Type::String), ("product", Type::String), ("layout", Type::String)])
}

/// What there is.
pub(super) fn read(config: &Value, world: &World) -> Value {
    let selector = texts(config, "selector").collect();
    let nodes = world.selected(&selector).filter(|(_, node)| node.report.is_some() || !node.allocatable.is_empty());
    let nodes = nodes.map(|(name, node)| {
        let excluded = exclusion(name, world, None).map(|excluded| excluded.detail);
        (name.as_str(), node_value(node, excluded))
    });
    let nodes = Value::map(node_type(), nodes);
    with(&with(config, "nodes", nodes), "id", Value::string(TYPE))
}

fn node_value(node: &Node, excluded: Option<String>) -> Value {
    let labels = node.labels.iter().map(|(key, value)| (key, Value::string(value)));
    let cards = node.report.iter().flat_map(|report| &report.cards);
    Value::object([
        ("excluded", optional(excluded)),
        ("labels", Value::map(Type::String, labels)),
        ("offers", amounts(&node.allocatable)),
        ("cards", Value::map(card_type(), cards.map(|card| (card.pci.as_str(), card_value(card))))),
    ])
}

fn amounts(amounts: &Amounts) -> Value {
    let number = |amount: u64| Value::int(i64::try_from(amount).unwrap_or(i64::MAX));
    Value::map(Type::Number, amounts.iter().map(|(name, amount)| (name.as_str(), number(*amount))))
}

fn card_value(card: &Card) -> Value {
    Value::object([
        ("uuid", Value::string(card.uuid.as_str())),
        ("product", Value::string(&card.product)),
        ("layout", Value::string(spell(&card.layout))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WorldBuilder, a100};

    #[test]
    fn nodes_without_gpus_are_left_out() {
        let world = WorldBuilder::default()
            .node("gpu-01", vec![a100(0, "1g.10gb@0:1", &[])])
            .node("cpu-01", vec![])
            .with("cpu-01", |node| node.report = None)
            .build();
        let config = Value::object([
            ("id", Value::null(Type::String)),
            ("selector", Value::null(Type::map(Type::String))),
            ("nodes", Value::null(Type::map(node_type()))),
        ]);
        let nodes = read(&config, &world);
        let nodes = nodes.get("nodes").unwrap();
        assert_eq!(nodes.type_of(), Type::map(node_type()));
        let names: Vec<&str> = nodes.as_map().unwrap().keys().map(|name| &**name).collect();
        assert_eq!(names, ["gpu-01"]);
        let card = nodes.get("gpu-01").unwrap().get("cards").unwrap().get("0000:00:00.0").unwrap();
        assert_eq!(card.get("layout"), Some(&Value::string("1g.10gb@0:1")));
    }
}
