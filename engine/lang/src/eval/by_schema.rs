//! Arguments and blocks of a body, told apart by a schema.

use engine_model::schema::{Block, Nesting};

use crate::syntax::{AttributeRef, BlockRef, Body};

/// The arguments and the blocks of a body, in the order of the file. In JSON only the schema tells which is which.
pub fn by_schema<'b>(body: &'b Body, schema: &Block) -> (Vec<AttributeRef<'b>>, Vec<BlockRef<'b>>) {
    let mut blocks: Vec<BlockRef<'b>> = body.blocks().collect();
    let mut attributes = Vec::new();
    for attribute in body.attributes() {
        let nested = schema.blocks.get(attribute.name()).filter(|_| !schema.attributes.contains_key(attribute.name()));
        match nested.and_then(|nested| attribute.as_blocks(nested.nesting == Nesting::Map)) {
            Some(found) => blocks.extend(found),
            None => attributes.push(attribute),
        }
    }
    (attributes, blocks)
}
