//! What plain text means: null, a bool, a number, a date, or just that text.

use engine_value::{Number, Type, Value};

use crate::functions::time::Stamp;

/// A kind of scalar, by the name of its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Str,
}

/// The value of plain text, and what kind it is.
///
/// # Errors
/// It looks like a number that there is not.
pub(super) fn resolve(text: &str) -> Result<(Kind, Value), String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok((Kind::Null, Value::null(Type::Dynamic))),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            return Ok((Kind::Bool, Value::bool(true)));
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            return Ok((Kind::Bool, Value::bool(false)));
        }
        ".nan" | ".NaN" | ".NAN" => return Err("floating point NaN is not supported".to_owned()),
        _ => {}
    }
    if let Some(found) = number(text)? {
        return Ok(found);
    }
    if let Some(stamp) = timestamp(text) {
        return Ok((Kind::Timestamp, Value::string(stamp)));
    }
    Ok((Kind::Str, Value::string(text)))
}

fn number(text: &str) -> Result<Option<(Kind, Value)>, String> {
    let (is_negative, unsigned) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let infinity = if is_negative { Number::NEGATIVE_INFINITY } else { Number::INFINITY };
        return Ok(Some((Kind::Float, Value::number(infinity))));
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_digit(radix))
        {
            let number = u64::from_str_radix(digits, radix).map_err(|_| format!("{text:?} is too large a number"))?;
            return Ok(Some((Kind::Int, Value::number(Number::from(number)))));
        }
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    let mut kind = Kind::Int;
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix('.') {
        kind = Kind::Float;
        fraction = digits(after);
        rest = &after[fraction..];
    }
    if whole + fraction == 0 {
        return Ok(None);
    }
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        kind = Kind::Float;
        let after = after.strip_prefix(['-', '+']).unwrap_or(after);
        let exponent = digits(after);
        rest = &after[exponent..];
        if exponent == 0 {
            return Ok(None);
        }
    }
    if !rest.is_empty() {
        return Ok(None);
    }
    // The language wants digits around the point, and no plus sign before them.
    let whole_digits = if whole == 0 { "0" } else { &unsigned[..whole] };
    let fraction_digits = if fraction == 0 { "0" } else { &unsigned[whole + 1..whole + 1 + fraction] };
    let exponent = unsigned.find(['e', 'E']).map_or("", |at| &unsigned[at..]);
    let sign = if is_negative { "-" } else { "" };
    let written = match kind {
        Kind::Int => format!("{sign}{whole_digits}"),
        _ => format!("{sign}{whole_digits}.{fraction_digits}{exponent}"),
    };
    match Number::parse(&written) {
        Some(number) => Ok(Some((kind, Value::number(number)))),
        None => Err(format!("{text:?} is no number")),
    }
}

/// A date, or a date with a time, in RFC 3339 form.
fn timestamp(text: &str) -> Option<String> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_short = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || year.len() != 4 || !is_short(month) || !is_short(day) {
        return None;
    }
    let time = match time {
        None => "00:00:00Z".to_owned(),
        Some((separator, time)) => {
            let end = time.find(['.', 'Z', '+', '-']).unwrap_or(time.len());
            let clock: Vec<&str> = time[..end].split(':').collect();
            let [hour, minute, second] = clock[..] else { return None };
            if ![hour, minute, second].iter().all(|part| is_short(part)) {
                return None;
            }
            // With a space between, there is no offset.
            let zone = match (separator, &time[end..]) {
                (b' ', rest) if rest.contains(['Z', '+', '-']) => return None,
                (b' ', rest) => format!("{rest}Z"),
                (_, rest) => rest.to_owned(),
            };
            format!("{hour:0>2}:{minute:0>2}:{second:0>2}{zone}")
        }
    };
    Stamp::parse(&format!("{year}-{month:0>2}-{day:0>2}T{time}")).ok().map(|stamp| stamp.rfc3339())
}
