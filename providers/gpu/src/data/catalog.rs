//! `data "gpu_catalog"`: the card models that are known, and their MIG profiles.

use engine_model::schema::{Attribute, Block, Schema, Usage};
use engine_value::{Type, Value};
use providers_catalog::{CardModel, ProfileInfo, catalog};

use crate::attributes::with;

/// The type's name.
pub(super) const TYPE: &str = "gpu_catalog";

/// The schema.
pub(super) fn schema() -> Schema {
    let block = Block::new(
        [
            ("id", Attribute::new(Type::String, Usage::Computed, "Always `gpu_catalog`.")),
            (
                "products",
                Attribute::new(
                    Type::map(product_type()),
                    Usage::Computed,
                    "By product: `architecture`, `memory_mib` (null where unknown), and `profiles` by MIG profile: \
                     `max`, `memory_slices` and the `resource` that stands for it; empty for cards that cannot be cut.",
                ),
            ),
        ],
        "The card models that are known.",
    );
    Schema { version: 0, block }
}

fn product_type() -> Type {
    Type::object([
        ("architecture", Type::String),
        ("memory_mib", Type::Number),
        ("profiles", Type::map(profile_type())),
    ])
}

fn profile_type() -> Type {
    Type::object([("max", Type::Number), ("memory_slices", Type::Number), ("resource", Type::String)])
}

/// What is known.
pub(super) fn read(config: &Value) -> Value {
    let products = catalog().cards().iter().map(|card| (card.product.as_str(), product(card)));
    let products = Value::map(product_type(), products);
    with(&with(config, "products", products), "id", Value::string(TYPE))
}

fn product(card: &CardModel) -> Value {
    let profiles = card.geometry().map(|geometry| geometry.profiles.as_slice()).unwrap_or_default();
    let memory = card.memory_mib.and_then(|memory| i64::try_from(memory).ok());
    Value::object([
        ("architecture", Value::string(card.architecture.to_string())),
        ("memory_mib", memory.map_or(Value::null(Type::Number), Value::int)),
        ("profiles", Value::map(profile_type(), profiles.iter().map(|info| (info.profile.to_string(), profile(info))))),
    ])
}

fn profile(info: &ProfileInfo) -> Value {
    Value::object([
        ("max", Value::int(i64::from(info.max_instances))),
        ("memory_slices", Value::int(i64::from(info.size))),
        ("resource", Value::string(info.profile.resource_name())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_their_profiles() {
        let config =
            Value::object([("id", Value::null(Type::String)), ("products", Value::null(Type::map(product_type())))]);
        let read = read(&config);
        let products = read.get("products").unwrap();
        assert_eq!(products.type_of(), Type::map(product_type()));
        let max =
            |product: &str, profile: &str| products.get(product)?.get("profiles")?.get(profile)?.get("max")?.as_i64();
        assert_eq!(max("A100-SXM4-80GB", "1g.10gb"), Some(7));
        assert_eq!(max("L4", "1g.10gb"), None);
    }
}
