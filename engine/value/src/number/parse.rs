//! Text to numbers.

use dashu_base::{BitTest, Sign};
use dashu_int::{IBig, UBig};

use super::{Number, PRECISION, Repr, canonical, quotient, round};

impl Number {
    /// Reads a number as `tonumber` does: an optional sign, decimal digits with an optional point, an optional decimal
    /// (`e`) or binary (`p`) exponent; or `inf`. No spaces, no underscores, no other base.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = match text.as_bytes().first()? {
            b'-' => (Sign::Negative, &text[1..]),
            b'+' => (Sign::Positive, &text[1..]),
            _ => (Sign::Positive, text),
        };
        if rest == "inf" || rest == "Inf" {
            return Some(Self(Repr::Infinite(sign)));
        }
        let (mantissa, exponent) = match rest.find(['e', 'E', 'p', 'P']) {
            Some(at) => (&rest[..at], Some((rest.as_bytes()[at], parse_exponent(&rest[at + 1..])?))),
            None => (rest, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return None;
        }
        if exponent.is_none() && fraction.is_empty() && whole.len() < 19 {
            let int: i64 = whole.parse().ok()?;
            return Some(match (sign, int) {
                (Sign::Negative, 0) => Self(Repr::NegativeZero),
                (Sign::Negative, _) => Self::from(-int),
                (Sign::Positive, _) => Self::from(int),
            });
        }
        let digits = UBig::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
        let scale = fraction.len() as i64;
        Some(match exponent {
            Some((b'e' | b'E', e)) => scaled(sign, digits, e.saturating_sub(scale), 0),
            Some((_, e)) => scaled(sign, digits, -scale, e),
            None => scaled(sign, digits, -scale, 0),
        })
    }

    /// The number that the shortest text of a float stands for; `None` for "not a number".
    pub fn from_f64(float: f64) -> Option<Self> {
        if float.is_nan() {
            return None;
        }
        if float.is_infinite() {
            return Some(if float > 0.0 { Self::INFINITY } else { Self::NEGATIVE_INFINITY });
        }
        Self::parse(&format!("{float:e}"))
    }
}

/// An exponent, clamped: beyond nine digits the result is infinite or zero anyway.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let magnitude: i64 = digits.parse().unwrap_or(i64::MAX).min(1 << 40);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// `digits * 10^tens * 2^twos`.
fn scaled(sign: Sign, digits: UBig, tens: i64, twos: i64) -> Number {
    // Beyond this no number of digits that fits in memory brings the result back into range.
    const LIMIT: i64 = 1 << 36;
    // Up to here the power of ten is computed exactly; 5^20000 has 46 439 bits.
    const EXACT: u64 = 20_000;
    if digits.is_zero() {
        return canonical(sign, UBig::ZERO, 0);
    }
    if tens > LIMIT || twos > LIMIT {
        return Number(Repr::Infinite(sign));
    }
    if tens < -LIMIT || twos < -LIMIT {
        return canonical(sign, UBig::ZERO, 0);
    }
    let digits = IBig::from_parts(sign, digits);
    let (power, power_exponent) = if tens.unsigned_abs() <= EXACT {
        (UBig::from(5u8).pow(tens.unsigned_abs() as usize), 0)
    } else {
        power_of_five(tens.unsigned_abs())
    };
    if tens >= 0 {
        round(digits * IBig::from(power), tens + twos + power_exponent, false)
    } else {
        quotient(digits, power, tens + twos - power_exponent)
    }
}

/// `5^power` as mantissa and binary exponent, to more bits than a rounding to [`PRECISION`] can see.
fn power_of_five(mut power: u64) -> (UBig, i64) {
    // Every squaring doubles the relative error; 36 of them (the limit on powers) cost 36 of these 128 spare bits.
    const WORKING: usize = PRECISION + 128;
    fn trim(mantissa: UBig, exponent: i64) -> (UBig, i64) {
        let excess = mantissa.bit_len().saturating_sub(WORKING);
        (mantissa >> excess, exponent + excess as i64)
    }
    let (mut result, mut exponent) = (UBig::ONE, 0i64);
    let (mut base, mut base_exponent) = (UBig::from(5u8), 0i64);
    while power > 0 {
        if power & 1 == 1 {
            (result, exponent) = trim(result * &base, exponent + base_exponent);
        }
        (base, base_exponent) = trim(&base * &base, base_exponent * 2);
        power >>= 1;
    }
    (result, exponent)
}
