//! The three views that plan JSON has of one value: what is known, what is not, what is sensitive.

use crate::{Data, Type, Value, json::Json};

/// What is known of a value: unknown attributes and map elements are left out, unknown elements of sequences are null.
/// `None` if nothing is. With `redact`, sensitive parts are null.
pub fn known_part(value: &Value, redact: bool) -> Option<Json> {
    if redact && value.marks.sensitive {
        return value.is_known().then_some(Json::Null);
    }
    Some(match &value.data {
        Data::Unknown(_) => return None,
        Data::Null(_) => Json::Null,
        Data::Bool(value) => Json::Bool(*value),
        Data::Number(number) if number.is_finite() => Json::Number(number.to_string().into()),
        // No JSON has it, and a plan that would need it is refused before it is written.
        Data::Number(_) => Json::Null,
        Data::String(text) => Json::String(text.as_ref().into()),
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            Json::Array(elements.iter().map(|part| known_part(part, redact).unwrap_or(Json::Null)).collect())
        }
        Data::Map(_, elements) | Data::Object(elements) => Json::Object(
            elements
                .iter()
                .filter_map(|(name, part)| Some((name.as_ref().into(), known_part(part, redact)?)))
                .collect(),
        ),
    })
}

/// What is not known of a value: `true` where it is not. Composite parts are there as placeholders; members that are
/// known scalars are left out, elements of sequences that are known are `false`.
pub fn after_unknown(value: &Value) -> Json {
    flags(value, &|value| (!value.is_known()).then_some(Json::Bool(true)))
}

/// What is sensitive in a value: `true` where it is. Null as a whole is `false`; of an unknown collection nothing can be
/// said, so it is an empty placeholder of its kind.
pub fn sensitive_part(value: &Value) -> Json {
    flags(value, &|value| match &value.data {
        _ if value.marks.sensitive => Some(Json::Bool(true)),
        Data::Unknown(unknown) => match &unknown.ty {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => Some(Json::Array(Vec::new())),
            Type::Map(_) | Type::Object(_) => Some(Json::Object(Vec::new())),
            Type::Dynamic | Type::Bool | Type::Number | Type::String => None,
        },
        _ => None,
    })
}

/// `test` decides for a part as a whole; where it does not, its own parts are asked.
fn flags(value: &Value, test: &impl Fn(&Value) -> Option<Json>) -> Json {
    if let Some(flag) = test(value) {
        return flag;
    }
    match &value.data {
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            Json::Array(elements.iter().map(|part| flags(part, test)).collect())
        }
        Data::Map(_, elements) | Data::Object(elements) => Json::Object(
            elements
                .iter()
                .map(|(name, part)| (name.as_ref().into(), flags(part, test)))
                .filter(|(_, part)| *part != Json::Bool(false))
                .collect(),
        ),
        _ => Json::Bool(false),
    }
}
