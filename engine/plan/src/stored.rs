//! Objects of the state as values of their types, brought to the schema of this release.

use engine_diag::Diagnostic;
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    schema::{Block, Nesting},
};
use engine_value::{Marks, Value, json::Json};
use state::Object;

use crate::{Providers, proposed::sensitive_paths};

/// The value of a stored object, sensitive where the state or the schema says so, and the version of the schema that it
/// now has.
///
/// # Errors
/// An unknown provider or type, an object that an older or later release stored and that cannot be brought over, or one
/// that is not of its type.
pub(crate) fn stored_value(
    providers: &Providers,
    addr: &ResourceAddr,
    provider: &ProviderConfigAddr,
    object: &Object,
) -> Result<(Value, u64), Box<Diagnostic>> {
    let schema = providers.schema(&provider.provider, addr.mode, &addr.ty).map_err(|error| {
        let hint = "The state has an object of it. Use the release that made it to destroy it first.";
        Box::new(error.about(addr).hint(hint))
    })?;
    let damaged = |why: String| {
        let detail = format!("The state holds an object for {addr} that is not of its type: {why}.");
        Box::new(Diagnostic::error("Invalid object in the state", detail).about(addr))
    };
    let ty = schema.block.value_type();
    let value = if object.schema_version == schema.version {
        object.value(&ty).map_err(|error| damaged(error.to_string()))?
    } else {
        let upgraded = providers.get(&provider.provider).map(|provider| {
            provider.upgrade(&addr.ty, object.schema_version, serde_json::Value::from(&object.attributes))
        });
        let upgraded = upgraded.unwrap_or_else(|| Err("there is no such provider".to_owned())).map_err(|why| {
            let detail = format!(
                "The state holds {addr} in version {} of its schema, and this release has version {}: {why}.",
                object.schema_version, schema.version
            );
            Box::new(Diagnostic::error("Resource instance cannot be upgraded", detail).about(addr))
        })?;
        let upgraded = Object { attributes: Json::from(&upgraded), ..object.clone() };
        upgraded.value(&ty).map_err(|error| damaged(error.to_string()))?
    };
    Ok((mark_sensitive(&schema.block, value), schema.version))
}

/// The same with everything sensitive that the schema says is.
pub(crate) fn mark_sensitive(block: &Block, value: Value) -> Value {
    let places: Vec<_> = sensitive_paths(block, &value).into_iter().map(|path| (path, Marks::SENSITIVE)).collect();
    value.mark_paths(&places)
}

/// The object of a block that says nothing.
pub(crate) fn empty_object(block: &Block) -> Value {
    let attributes = block.attributes.iter().map(|(name, attribute)| (name, Value::null(attribute.value_type())));
    let blocks = block.blocks.iter().map(|(name, nested)| {
        let element = nested.block.value_type();
        let value = match nested.nesting {
            Nesting::Single => Value::null(element),
            Nesting::Group => empty_object(&nested.block),
            Nesting::List => Value::list(element, Vec::new()),
            Nesting::Set => Value::set(element, Vec::new()),
            Nesting::Map => Value::map(element, std::iter::empty::<(&str, Value)>()),
        };
        (name, value)
    });
    Value::object(attributes.chain(blocks))
}
