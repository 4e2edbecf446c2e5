//! Values to JSON.

use std::sync::Arc;

use thiserror::Error;

use crate::{Data, Path, Step, Type, Value, json::Json, json::type_to_tree};

/// A value that JSON cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    /// A part is not known.
    #[error("the value at {0:?} is not known")]
    Unknown(Path),
    /// A number is infinite.
    #[error("cannot serialize infinity as JSON")]
    Infinite(Path),
}

/// The value as compact text, members in key order.
///
/// # Errors
/// The first part that is unknown or infinite.
pub fn encode(value: &Value) -> Result<String, JsonError> {
    Ok(to_tree(value, None)?.to_string())
}

/// The value as compact text such that the type is enough to read it again: where the type leaves it open, the value is
/// wrapped as `{"value": …, "type": …}`.
///
/// # Errors
/// The first part that is unknown or infinite.
pub fn encode_typed(value: &Value, ty: &Type) -> Result<String, JsonError> {
    Ok(to_tree(value, Some(ty))?.to_string())
}

/// The value as a tree; with a type, wrapped where that leaves it open.
///
/// # Errors
/// The first part that is unknown or infinite.
pub fn to_tree(value: &Value, ty: Option<&Type>) -> Result<Json, JsonError> {
    tree(value, ty, &mut Path::root())
}

fn tree(value: &Value, ty: Option<&Type>, at: &mut Path) -> Result<Json, JsonError> {
    if ty == Some(&Type::Dynamic) {
        let own = value.type_of();
        if own != Type::Dynamic || !value.is_null() {
            let inner = tree(value, Some(&own), at)?;
            return Ok(Json::Object(vec![("value".into(), inner), ("type".into(), type_to_tree(&own))]));
        }
    }
    let element = ty.and_then(Type::element);
    match &value.data {
        Data::Unknown(_) => Err(JsonError::Unknown(at.clone())),
        Data::Null(_) => Ok(Json::Null),
        Data::Bool(value) => Ok(Json::Bool(*value)),
        Data::Number(number) if number.is_finite() => Ok(Json::Number(number.to_string().into())),
        Data::Number(_) => Err(JsonError::Infinite(at.clone())),
        Data::String(text) => Ok(Json::String(text.as_ref().into())),
        Data::List(_, elements) | Data::Set(_, elements) => sequence(elements.iter().map(|value| (value, element)), at),
        Data::Tuple(elements) => {
            let types: &[Type] = match ty {
                Some(Type::Tuple(types)) => types,
                _ => &[],
            };
            sequence(elements.iter().enumerate().map(|(index, value)| (value, types.get(index))), at)
        }
        Data::Map(_, elements) => {
            let mut members = Vec::with_capacity(elements.len());
            for (key, value) in elements.iter() {
                at.0.push(Step::Key(Arc::clone(key)));
                members.push((key.as_ref().into(), tree(value, element, at)?));
                at.0.pop();
            }
            Ok(Json::Object(members))
        }
        Data::Object(attributes) => {
            let types = ty.and_then(Type::attributes);
            let mut members = Vec::with_capacity(attributes.len());
            for (name, value) in attributes.iter() {
                at.0.push(Step::Attr(Arc::clone(name)));
                let ty = types.and_then(|types| types.get(name)).map(|attr| &attr.ty);
                members.push((name.as_ref().into(), tree(value, ty, at)?));
                at.0.pop();
            }
            Ok(Json::Object(members))
        }
    }
}

fn sequence<'a>(
    elements: impl Iterator<Item = (&'a Value, Option<&'a Type>)>,
    at: &mut Path,
) -> Result<Json, JsonError> {
    let mut written = Vec::new();
    for (index, (value, ty)) in elements.enumerate() {
        at.0.push(Step::Index(index));
        written.push(tree(value, ty, at)?);
        at.0.pop();
    }
    Ok(Json::Array(written))
}
