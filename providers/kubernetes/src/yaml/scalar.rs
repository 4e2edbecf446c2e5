//! What a scalar without quotes means: YAML 1.1 as the library reads it that Kubernetes uses. Numbers are Go's literals,
//! sexagesimal numbers and dates stay text.

use serde_json::{Number, Value as Json};

/// The value of a scalar without quotes and tag. `None`: a number that JSON cannot hold.
pub(super) fn resolve(text: &str) -> Option<Json> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Json::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Json::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => return None,
        _ => {
            return number(text).map_or_else(|| Some(Json::String(text.to_owned())), |number| number.map(Json::Number));
        }
    })
}

/// `None`: it is no number. `Some(None)`: one that JSON cannot hold.
fn number(text: &str) -> Option<Option<Number>> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    let plain: String = if text.starts_with('.') { text.to_owned() } else { text.replace('_', "") };
    if let Some(number) = integer(&plain) {
        return Some(number);
    }
    if !is_float(&plain) {
        return None;
    }
    Some(plain.parse::<f64>().ok().and_then(Number::from_f64))
}

/// An integer with Go's prefixes: `0x1f`, `0o17`, `017`, `0b11`. One beyond 64 bits becomes the nearest float.
fn integer(plain: &str) -> Option<Option<Number>> {
    let (negative, digits) = match plain.strip_prefix(['+', '-']) {
        Some(digits) => (plain.starts_with('-'), digits),
        None => (false, plain),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.split_at_checked(2) {
        Some(("0x", rest)) => (16, rest),
        Some(("0o", rest)) => (8, rest),
        Some(("0b", rest)) => (2, rest),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, &*lower),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let Ok(size) = u64::from_str_radix(digits, radix) else {
        let size = digits
            .chars()
            .filter_map(|c| c.to_digit(radix))
            .fold(0.0, |sum, digit| f64::from(radix).mul_add(sum, f64::from(digit)));
        return Some(Number::from_f64(if negative { -size } else { size }));
    };
    if !negative {
        return Some(Some(size.into()));
    }
    let signed = i64::try_from(-i128::from(size)).map(Number::from);
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is meant")]
    Some(signed.ok().or_else(|| Number::from_f64(-(size as f64))))
}

/// `1.`, `.5`, `1e9`, with a sign.
fn is_float(plain: &str) -> bool {
    let rest = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let is_exponent = |text: &str| {
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        !text.is_empty() && digits(text)
    };
    is_mantissa && exponent.is_none_or(is_exponent)
}
