//! The schema of `gpu_pool`.

use engine_model::schema::{Attribute, Block, Nesting, Schema, Usage};
use engine_value::Type;

use super::object::node_type;

/// The type's name.
pub(crate) const TYPE: &str = "gpu_pool";

/// The schema.
pub(crate) fn schema() -> Schema {
    let plain = |ty, usage, description: &str| Attribute::new(ty, usage, description);
    let block = Block::new(
        [
            ("id", plain(Type::String, Usage::Computed, "The address under which the pool was created.")),
            (
                "selector",
                plain(
                    Type::map(Type::String),
                    Usage::Required,
                    "Labels that a node of the pool has, nodes that join later too. Not labels of `nvidia.com/`: \
                     slicing rewrites those.",
                ),
            ),
            (
                "partitioned_by",
                plain(
                    Type::String,
                    Usage::OptionalComputed,
                    "Who cuts the cards: `agent` (the default). `mig-manager` is not supported yet.",
                ),
            ),
            (
                "advertised_by",
                plain(
                    Type::String,
                    Usage::OptionalComputed,
                    "Who offers the slices to Kubernetes: `device-plugin`, NVIDIA's (the default). `agent` is not \
                     supported yet.",
                ),
            ),
            (
                "on_destroy",
                plain(
                    Type::String,
                    Usage::OptionalComputed,
                    "What becomes of the cards when the pool is destroyed: `keep` (the default) leaves them as they \
                     are, `restore` brings back the layout found first, `whole` switches MIG off.",
                ),
            ),
            (
                "profiles",
                Attribute::nested(
                    Nesting::Map,
                    profile(),
                    Usage::Required,
                    "How cards are cut, by a name of your own. Their order means nothing.",
                ),
            ),
            (
                "resources",
                plain(
                    Type::map(Type::Number),
                    Usage::Computed,
                    "How many of each resource the pool's profiles offer by plan, on nodes that are not excluded.",
                ),
            ),
            (
                "nodes",
                plain(
                    Type::map(node_type()),
                    Usage::Computed,
                    "By node: `excluded` (why it is left alone, or null) and `cards` by PCI address: `uuid`, \
                     `product`, `profile` (null: left alone), and `layout`: `whole`, or the slices with start and size, \
                     `1g.10gb@0:1 2g.20gb@2:2`.",
                ),
            ),
            (
                "isolation",
                plain(
                    Type::map(Type::String),
                    Usage::Computed,
                    "What keeps tenants apart, by resource name: `hardware` (MIG) or `exclusive` (a whole card).",
                ),
            ),
        ],
        "A set of GPU nodes and how their cards are cut.",
    );
    Schema { version: 0, block }
}

fn profile() -> [(&'static str, Attribute); 6] {
    let optional = |ty, description: &str| Attribute::new(ty, Usage::Optional, description);
    let share = [
        ("count", optional(Type::Number, "How many of them; 1 where it is left out.")),
        ("memory", Attribute::new(Type::String, Usage::Required, "Device memory of each: `20%`.")),
        ("compute", optional(Type::Number, "Active thread percentage of each.")),
    ];
    [
        (
            "product",
            optional(
                Type::String,
                "The card model, as the label `nvidia.com/gpu.product` spells it without `NVIDIA-`: \
                 `A100-SXM4-80GB`.",
            ),
        ),
        (
            "cards",
            optional(
                Type::Number,
                "How many cards of the pool; which ones is decided by the least disruption. Left out: all of that \
                 product that no other profile takes.",
            ),
        ),
        ("mig", optional(Type::map(Type::Number), "Slices of one card by MIG profile: `{ \"1g.10gb\" = 3 }`.")),
        ("mps", Attribute::nested(Nesting::Map, share, Usage::Optional, "Not supported yet.")),
        ("time_slicing", optional(Type::Number, "Not supported yet.")),
        (
            "whole",
            optional(
                Type::Bool,
                "`true`: cards are not cut. Without `product` and `cards`: all cards that remain; without such a \
                 profile, those are left alone.",
            ),
        ),
    ]
}
