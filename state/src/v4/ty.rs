//! Types and paths as the file spells them.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::{Attr, Path, Step, Type};

use super::{FormatError, field::Field};
use crate::Json;

pub(super) fn write_type(ty: &Type) -> Json {
    let of = |name: &str, inner: Json| Json::Array(vec![Json::text(name), inner]);
    match ty {
        Type::Dynamic => Json::text("dynamic"),
        Type::Bool => Json::text("bool"),
        Type::Number => Json::text("number"),
        Type::String => Json::text("string"),
        Type::List(element) => of("list", write_type(element)),
        Type::Set(element) => of("set", write_type(element)),
        Type::Map(element) => of("map", write_type(element)),
        Type::Tuple(elements) => of("tuple", Json::Array(elements.iter().map(write_type).collect())),
        Type::Object(attrs) => {
            of("object", Json::Object(attrs.iter().map(|(name, attr)| (name.clone(), write_type(&attr.ty))).collect()))
        }
    }
}

pub(super) fn read_type(field: Field<'_>) -> Result<Type, FormatError> {
    let unknown = || field.error("there is no such type");
    if let Some(name) = field.json().as_str() {
        return match name {
            "dynamic" => Ok(Type::Dynamic),
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            _ => Err(unknown()),
        };
    }
    let mut parts = field.elements()?;
    let (Some(kind), Some(inner)) = (parts.next(), parts.next()) else { return Err(unknown()) };
    Ok(match kind.text()? {
        "list" => Type::list(read_type(inner)?),
        "set" => Type::set(read_type(inner)?),
        "map" => Type::map(read_type(inner)?),
        "tuple" => Type::Tuple(inner.elements()?.map(read_type).collect::<Result<_, _>>()?),
        "object" => {
            let attrs = inner.members()?.map(|(name, ty)| Ok((Arc::from(name), Attr::required(read_type(ty)?))));
            Type::Object(Arc::new(attrs.collect::<Result<BTreeMap<_, _>, _>>()?))
        }
        _ => return Err(unknown()),
    })
}

/// A path, up to the first set: Terraform names no elements of sets.
pub(super) fn write_path(path: &Path) -> Json {
    let step = |kind: &str, value: Json| Json::object([("type", Json::text(kind)), ("value", value)]);
    let index = |value: Json, ty: &str| step("index", Json::object([("value", value), ("type", Json::text(ty))]));
    let steps = path.0.iter().map_while(|s| match s {
        Step::Attr(name) => Some(step("get_attr", Json::String(name.clone()))),
        Step::Index(i) => Some(index(Json::from(*i as u64), "number")),
        Step::Key(key) => Some(index(Json::String(key.clone()), "string")),
        Step::Element(_) => None,
    });
    Json::Array(steps.collect())
}

pub(super) fn read_path(field: Field<'_>) -> Result<Path, FormatError> {
    let steps = field.elements()?.map(|step| {
        let value = step.need("value")?;
        match step.need("type")?.text()? {
            "get_attr" => Ok(Step::Attr(value.text()?.into())),
            "index" => {
                let key = value.need("value")?;
                match value.need("type")?.json().as_str() {
                    Some("number") => Ok(Step::Index(key.number()? as usize)),
                    Some("string") => Ok(Step::Key(key.text()?.into())),
                    _ => Err(value.error("an index of type \"number\" or \"string\" was expected")),
                }
            }
            _ => Err(step.error("a step of type \"get_attr\" or \"index\" was expected")),
        }
    });
    Ok(Path(steps.collect::<Result<_, _>>()?))
}
