//! Decimal digits of binary numbers, in the way of Go's big floats, so that every text has Terraform's digits.

use dashu_base::BitTest;
use dashu_int::UBig;

use super::PRECISION;

/// `magnitude * 2^exponent` as a whole number of units of `10^-scale`.
fn decimal(magnitude: UBig, exponent: i64) -> (UBig, usize) {
    let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
    if exponent >= 0 { (magnitude << shift, 0) } else { (magnitude * UBig::from(5u8).pow(shift), shift) }
}

/// The fewest digits that stand for this number among those of [`PRECISION`] bits: `0.digits * 10^point`, without zeros at
/// either end.
pub(super) fn shortest(magnitude: UBig, exponent: i64) -> (String, i64) {
    // The lowest bit of the widened mantissa is half a unit in the last place.
    let widen = PRECISION + 1 - magnitude.bit_len();
    let (wide, exponent) = (magnitude << widen, exponent - widen as i64);
    // An even mantissa is also what a number exactly halfway to its neighbour rounds to.
    let inclusive = !wide.bit(1);
    let (upper, scale) = decimal(&wide + UBig::ONE, exponent);
    let lower = decimal(&wide - UBig::ONE, exponent).0.to_string();
    let value = decimal(wide, exponent).0.to_string();
    let upper = upper.to_string();

    let width = upper.len();
    // Widths of `format!` end at 16 bits.
    let pad = |text: String| ("0".repeat(width - text.len()) + &text).into_bytes();
    let (lower, value, upper) = (pad(lower), pad(value), upper.into_bytes());
    let significant = |digits: &[u8]| digits.iter().rposition(|d| *d != b'0').map_or(0, |at| at + 1);
    let (lower_end, upper_end) = (significant(&lower), significant(&upper));
    let point = width as i64 - scale as i64;

    for (at, digit) in value.iter().enumerate() {
        let down = lower[at] != *digit || inclusive && at + 1 == lower_end;
        let up = upper[at] != *digit && (inclusive || digit + 1 < upper[at] || at + 1 < upper_end);
        match (down, up) {
            (true, true) => return nearest(&value, at + 1, point),
            (true, false) => return trim(value[..=at].to_vec(), point),
            (false, true) => return increment(value[..=at].to_vec(), point),
            (false, false) => {}
        }
    }
    trim(value, point)
}

/// The number rounded to so many digits, half to even.
pub(super) fn rounded(magnitude: UBig, exponent: i64, count: usize) -> (String, i64) {
    let (value, scale) = decimal(magnitude, exponent);
    let value = value.to_string().into_bytes();
    let point = value.len() as i64 - scale as i64;
    nearest(&value, count, point)
}

fn nearest(value: &[u8], count: usize, point: i64) -> (String, i64) {
    if count >= value.len() {
        return trim(value.to_vec(), point);
    }
    let halfway = value[count] == b'5' && value[count + 1..].iter().all(|d| *d == b'0');
    let up = if halfway { count > 0 && (value[count - 1] - b'0') % 2 == 1 } else { value[count] >= b'5' };
    if up { increment(value[..count].to_vec(), point) } else { trim(value[..count].to_vec(), point) }
}

fn increment(mut digits: Vec<u8>, point: i64) -> (String, i64) {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return trim(digits, point);
        }
        *digit = b'0';
    }
    (String::from("1"), point + 1)
}

/// Without zeros at either end.
fn trim(digits: Vec<u8>, point: i64) -> (String, i64) {
    let text: String = digits.into_iter().map(char::from).collect();
    let significant = text.trim_start_matches('0');
    let leading = text.len() - significant.len();
    (significant.trim_end_matches('0').to_owned(), point - leading as i64)
}

/// `0.digits * 10^point` without an exponent.
pub(super) fn plain(digits: &str, point: i64) -> String {
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    match usize::try_from(point) {
        Err(_) | Ok(0) => format!("0.{}{digits}", zeros(-point)),
        Ok(whole) if whole >= digits.len() => format!("{digits}{}", zeros(point - digits.len() as i64)),
        Ok(whole) => format!("{}.{}", &digits[..whole], &digits[whole..]),
    }
}

/// `0.digits * 10^point` as C's `%g` writes it: with an exponent where that is below -4 or not below the precision, which
/// is 6 where the digits are as many as the value needs.
pub(super) fn general(digits: &str, point: i64, precision: Option<usize>) -> String {
    let length = digits.len() as i64;
    let limit = match precision {
        None => 6,
        Some(precision) if precision as i64 > length && length >= point => length,
        Some(precision) => precision as i64,
    };
    if (-3..=limit).contains(&point) {
        return plain(digits, point);
    }
    exponent(digits, point, digits.len() - 1)
}

/// `0.digits * 10^point` with an exponent and so many digits after the point.
pub(super) fn exponent(digits: &str, point: i64, precision: usize) -> String {
    let (first, rest) = digits.split_at(1);
    let dot = if precision == 0 { "" } else { "." };
    let exponent = point - 1;
    let sign = if exponent < 0 { '-' } else { '+' };
    let zeros = "0".repeat(precision.saturating_sub(rest.len()));
    format!("{first}{dot}{rest}{zeros}e{sign}{:02}", exponent.abs())
}

/// The number with so many digits after the point, rounded half to even.
pub(super) fn fixed(magnitude: UBig, exponent: i64, precision: usize) -> String {
    let (value, scale) = decimal(magnitude, exponent);
    let value = value.to_string().into_bytes();
    let point = value.len() as i64 - scale as i64;
    let (digits, point) = match usize::try_from(point + precision as i64) {
        Ok(count) => nearest(&value, count, point),
        Err(_) => (String::new(), 0),
    };
    let text = if digits.is_empty() { "0".to_owned() } else { plain(&digits, point) };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let dot = if precision == 0 { "" } else { "." };
    let zeros = "0".repeat(precision.saturating_sub(fraction.len()));
    format!("{whole}{dot}{fraction}{zeros}")
}
