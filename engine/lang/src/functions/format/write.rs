//! One verb applied to one argument.

use engine_value::{Number, Type, Value, convert, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::functions::{CallError, format::verb::Verb, string};

/// Writes a known argument.
pub(super) fn verb(verb: &Verb<'_>, arg: &Value, out: &mut String) -> Result<(), CallError> {
    match verb.mode {
        'v' => {
            let text = any(verb, arg)?;
            pad(verb, &text, false, out);
        }
        't' => {
            let value = typed(verb, arg, &Type::Bool)?;
            out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" });
        }
        'b' | 'd' | 'o' | 'x' | 'X' => {
            let Some(text) = integer(verb, arg)? else { return Ok(()) };
            pad(verb, &text, verb.zero && !verb.minus && verb.precision.is_none(), out);
        }
        'e' | 'E' | 'f' | 'g' | 'G' => {
            let value = typed(verb, arg, &Type::Number)?;
            let text = float(verb, &number(&value));
            pad(verb, &text, verb.zero && !verb.minus, out);
        }
        's' | 'q' => {
            let value = typed(verb, arg, &Type::String)?;
            let text = cut(verb, value.as_str().unwrap_or_default());
            let text = if verb.mode == 'q' { quote(&text) } else { text };
            pad(verb, &text, verb.zero && !verb.minus, out);
        }
        other => {
            return Err(CallError::new(format!(
                "unsupported format verb '{other}' in \"{}\" at offset {}",
                verb.text, verb.offset
            )));
        }
    }
    Ok(())
}

fn unsupported(verb: &Verb<'_>, why: &str) -> CallError {
    CallError::new(format!("unsupported value for \"{}\" at {}: {why}", verb.text, verb.offset))
}

fn typed(verb: &Verb<'_>, arg: &Value, ty: &Type) -> Result<Value, CallError> {
    if arg.is_null() {
        return Err(unsupported(verb, "null value cannot be formatted"));
    }
    convert(arg, ty).map_err(|error| unsupported(verb, &error.to_string()))
}

fn number(value: &Value) -> Number {
    value.as_number().cloned().unwrap_or_else(|| Number::from(0))
}

/// As the type suggests; with `#`, and for what has parts, as JSON.
fn any(verb: &Verb<'_>, arg: &Value) -> Result<String, CallError> {
    if !verb.sharp {
        if let Some(text) = arg.as_str() {
            return Ok(cut(verb, text));
        }
        if arg.as_number().is_some() {
            return Ok(float(&Verb { mode: 'g', text: verb.text, ..*verb }, &number(arg)));
        }
    }
    json::encode(arg).map_err(|error| unsupported(verb, &error.to_string()))
}

fn cut(verb: &Verb<'_>, text: &str) -> String {
    match verb.precision {
        // As in Terraform, where nothing at all asks for nothing.
        Some(most) if most > 0 => text.graphemes(true).take(most).collect(),
        _ => text.to_owned(),
    }
}

fn quote(text: &str) -> String {
    json::Json::from(text).to_string()
}

/// The sign that the flags ask for in front of a number that has none.
fn sign(verb: &Verb<'_>, text: String) -> String {
    match text.starts_with(['-', '+']) {
        true => text,
        false if verb.plus => format!("+{text}"),
        false if verb.space => format!(" {text}"),
        false => text,
    }
}

/// Zero with no digits is nothing at all, not even wide.
fn integer(verb: &Verb<'_>, arg: &Value) -> Result<Option<String>, CallError> {
    let value = number(&typed(verb, arg, &Type::Number)?);
    let (radix, prefix) = match verb.mode {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    if verb.precision == Some(0) && value.is_zero() {
        return Ok(None);
    }
    let digits = value.to_radix(radix).ok_or_else(|| unsupported(verb, "an integer is required"))?;
    let digits = if verb.mode == 'X' { digits.to_uppercase() } else { digits };
    let (minus, magnitude) = match digits.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", digits.as_str()),
    };
    let zeros = "0".repeat(verb.precision.unwrap_or(0).saturating_sub(magnitude.len()));
    let prefix = if verb.sharp { prefix } else { "" };
    Ok(Some(sign(verb, format!("{minus}{prefix}{zeros}{magnitude}"))))
}

fn float(verb: &Verb<'_>, number: &Number) -> String {
    let text = match verb.mode {
        'e' | 'E' => number.to_exponent(Some(verb.precision.unwrap_or(6))),
        'f' => number.to_fixed(verb.precision.unwrap_or(6)),
        _ => number.to_general(verb.precision),
    };
    sign(verb, if matches!(verb.mode, 'E' | 'G') { text.to_uppercase() } else { text })
}

/// Widens to the width, which counts grapheme clusters. Zeros go between the sign and the digits.
fn pad(verb: &Verb<'_>, text: &str, zeros: bool, out: &mut String) {
    let missing = verb.width.unwrap_or(0).saturating_sub(string::length(text));
    if verb.minus {
        out.push_str(text);
        out.push_str(&" ".repeat(missing));
    } else if zeros {
        let signed = usize::from(text.starts_with(['-', '+', ' ']) && !matches!(verb.mode, 's' | 'q'));
        out.push_str(&text[..signed]);
        out.push_str(&"0".repeat(missing));
        out.push_str(&text[signed..]);
    } else {
        out.push_str(&" ".repeat(missing));
        out.push_str(text);
    }
}
