//! JSON to values: of a type, or of the type that the text implies.

use std::{fmt, sync::Arc};

use crate::{
    Number, Path, Step, Type, Value,
    json::{Json, read, type_from_tree},
};

/// JSON that is not a value of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where in the value.
    pub path: Path,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for DecodeError {}

fn fail<T>(message: impl Into<String>) -> Result<T, DecodeError> {
    Err(DecodeError { path: Path::root(), message: message.into() })
}

fn under(mut error: DecodeError, step: Step) -> DecodeError {
    error.path.0.insert(0, step);
    error
}

/// Reads a value of a type, as [`encode_typed`](crate::json::encode_typed) writes it.
///
/// # Errors
/// Text that is not JSON, or not of the type.
pub fn decode(text: &str, ty: &Type) -> Result<Value, DecodeError> {
    match read(text) {
        Ok(tree) => from_tree(&tree, ty),
        Err(error) => fail(error.to_string()),
    }
}

/// Reads a value of the type that the text implies: arrays are tuples, objects are objects.
///
/// # Errors
/// Text that is not JSON.
pub fn infer(text: &str) -> Result<Value, DecodeError> {
    match read(text) {
        Ok(tree) => Ok(infer_tree(&tree)),
        Err(error) => fail(error.to_string()),
    }
}

/// The value that a tree implies. A name that is there twice counts once, the last.
pub fn infer_tree(tree: &Json) -> Value {
    match tree {
        Json::Null => Value::null(Type::Dynamic),
        Json::Bool(value) => Value::bool(*value),
        Json::Number(digits) => {
            Value::number(Number::parse(digits).expect("every JSON number is a number of the language"))
        }
        Json::String(text) => Value::string(text),
        Json::Array(elements) => Value::tuple(elements.iter().map(infer_tree)),
        Json::Object(members) => Value::object(members.iter().map(|(name, value)| (name, infer_tree(value)))),
    }
}

/// The value of a type that a tree stands for. Absent attributes are null; unknown ones are an error.
///
/// # Errors
/// A part that is not of the type.
pub fn from_tree(tree: &Json, ty: &Type) -> Result<Value, DecodeError> {
    match (tree, ty) {
        (_, Type::Dynamic) => wrapped(tree),
        (Json::Null, _) => Ok(Value::null(ty.clone())),
        (Json::Bool(value), Type::Bool) => Ok(Value::bool(*value)),
        (Json::String(text), Type::Bool) if matches!(&**text, "true" | "false") => Ok(Value::bool(&**text == "true")),
        (Json::Number(digits) | Json::String(digits), Type::Number) => match Number::parse(digits) {
            Some(number) => Ok(Value::number(number)),
            None => fail("a number is required"),
        },
        (Json::String(text), Type::String) => Ok(Value::string(text)),
        (Json::Number(digits), Type::String) => Ok(Value::string(digits)),
        (Json::Bool(value), Type::String) => Ok(Value::string(value.to_string())),
        (Json::Array(elements), Type::List(element)) => {
            Ok(Value::list(element.as_ref().clone(), sequence(elements.iter().map(|e| (e, &**element)))?))
        }
        (Json::Array(elements), Type::Set(element)) => {
            Ok(Value::set(element.as_ref().clone(), sequence(elements.iter().map(|e| (e, &**element)))?))
        }
        (Json::Array(elements), Type::Tuple(types)) => {
            if elements.len() != types.len() {
                return fail(format!("a tuple of {} elements is required, not {}", types.len(), elements.len()));
            }
            Ok(Value::tuple(sequence(elements.iter().zip(types.iter()))?))
        }
        (Json::Object(members), Type::Map(element)) => {
            let mut decoded = Vec::with_capacity(members.len());
            for (key, value) in members {
                let value =
                    from_tree(value, element).map_err(|error| under(error, Step::Key(Arc::from(key.as_ref()))))?;
                decoded.push((key, value));
            }
            Ok(Value::map(element.as_ref().clone(), decoded))
        }
        (Json::Object(members), Type::Object(attributes)) => {
            let mut decoded: Vec<(&str, Value)> =
                attributes.iter().map(|(name, attr)| (name.as_ref(), Value::null(attr.ty.clone()))).collect();
            for (name, value) in members {
                let Some(attr) = attributes.get(name.as_ref()) else {
                    return fail(format!("unsupported attribute \"{name}\""));
                };
                let value =
                    from_tree(value, &attr.ty).map_err(|error| under(error, Step::Attr(Arc::from(name.as_ref()))))?;
                decoded.push((name, value));
            }
            Ok(Value::object(decoded))
        }
        (_, ty) => fail(format!("{} required", ty.friendly_constraint())),
    }
}

/// `{"value": …, "type": …}`.
fn wrapped(tree: &Json) -> Result<Value, DecodeError> {
    if *tree == Json::Null {
        return Ok(Value::null(Type::Dynamic));
    }
    let (Some(value), Some(ty)) = (tree.get("value"), tree.get("type")) else {
        return fail("a value of any type needs its type beside it");
    };
    match type_from_tree(ty) {
        Some(ty) => from_tree(value, &ty),
        None => fail(format!("{ty} is not a type")),
    }
}

fn sequence<'a>(elements: impl Iterator<Item = (&'a Json, &'a Type)>) -> Result<Vec<Value>, DecodeError> {
    elements
        .enumerate()
        .map(|(index, (value, ty))| from_tree(value, ty).map_err(|error| under(error, Step::Index(index))))
        .collect()
}
