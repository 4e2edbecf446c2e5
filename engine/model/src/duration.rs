//! Durations as they are written in configurations and on command lines: `90s`, `1h30m`, `1.5h`, `500ms`.
//!
//! The rules are those of Go's `time.ParseDuration`, which Terraform and Kubernetes follow, but that nothing here can
//! last less than no time.

use std::time::Duration;

/// The units and their nanoseconds. The micro sign has two code points.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// More digits than the longest unit has nanoseconds tell nothing.
const FRACTION_DIGITS: usize = 15;

/// Reads a duration; `None` where the text is none, or is one of more than 292 years, which Go cannot hold either.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (_, nanos) = UNITS.iter().find(|(unit, _)| *unit == &after[..end])?;
        let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
        sum = sum.checked_add(whole.checked_mul(*nanos)?)?.checked_add(part(fraction, *nanos))?;
        rest = &after[end..];
    }
    i64::try_from(sum).is_ok().then(|| Duration::from_nanos(sum))
}

/// The digits that a text begins with, and what comes after them.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// So much of a unit: its tenths, hundredths and so on, cut off at whole nanoseconds.
fn part(fraction: &str, nanos: u64) -> u64 {
    let (mut sum, mut scale) = (0_u128, 1_u128);
    for digit in fraction.bytes().take(FRACTION_DIGITS) {
        sum = sum * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    u64::try_from(sum * u128::from(nanos) / scale).expect("a part of a unit is less than the unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_gos() {
        const SECOND: u64 = 1_000_000_000;
        for (text, nanos) in [
            ("0", Some(0)),
            ("+0", Some(0)),
            ("0s", Some(0)),
            ("10s", Some(10 * SECOND)),
            ("+10s", Some(10 * SECOND)),
            ("1h2m3s", Some(3723 * SECOND)),
            ("30m1h", Some(5400 * SECOND)),
            ("1.5h", Some(5400 * SECOND)),
            ("1.5m", Some(90 * SECOND)),
            (".5s", Some(SECOND / 2)),
            ("1.s", Some(SECOND)),
            ("500ms", Some(SECOND / 2)),
            ("1s250ms", Some(SECOND + SECOND / 4)),
            ("7us", Some(7_000)),
            ("7\u{b5}s", Some(7_000)),
            ("7\u{3bc}s", Some(7_000)),
            ("7ns", Some(7)),
            ("0.9ns", Some(0)),
            ("0.3333333333333333333h", Some(1_199_999_999_999)),
            ("9223372036854775807ns", Some(i64::MAX as u64)),
            ("9223372036854775808ns", None),
            ("99999999999999999999s", None),
            ("2562048h", None),
            ("", None),
            ("+", None),
            ("5", None),
            ("00", None),
            ("m", None),
            (".s", None),
            ("x", None),
            ("10 m", None),
            ("1d", None),
            ("1hm", None),
            ("1h30", None),
            ("1..5s", None),
            ("-1s", None),
            ("1h-1m", None),
        ] {
            assert_eq!(parse(text), nanos.map(Duration::from_nanos), "{text:?}");
        }
    }
}
