//! Texts in other forms: Base64, gzip, character sets, URLs, JSON.

mod charset;

use std::io::Write as _;

use base64::{
    Engine, alphabet,
    engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD},
};
use charset::Charset;
use engine_value::{Refinements, Type, Value, json};
use flate2::{Compression, write::GzEncoder};

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
        name: "base64gzip",
        description: "The UTF-8 bytes of a text, compressed with gzip, in Base64.",
        parameters: &[Parameter::string("str")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| compress(args[0].as_str().unwrap_or_default()),
    },
    Function {
        name: "jsondecode",
        description: "The value that a JSON text stands for.",
        parameters: &[Parameter::string("str").unknown()],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| decode_json(&args[0]),
    },
    Function {
        name: "jsonencode",
        description: "A value as JSON text without spaces.",
        parameters: &[Parameter::any("val").null().unknown()],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| encode_json(&args[0]),
    },
    Function {
        name: "textdecodebase64",
        description: "The text that a Base64 string encodes in the given character encoding.",
        parameters: &[Parameter::string("source"), Parameter::string("encoding")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let charset = charset(&args[1])?;
            let bytes = bytes(args[0].as_str().unwrap_or_default())
                .ok_or_else(|| CallError::argument(0, "the given value has an invalid base64 symbol"))?;
            match charset.decode(&bytes) {
                Some(text) => Ok(Value::string(text)),
                None => {
                    let name = charset.name;
                    let message = format!("the given string contains symbols that are not defined for {name}");
                    Err(CallError::argument(0, message))
                }
            }
        },
    },
    Function {
        name: "textencodebase64",
        description: "A text in the given character encoding, in Base64.",
        parameters: &[Parameter::string("string"), Parameter::string("encoding")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let charset = charset(&args[1])?;
            match charset.encode(args[0].as_str().unwrap_or_default()) {
                Some(bytes) => Ok(Value::string(STANDARD.encode(bytes))),
                None => {
                    let name = charset.name;
                    let message = format!("the given string contains characters that cannot be represented in {name}");
                    Err(CallError::argument(0, message))
                }
            }
        },
    },
    Function {
        name: "urlencode",
        description: "A text escaped for use in the query of a URL.",
        parameters: &[Parameter::string("str")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| Ok(Value::string(url(args[0].as_str().unwrap_or_default()))),
    },
];

/// Bytes in Base64; line ends between its signs do not count.
fn bytes(text: &str) -> Option<Vec<u8>> {
    // What remains of the last byte's bits need not be zero, as Go has it.
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));
    let joined: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    LENIENT.decode(joined).ok()
}

fn decode_base64(text: &str) -> Result<Value, CallError> {
    let bytes = bytes(text).ok_or_else(|| CallError::new(format!("failed to decode base64 data {text:?}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err(CallError::new("the result of decoding the provided string is not valid UTF-8")),
    }
}

fn compress(text: &str) -> Result<Value, CallError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.map(|bytes| Value::string(STANDARD.encode(bytes))).map_err(|error| CallError::new(error.to_string()))
}

fn charset(name: &Value) -> Result<Charset, CallError> {
    let name = name.as_str().unwrap_or_default();
    Charset::find(name).ok_or_else(|| {
        CallError::argument(
            1,
            format!("{name:?} is not the IANA name or alias of a character encoding that is supported"),
        )
    })
}

/// As forms of web pages are sent: a plus sign for a space.
fn url(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn decode_json(value: &Value) -> Result<Value, CallError> {
    let Some(text) = value.as_str() else {
        let prefix = value.as_unknown().and_then(|unknown| unknown.refinements.prefix.as_deref());
        let first = prefix.and_then(|prefix| prefix.trim_start_matches([' ', '\t', '\r', '\n']).chars().next());
        return match first {
            Some(first) if !matches!(first, '{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n') => {
                Err(CallError::argument(0, format!("a JSON document cannot begin with the character {first:?}")))
            }
            _ => Ok(unknown_from(Type::Dynamic, Refinements::default(), std::slice::from_ref(value))),
        };
    };
    json::infer(text).map_err(|error| CallError::new(error.to_string()))
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
