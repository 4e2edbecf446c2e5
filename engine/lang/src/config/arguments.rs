//! What a block says to a provider or to a called module: its body without what the language itself takes from it.

use engine_model::schema::Block;

use crate::{
    eval::by_schema,
    syntax::{AttributeRef, BlockRef, Body},
};

/// A body without its meta-arguments. `dynamic` blocks are still in it: they are expanded when it is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The whole body.
    pub body: Body,
    /// Names of arguments and blocks that are not part of it.
    pub meta: &'static [&'static str],
}

impl Arguments {
    /// The arguments in it, in the order of the file.
    pub fn attributes(&self) -> impl Iterator<Item = AttributeRef<'_>> {
        self.body.attributes().filter(|attribute| !self.meta.contains(&&**attribute.name()))
    }

    /// The blocks in it, in the order of the file.
    pub fn blocks(&self) -> impl Iterator<Item = BlockRef<'_>> {
        self.body.blocks().filter(|block| !self.meta.contains(&&**block.kind()))
    }

    /// The arguments and blocks in it, told apart by a schema.
    pub fn by_schema(&self, schema: &Block) -> (Vec<AttributeRef<'_>>, Vec<BlockRef<'_>>) {
        let (mut attributes, mut blocks) = by_schema(&self.body, schema);
        attributes.retain(|attribute| !self.meta.contains(&&**attribute.name()));
        blocks.retain(|block| !self.meta.contains(&&**block.kind()));
        (attributes, blocks)
    }
}
