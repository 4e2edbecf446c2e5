//! Base64 and JSON.

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Refinements, Type, Value, json};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "base64decode",
        description: "The text that a Base64 string encodes. The bytes must be UTF-8.",
        parameters: &[Parameter::string("str")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| decode_base64(args[0].as_str().unwrap_or_default()),
    },
    Function {
        name: "base64encode",
        description: "The UTF-8 bytes of a text in Base64.",
        parameters: &[Parameter::string("str")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| Ok(Value::string(STANDARD.encode(args[0].as_str().unwrap_or_default()))),
    },
    Function {
        name: "jsondecode",
        description: "The value that a JSON text stands for.",
        parameters: &[Parameter::string("str")],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| {
            json::infer(args[0].as_str().unwrap_or_default()).map_err(|error| CallError::new(error.to_string()))
        },
    },
    Function {
        name: "jsonencode",
        description: "A value as JSON text without spaces.",
        parameters: &[Parameter::any("val").null().unknown()],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| encode_json(&args[0]),
    },
];

fn decode_base64(text: &str) -> Result<Value, CallError> {
    // Go's decoder ignores line ends.
    let joined: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes =
        STANDARD.decode(joined).map_err(|_| CallError::new(format!("failed to decode base64 data {text:?}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err(CallError::new("the result of decoding the provided string is not valid UTF-8")),
    }
}

fn encode_json(value: &Value) -> Result<Value, CallError> {
    if value.has_unknown() {
        // How it begins is told by its type already, unless it may turn out to be null.
        let begins = match value.type_of() {
            _ if !value.is_never_null() => "",
            Type::String => "\"",
            Type::Object(_) | Type::Map(_) => "{",
            Type::Tuple(_) | Type::List(_) | Type::Set(_) => "[",
            Type::Bool | Type::Number | Type::Dynamic => "",
        };
        return Ok(unknown_from(Type::String, Refinements::begins_with(begins), std::slice::from_ref(value)));
    }
    json::encode(value).map(Value::string).map_err(|error| CallError::new(error.to_string()))
}
