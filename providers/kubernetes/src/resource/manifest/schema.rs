//! The schema, under HashiCorp's names.

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::Type;

use crate::resource::{deletion, wait};

/// The schema of `kubernetes_manifest`.
pub(crate) fn schema() -> Schema {
    let optional = |ty: Type, description: &str| Attribute::new(ty, Usage::Optional, description);
    let text = |description: &str| optional(Type::String, description);
    let one = |block: Block| NestedBlock { nesting: Nesting::List, block, min_items: 0, max_items: 1 };
    let field_manager = Block::new(
        [
            ("name", text("The name under which fields are owned. Default: `sliceform`.")),
            ("force_conflicts", optional(Type::Bool, "Take fields that other managers own. Default: false.")),
        ],
        "Who owns the fields.",
    );
    let timeouts = Block::new(
        [
            ("create", text("How long is waited for what `wait` says. Default: 10m.")),
            ("update", text("The same after an update. Default: 10m.")),
            ("delete", text("Default: 10m. The object is waited for until it is gone.")),
        ],
        "How long each may take.",
    );
    let wait_for = Type::object([("fields", Type::map(Type::String))]);
    let block = Block::new(
        [
            (
                "manifest",
                Attribute::new(
                    Type::Dynamic,
                    Usage::Required,
                    "The object, as in YAML: `apiVersion`, `kind`, `metadata`, …; or the text of one YAML document. Nulls are \
                     left out.",
                ),
            ),
            (
                "object",
                Attribute::new(
                    Type::Dynamic,
                    Usage::Computed,
                    "Of the live object what `manifest` says, as the server spells it, and `metadata.uid`.",
                ),
            ),
            (
                "computed_fields",
                optional(
                    Type::list(Type::String),
                    "Fields of `manifest` that the server or others may change at will (`metadata.annotations`): they are \
                     applied, but neither compared nor exported.",
                ),
            ),
            ("wait_for", optional(wait_for, "The old way to write `fields` of a `wait` block.")),
        ],
        "Any Kubernetes object, by server-side apply.",
    )
    .with_block("delete", deletion::block())
    .with_block("field_manager", one(field_manager))
    .with_block("timeouts", one(timeouts))
    .with_block("wait", wait::block());
    Schema { version: 1, block }
}
