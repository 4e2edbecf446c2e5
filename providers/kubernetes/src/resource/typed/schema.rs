//! The schema that a table of fields comes to.

use std::time::Duration;

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::Type;

use super::{
    field::{Field, Holds, Presence},
    kind::Kind,
};

/// The schema of a type: its fields, `id` and `timeouts`.
pub(super) fn of(kind: &Kind) -> Schema {
    let mut block = block_with_id(kind.fields, kind.description);
    if let Some(nested) = timeouts_block(kind) {
        let nested = NestedBlock { nesting: Nesting::Single, block: nested, min_items: 0, max_items: 0 };
        block = block.with_block("timeouts", nested);
    }
    Schema { version: 0, block }
}

/// The block that these fields make, with an identifier.
pub(super) fn block_with_id(fields: &[Field], description: &str) -> Block {
    let mut block = block(fields, description);
    let id = Attribute::new(Type::String, Usage::OptionalComputed, "What names it.");
    block.attributes.insert("id".into(), id);
    block
}

/// The type of its `timeouts`; `None`: it has none.
pub(super) fn timeouts(kind: &Kind) -> Option<Type> {
    timeouts_block(kind).map(|block| block.value_type())
}

fn timeouts_block(kind: &Kind) -> Option<Block> {
    let attribute = |(name, default): &(&'static str, Duration)| {
        let description = format!("How long to wait. Default: {}s.", default.as_secs());
        (*name, Attribute::new(Type::String, Usage::Optional, &description))
    };
    (!kind.timeouts.is_empty()).then(|| Block::new(kind.timeouts.iter().map(attribute), "How long to wait."))
}

/// The block that these fields make.
pub(super) fn block(fields: &[Field], description: &str) -> Block {
    let mut made = Block { description: description.to_owned(), ..Block::default() };
    for field in fields {
        match field.nested() {
            Some((inside, nesting)) => {
                let presence = match field.holds {
                    Holds::One(_, presence) | Holds::Many(_, presence) => presence,
                    _ => Presence::Optional,
                };
                let nested = NestedBlock {
                    nesting,
                    block: block(inside, field.description),
                    min_items: u64::from(presence == Presence::Required),
                    max_items: u64::from(matches!(field.holds, Holds::One(..))),
                };
                made.blocks.insert(field.name.into(), nested);
            }
            None => {
                made.attributes.insert(field.name.into(), attribute(field));
            }
        }
    }
    made
}

fn attribute(field: &Field) -> Attribute {
    let ty = match field.holds {
        Holds::Bool => Type::Bool,
        Holds::Int => Type::Number,
        Holds::Texts | Holds::Encoded | Holds::Quantities => Type::map(Type::String),
        Holds::List => Type::list(Type::String),
        Holds::Set => Type::set(Type::String),
        Holds::Text | Holds::One(..) | Holds::Many(..) | Holds::SetOf(_) => Type::String,
    };
    let attribute = Attribute::new(ty, field.usage, field.description);
    Attribute {
        sensitive: field.sensitive,
        write_only: field.write_only,
        default: field.default.map(|default| default.value()),
        ..attribute
    }
}
