//! Functions that read files, and functions of their names.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Type, Value};

use crate::{
    eval::Files,
    functions::{CallError, Function, Parameter},
};

const PATH: Parameter = Parameter::string("path");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "file",
        description: "The content of a file as text. It must be UTF-8.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| read_text(args[0].as_str().unwrap_or_default(), outside.files),
    },
    Function {
        name: "filebase64",
        description: "The content of a file in Base64, whatever the bytes are.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| {
            let bytes = read(args[0].as_str().unwrap_or_default(), outside.files)?;
            Ok(Value::string(STANDARD.encode(bytes)))
        },
    },
    Function {
        name: "fileexists",
        description: "Is there a file at a path?",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, outside| {
            let path = args[0].as_str().unwrap_or_default();
            outside.files.exists(path).map(Value::bool).map_err(|why| CallError::new(format!("\"{path}\" {why}")))
        },
    },
    Function {
        name: "basename",
        description: "The last part of a path: what comes after the last slash.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| Ok(Value::string(base_name(args[0].as_str().unwrap_or_default()))),
    },
    Function {
        name: "dirname",
        description: "A path without its last part.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| Ok(Value::string(folder_name(args[0].as_str().unwrap_or_default()))),
    },
];

fn read(path: &str, files: &dyn Files) -> Result<Arc<[u8]>, CallError> {
    if !files.exists(path).map_err(|why| CallError::argument(0, format!("\"{path}\" {why}")))? {
        return Err(CallError::argument(
            0,
            format!(
                "no file exists at \"{path}\"; this function works only with files that are distributed as part of the \
                 configuration source code, so if this file will be created by a resource in this configuration you must \
                 instead obtain this result from an attribute of that resource"
            ),
        ));
    }
    files.read(path).map_err(|why| CallError::argument(0, format!("failed to read \"{path}\": {why}")))
}

fn read_text(path: &str, files: &dyn Files) -> Result<Value, CallError> {
    let bytes = read(path, files)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Value::string(text)),
        Err(_) => Err(CallError::argument(
            0,
            format!(
                "contents of \"{path}\" are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded \
                 contents"
            ),
        )),
    }
}

fn base_name(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return "/";
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// All but the last part, without `.` and `..` where they can be resolved.
fn folder_name(path: &str) -> String {
    let folder = match path.rfind('/') {
        Some(at) => &path[..=at],
        None => "",
    };
    let is_absolute = folder.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}
