//! What nobody can guess, and names for what must be told apart.

use engine_value::{Refinements, Type, Value};
use sha1::{Digest, Sha1};

use crate::functions::{CallError, Function, Outside, Parameter, call::unknown_from};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "bcrypt",
        description: "A salted bcrypt hash of a text, as password files have it. Every call gives another one.",
        parameters: &[Parameter::string("str")],
        variadic: Some(
            Parameter::number("cost").described("How much work it is, from 4 to 31; 10 if it is not given."),
        ),
        returns: |_| Ok(Type::String),
        run: bcrypt,
    },
    Function {
        name: "uuid",
        description: "A new random identifier. A plan does not know it.",
        parameters: &[],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |_, outside| {
            let Some(host) = &outside.surroundings.host else { return Ok(later()) };
            let mut bytes = [0; 16];
            host.random(&mut bytes);
            Ok(Value::string(uuid_text(bytes, 4)))
        },
    },
    Function {
        name: "uuidv5",
        description: "The identifier, of version 5, that belongs to a name in a namespace.",
        parameters: &[Parameter::string("namespace"), Parameter::string("name")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let namespace = args[0].as_str().unwrap_or_default();
            let Some(namespace) = namespace_of(namespace) else {
                let message =
                    "uuidv5() doesn't support namespace: it must be \"dns\", \"url\", \"oid\", \"x500\" or a UUID";
                return Err(CallError::argument(0, message));
            };
            let mut hash = Sha1::new();
            hash.update(namespace);
            hash.update(args[1].as_str().unwrap_or_default());
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&hash.finalize()[..16]);
            Ok(Value::string(uuid_text(bytes, 5)))
        },
    },
];

/// What a plan has in the place of what only apply can tell.
pub(super) fn later() -> Value {
    unknown_from(Type::String, Refinements::not_null(), &[])
}

/// The most bytes that the cipher takes.
const LONGEST: usize = 72;

fn bcrypt(args: &[Value], outside: &Outside<'_>) -> Result<Value, CallError> {
    const DEFAULT: u32 = 10;
    let Some(host) = &outside.surroundings.host else { return Ok(later()) };
    let cost = match args.get(1) {
        None => DEFAULT,
        Some(cost) => {
            let cost = cost.as_i64().ok_or_else(|| CallError::argument(1, "a whole number is required"))?;
            // As in Go, what is below the least is no cost at all.
            if cost < 4 { DEFAULT } else { u32::try_from(cost).unwrap_or(u32::MAX) }
        }
    };
    if args.len() > 2 {
        return Err(CallError::new("bcrypt() takes no more than two arguments"));
    }
    if cost > 31 {
        return Err(CallError::argument(1, format!("the cost must be between 4 and 31, not {cost}")));
    }
    let text = args[0].as_str().unwrap_or_default();
    if text.len() > LONGEST {
        return Err(CallError::argument(0, format!("the text must not be longer than {LONGEST} bytes")));
    }
    let mut salt = [0; 16];
    host.random(&mut salt);
    match bcrypt::hash_with_salt(text, cost, salt) {
        Ok(parts) => Ok(Value::string(parts.format_for_version(bcrypt::Version::TwoA))),
        Err(error) => Err(CallError::new(format!("error occurred generating password {error}"))),
    }
}

/// With the bits that say which kind of identifier it is.
fn uuid_text(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

/// The namespaces of RFC 4122 by name, or one that is written out.
fn namespace_of(text: &str) -> Option<[u8; 16]> {
    let known =
        |which: u8| [0x6b, 0xa7, 0xb8, which, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];
    match text {
        "dns" => return Some(known(0x10)),
        "url" => return Some(known(0x11)),
        "oid" => return Some(known(0x12)),
        "x500" => return Some(known(0x14)),
        _ => {}
    }
    const URN: &str = "urn:uuid:";
    let digits = match text.len() {
        45 if text.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(URN)) => dashed(text.get(9..)?)?,
        38 => dashed(text.get(1..37)?)?,
        36 => dashed(text)?,
        32 => text.to_owned(),
        _ => return None,
    };
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let digits = digits.get(at * 2..at * 2 + 2).filter(|digits| !digits.starts_with('+'))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

/// The digits of an identifier whose dashes are where they belong.
fn dashed(text: &str) -> Option<String> {
    let are_right = [8, 13, 18, 23].iter().all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    (are_right && digits.len() == 32).then_some(digits)
}
