//! Schemas: what a block may say, and the type of the object that it makes.
//!
//! The shape is that of Terraform's `providers schema -json`, so that other tools understand it.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::{Attr, Type, Value};
use serde::{Deserialize, Serialize};

/// The schema of one resource type, data source, ephemeral resource or provider configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Raised when stored objects must be upgraded.
    pub version: u64,
    /// What may stand in the block.
    pub block: Block,
}

/// What may stand in a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Arguments and computed attributes by name.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// Nested blocks by name. No name is also an attribute's.
    pub blocks: BTreeMap<Arc<str>, NestedBlock>,
    /// For the reference documentation, in Markdown.
    pub description: String,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// What it holds.
    pub ty: AttributeType,
    /// Who gives its value.
    pub usage: Usage,
    /// Never shown.
    pub sensitive: bool,
    /// Never stored; null in every state and plan.
    pub write_only: bool,
    /// What it is where the configuration leaves it null. Other tools' schemas do not tell it: to them it is a part of
    /// the provider's plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// For the reference documentation, in Markdown.
    pub description: String,
}

/// Who gives the value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Usage {
    /// The configuration, always.
    Required,
    /// The configuration, or nobody: then it is null.
    Optional,
    /// The configuration, else the provider.
    OptionalComputed,
    /// The provider alone.
    Computed,
}

/// The type of an attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AttributeType {
    /// A plain type.
    Plain(Type),
    /// Objects whose attributes have schemas of their own.
    Nested {
        /// One of them, or how many are held.
        nesting: Nesting,
        /// Their attributes.
        attributes: BTreeMap<Arc<str>, Attribute>,
    },
}

/// A nested block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestedBlock {
    /// How its occurrences are held.
    pub nesting: Nesting,
    /// What may stand in it.
    pub block: Block,
    /// At least so many.
    pub min_items: u64,
    /// At most so many; 0 is no limit.
    pub max_items: u64,
}

/// How nested objects are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nesting {
    /// One, or null.
    Single,
    /// One; where the block is missing, one with null in it.
    Group,
    /// A list in the order of the source.
    List,
    /// A set.
    Set,
    /// A map by the block's label, or by key.
    Map,
}

impl Nesting {
    fn hold(self, object: Type) -> Type {
        match self {
            Self::Single | Self::Group => object,
            Self::List => Type::list(object),
            Self::Set => Type::set(object),
            Self::Map => Type::map(object),
        }
    }
}

impl Attribute {
    /// An attribute of a plain type.
    pub fn new(ty: Type, usage: Usage, description: &str) -> Self {
        let ty = AttributeType::Plain(ty);
        Self { ty, usage, sensitive: false, write_only: false, default: None, description: description.to_owned() }
    }

    /// An attribute that holds objects with schemas of their own.
    pub fn nested<K: Into<Arc<str>>>(
        nesting: Nesting,
        attributes: impl IntoIterator<Item = (K, Attribute)>,
        usage: Usage,
        description: &str,
    ) -> Self {
        let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
        let ty = AttributeType::Nested { nesting, attributes };
        Self { ty, usage, sensitive: false, write_only: false, default: None, description: description.to_owned() }
    }

    /// The same, with what it is where the configuration leaves it null.
    #[must_use]
    pub fn with_default(self, default: Value) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same, never stored.
    #[must_use]
    pub fn write_only(self) -> Self {
        Self { write_only: true, ..self }
    }

    /// The same, never shown.
    #[must_use]
    pub fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    /// The type of its value.
    pub fn value_type(&self) -> Type {
        match &self.ty {
            AttributeType::Plain(ty) => ty.clone(),
            AttributeType::Nested { nesting, attributes } => nesting.hold(object(attributes)),
        }
    }

    /// May the provider give its value?
    pub fn is_computed(&self) -> bool {
        matches!(self.usage, Usage::Computed | Usage::OptionalComputed)
    }
}

fn object(attributes: &BTreeMap<Arc<str>, Attribute>) -> Type {
    let attrs = attributes.iter().map(|(name, a)| (name.clone(), Attr::required(a.value_type())));
    Type::Object(Arc::new(attrs.collect()))
}

impl Block {
    /// A block of attributes.
    pub fn new<K: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (K, Attribute)>, description: &str) -> Self {
        let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
        Self { attributes, blocks: BTreeMap::new(), description: description.to_owned() }
    }

    /// The same with one more nested block.
    #[must_use]
    pub fn with_block(mut self, name: &str, block: NestedBlock) -> Self {
        self.blocks.insert(name.into(), block);
        self
    }

    /// The type of the object that the block makes: every attribute and every nested block, none optional.
    pub fn value_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, a)| (name.clone(), a.value_type()));
        let blocks = self.blocks.iter().map(|(name, b)| (name.clone(), b.nesting.hold(b.block.value_type())));
        Type::Object(Arc::new(attributes.chain(blocks).map(|(name, ty)| (name, Attr::required(ty))).collect()))
    }
}

/// Everything that a provider has schemas for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderSchemas {
    /// Its configuration block.
    pub provider: Schema,
    /// Resource types.
    pub resources: BTreeMap<Arc<str>, Schema>,
    /// Data sources.
    pub data: BTreeMap<Arc<str>, Schema>,
    /// Ephemeral resource types.
    pub ephemeral: BTreeMap<Arc<str>, Schema>,
    /// Functions, called as `provider::NAME::FUNCTION`.
    pub functions: BTreeMap<Arc<str>, Function>,
}

impl ProviderSchemas {
    /// The schema of a type.
    pub fn get(&self, mode: crate::address::Mode, ty: &str) -> Option<&Schema> {
        match mode {
            crate::address::Mode::Managed => self.resources.get(ty),
            crate::address::Mode::Data => self.data.get(ty),
            crate::address::Mode::Ephemeral => self.ephemeral.get(ty),
        }
    }
}

/// The signature of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Name and type of each parameter.
    pub parameters: Vec<(Arc<str>, Type)>,
    /// Type of any further arguments.
    pub variadic: Option<Type>,
    /// What it gives.
    pub returns: Type,
    /// For the reference documentation, in Markdown.
    pub description: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_block_has_attributes_and_blocks() {
        let text = || Attribute::new(Type::String, Usage::Optional, "");
        let profiles = Attribute::nested(Nesting::Map, [("product", text())], Usage::Required, "Profiles by name.");
        let metadata = NestedBlock {
            nesting: Nesting::List,
            block: Block::new([("name", text())], ""),
            min_items: 1,
            max_items: 1,
        };
        let block = Block::new([("profiles", profiles), ("id", text())], "").with_block("metadata", metadata);
        let expected = Type::object([
            ("id", Type::String),
            ("metadata", Type::list(Type::object([("name", Type::String)]))),
            ("profiles", Type::map(Type::object([("product", Type::String)]))),
        ]);
        assert_eq!(block.value_type(), expected);
    }
}
