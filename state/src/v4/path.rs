//! Paths as the file spells them.

use engine_value::{Path, Step, json::Json};

use super::{FormatError, field::Field, number, object, text};

/// A path, up to the first set: Terraform names no elements of sets.
pub(super) fn write_path(path: &Path) -> Json {
    let step = |kind: &str, value: Json| object([("type", text(kind)), ("value", value)]);
    let index = |value: Json, ty: &str| step("index", object([("value", value), ("type", text(ty))]));
    let steps = path.0.iter().map_while(|s| match s {
        Step::Attr(name) => Some(step("get_attr", text(name))),
        Step::Index(i) => Some(index(number(*i as u64), "number")),
        Step::Key(key) => Some(index(text(key), "string")),
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
