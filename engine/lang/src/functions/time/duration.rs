//! Durations as Go writes them: `1h30m`, `-1.5h`, `300ms`.

/// Nanoseconds.
///
/// # Errors
/// A fragment.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    let invalid = || {
        format!(
            "\"{text}\" is no duration: it is a sequence of numbers with units, such as \"1.5h\", \"2h45m\" or \"300ms\""
        )
    };
    let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let unit: i128 = match &after[..end] {
            "ns" => 1,
            // The sign for a millionth, and the Greek letter.
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "" => {
                return Err(format!(
                    "\"{text}\" has a number without a unit: \"ns\", \"us\", \"ms\", \"s\", \"m\" or \"h\""
                ));
            }
            unit => return Err(format!("\"{text}\" has the unknown unit \"{unit}\"")),
        };
        rest = &after[end..];
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        total = whole.checked_mul(unit).and_then(|more| total.checked_add(more)).ok_or_else(invalid)?;
        // More digits than these are below a nanosecond, whatever the unit is.
        let fraction = &fraction[..fraction.len().min(18)];
        if !fraction.is_empty() {
            let part: i128 = fraction.parse().map_err(|_| invalid())?;
            total += part * unit / 10i128.pow(fraction.len() as u32);
        }
        if total > 1 << 63 {
            return Err(invalid());
        }
    }
    i64::try_from(if is_negative { -total } else { total }).map_err(|_| invalid())
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}
