//! The schema, under HashiCorp's names.

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::Type;

/// The schema of `kubernetes_namespace`.
pub(crate) fn schema() -> Schema {
    let attribute = |ty: Type, usage: Usage, description: &str| Attribute::new(ty, usage, description);
    let metadata = Block::new(
        [
            ("name", attribute(Type::String, Usage::OptionalComputed, "Its name. Cannot be changed.")),
            (
                "generate_name",
                attribute(Type::String, Usage::Optional, "What a generated name begins with, where `name` is not set."),
            ),
            ("labels", attribute(Type::map(Type::String), Usage::Optional, "Labels. Those of others are left alone.")),
            (
                "annotations",
                attribute(Type::map(Type::String), Usage::Optional, "Annotations. Those of others are left alone."),
            ),
            ("generation", attribute(Type::Number, Usage::Computed, "As of the last apply.")),
            ("resource_version", attribute(Type::String, Usage::Computed, "As of the last apply.")),
            ("uid", attribute(Type::String, Usage::Computed, "What tells it from another one of the same name.")),
        ],
        "Name, labels, annotations.",
    );
    let timeouts = Block::new(
        [("delete", attribute(Type::String, Usage::Optional, "Default: 5m. It is waited for until it is gone."))],
        "",
    );
    let block = Block::new(
        [
            ("id", attribute(Type::String, Usage::OptionalComputed, "Its name.")),
            (
                "wait_for_default_service_account",
                attribute(Type::Bool, Usage::Optional, "Wait until pods can start there without naming an account."),
            ),
        ],
        "A namespace.",
    )
    .with_block("metadata", NestedBlock { nesting: Nesting::List, block: metadata, min_items: 1, max_items: 1 })
    .with_block("timeouts", NestedBlock { nesting: Nesting::Single, block: timeouts, min_items: 0, max_items: 0 });
    Schema { version: 0, block }
}
