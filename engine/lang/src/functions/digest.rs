//! Digests of texts and of files.

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Type, Value};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::functions::{CallError, Function, Outside, Parameter, Run, filesystem};

pub(super) const FUNCTIONS: &[Function] = &[
    of_text("md5", "The MD5 digest of a text's UTF-8 bytes in hexadecimal digits.", |args, _| text(hex::<Md5>, args)),
    of_text("sha1", "The SHA-1 digest of a text's UTF-8 bytes in hexadecimal digits.", |args, _| {
        text(hex::<Sha1>, args)
    }),
    of_text("sha256", "The SHA-256 digest of a text's UTF-8 bytes in hexadecimal digits.", |args, _| {
        text(hex::<Sha256>, args)
    }),
    of_text("sha512", "The SHA-512 digest of a text's UTF-8 bytes in hexadecimal digits.", |args, _| {
        text(hex::<Sha512>, args)
    }),
    of_text("base64sha256", "The SHA-256 digest of a text's UTF-8 bytes in Base64.", |args, _| {
        text(base64::<Sha256>, args)
    }),
    of_text("base64sha512", "The SHA-512 digest of a text's UTF-8 bytes in Base64.", |args, _| {
        text(base64::<Sha512>, args)
    }),
    of_file("filemd5", "The MD5 digest of a file's content in hexadecimal digits.", |args, outside| {
        file(hex::<Md5>, args, outside)
    }),
    of_file("filesha1", "The SHA-1 digest of a file's content in hexadecimal digits.", |args, outside| {
        file(hex::<Sha1>, args, outside)
    }),
    of_file("filesha256", "The SHA-256 digest of a file's content in hexadecimal digits.", |args, outside| {
        file(hex::<Sha256>, args, outside)
    }),
    of_file("filesha512", "The SHA-512 digest of a file's content in hexadecimal digits.", |args, outside| {
        file(hex::<Sha512>, args, outside)
    }),
    of_file("filebase64sha256", "The SHA-256 digest of a file's content in Base64.", |args, outside| {
        file(base64::<Sha256>, args, outside)
    }),
    of_file("filebase64sha512", "The SHA-512 digest of a file's content in Base64.", |args, outside| {
        file(base64::<Sha512>, args, outside)
    }),
];

const fn of_text(name: &'static str, description: &'static str, run: Run) -> Function {
    const STR: &[Parameter] = &[Parameter::string("str")];
    Function { name, description, parameters: STR, variadic: None, returns: |_| Ok(Type::String), run }
}

const fn of_file(name: &'static str, description: &'static str, run: Run) -> Function {
    const PATH: &[Parameter] = &[Parameter::string("path")];
    Function { name, description, parameters: PATH, variadic: None, returns: |_| Ok(Type::String), run }
}

fn text(digest: fn(&[u8]) -> String, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::string(digest(args[0].as_str().unwrap_or_default().as_bytes())))
}

fn file(digest: fn(&[u8]) -> String, args: &[Value], outside: &Outside<'_>) -> Result<Value, CallError> {
    let bytes = filesystem::read(args[0].as_str().unwrap_or_default(), outside)?;
    Ok(Value::string(digest(&bytes)))
}

fn hex<D: Digest>(bytes: &[u8]) -> String {
    D::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64<D: Digest>(bytes: &[u8]) -> String {
    STANDARD.encode(D::digest(bytes))
}
