//! Functions that read files, and functions of their names.

mod glob;

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Type, Value};

use crate::functions::{CallError, Function, Outside, Parameter};

const PATH: Parameter = Parameter::string("path");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "file",
        description: "The content of a file as text. It must be UTF-8.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| read_text(args[0].as_str().unwrap_or_default(), outside).map(Value::string),
    },
    Function {
        name: "filebase64",
        description: "The content of a file in Base64, whatever the bytes are.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| {
            let bytes = read(args[0].as_str().unwrap_or_default(), outside)?;
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
            let found = outside.files.exists(&located(path, outside)?);
            found.map(Value::bool).map_err(|why| CallError::argument(0, format!("\"{path}\" {why}")))
        },
    },
    Function {
        name: "fileset",
        description: "The files under a directory whose paths match a pattern, relative to the directory.",
        parameters: &[PATH, Parameter::string("pattern")],
        variadic: None,
        returns: |_| Ok(Type::set(Type::String)),
        run: |args, outside| {
            let (path, pattern) = (args[0].as_str().unwrap_or_default(), args[1].as_str().unwrap_or_default());
            glob::files(&expanded(path, outside)?, pattern, outside.files)
        },
    },
    Function {
        name: "abspath",
        description: "The absolute form of a path, seen from the working directory, with `.` and `..` resolved.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| Ok(absolute(args[0].as_str().unwrap_or_default(), outside)),
    },
    Function {
        name: "pathexpand",
        description: "A path with a `~` at its beginning replaced by the home directory.",
        parameters: &[PATH],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, outside| expanded(args[0].as_str().unwrap_or_default(), outside).map(Value::string),
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

/// The content of a file.
pub(super) fn read(path: &str, outside: &Outside<'_>) -> Result<Arc<[u8]>, CallError> {
    let (shown, path) = (path, located(path, outside)?);
    let files = outside.files;
    if !files.exists(&path).map_err(|why| CallError::argument(0, format!("\"{shown}\" {why}")))? {
        return Err(CallError::argument(
            0,
            format!(
                "no file exists at \"{shown}\"; this function works only with files that are distributed as part of the \
                 configuration source code, so if this file will be created by a resource in this configuration you must \
                 instead obtain this result from an attribute of that resource"
            ),
        ));
    }
    files.read(&path).map_err(|why| CallError::argument(0, format!("failed to read \"{shown}\": {why}")))
}

/// The content of a file that must be text.
pub(super) fn read_text(path: &str, outside: &Outside<'_>) -> Result<String, CallError> {
    let bytes = read(path, outside)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| {
        CallError::argument(
            0,
            format!(
                "contents of \"{path}\" are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded \
                 contents, or one such as filesha256 for a digest of them"
            ),
        )
    })
}

/// Where a path leads: `~` is the home directory, and `.` and `..` are resolved.
fn located(path: &str, outside: &Outside<'_>) -> Result<String, CallError> {
    Ok(clean(&expanded(path, outside)?))
}

/// With the home directory in the place of `~`.
fn expanded(path: &str, outside: &Outside<'_>) -> Result<String, CallError> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(path.to_owned()) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(CallError::argument(0, "the home directory of another user cannot be found: write its path"));
    }
    match &outside.surroundings.home {
        Some(home) => Ok(clean(&format!("{home}/{rest}"))),
        None => Err(CallError::argument(0, "it is not known where the home directory is")),
    }
}

fn absolute(path: &str, outside: &Outside<'_>) -> Value {
    Value::string(match path.starts_with('/') {
        true => clean(path),
        false => clean(&format!("{}/{path}", outside.surroundings.directory)),
    })
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

/// All but the last part.
fn folder_name(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

/// The shortest path to the same place, as far as names tell: without `.`, and `..` where they can be resolved.
pub(super) fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
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
