//! Numbers: 512-bit binary floating point as Terraform has it, with a fast path for integers.
//!
//! Every result is the exact one rounded once, half to even, to 512 bits. Infinity exists, because `1 / 0` is one; "not a
//! number" does not: operations that would make it return `None`.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use dashu_base::{BitTest, DivRem, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::digits;

/// The precision of every number that is not an `i64`, in bits: what HCL asks of its big floats.
pub(crate) const PRECISION: usize = 512;

/// The magnitude above which a number is infinite and below which it is zero, as a power of two: the exponent of Go's big
/// floats has 32 bits.
const MAX_EXPONENT: i64 = i32::MAX as i64;

/// A number. Equality, order and hash are by value: `-0` equals `0`.
#[derive(Clone)]
pub struct Number(Repr);

// Invariant: one representation per value (but for the two zeroes). `Big` is never an `i64`.
#[derive(Clone)]
enum Repr {
    Int(i64),
    NegativeZero,
    Big(Arc<Big>),
    Infinite(Sign),
}

/// `mantissa * 2^exponent`. Invariant: the mantissa is odd and has at most [`PRECISION`] bits.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Big {
    mantissa: IBig,
    exponent: i64,
}

impl Big {
    /// The power of two of the first bit above the number.
    fn top(&self) -> i64 {
        self.exponent + self.mantissa.bit_len() as i64
    }
}

/// `mantissa * 2^exponent`, plus a little more in the same direction if `inexact`, rounded once.
fn round(mantissa: IBig, exponent: i64, inexact: bool) -> Number {
    let (sign, mut magnitude) = mantissa.into_parts();
    let mut exponent = exponent;
    let bits = magnitude.bit_len();
    if bits > PRECISION {
        let excess = bits - PRECISION;
        let kept = &magnitude >> excess;
        let rest = &magnitude - (&kept << excess);
        let half = UBig::ONE << (excess - 1);
        let up = match rest.cmp(&half) {
            Ordering::Greater => true,
            Ordering::Equal => inexact || kept.bit(0),
            Ordering::Less => false,
        };
        magnitude = if up { kept + UBig::ONE } else { kept };
        exponent += excess as i64;
    }
    canonical(sign, magnitude, exponent)
}

fn canonical(sign: Sign, mut magnitude: UBig, mut exponent: i64) -> Number {
    let Some(zeros) = magnitude.trailing_zeros() else {
        return if sign == Sign::Negative { Number(Repr::NegativeZero) } else { Number::from(0) };
    };
    magnitude >>= zeros;
    exponent += zeros as i64;
    let top = exponent + magnitude.bit_len() as i64;
    if top > MAX_EXPONENT {
        return Number(Repr::Infinite(sign));
    }
    if top < -MAX_EXPONENT {
        return canonical(sign, UBig::ZERO, 0);
    }
    if exponent >= 0 && top <= 64 {
        let whole = IBig::from_parts(sign, &magnitude << exponent as usize);
        if let Ok(int) = i64::try_from(&whole) {
            return Number::from(int);
        }
    }
    Number(Repr::Big(Arc::new(Big { mantissa: IBig::from_parts(sign, magnitude), exponent })))
}

/// `numerator * 2^exponent / denominator`.
fn quotient(numerator: IBig, denominator: UBig, exponent: i64) -> Number {
    // Two bits more than the result keeps: one to round by, one that says whether anything is left behind it.
    let wanted = PRECISION + 2 + denominator.bit_len();
    let shift = wanted.saturating_sub(numerator.bit_len());
    let (sign, magnitude) = numerator.into_parts();
    let (whole, rest) = (magnitude << shift).div_rem(denominator);
    round(IBig::from_parts(sign, whole), exponent - shift as i64, !rest.is_zero())
}

impl Number {
    /// Positive infinity.
    pub const INFINITY: Self = Self(Repr::Infinite(Sign::Positive));
    /// Negative infinity.
    pub const NEGATIVE_INFINITY: Self = Self(Repr::Infinite(Sign::Negative));

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

    /// The number, if it is a whole number that fits.
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Int(int) => Some(int),
            Repr::NegativeZero => Some(0),
            Repr::Big(_) | Repr::Infinite(_) => None,
        }
    }

    /// The number, if it is a whole number that fits.
    pub fn to_usize(&self) -> Option<usize> {
        self.to_i64().and_then(|int| usize::try_from(int).ok())
    }

    /// The nearest float.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Repr::Int(int) => *int as f64,
            Repr::NegativeZero => -0.0,
            Repr::Infinite(sign) => f64::INFINITY * if *sign == Sign::Negative { -1.0 } else { 1.0 },
            // Correctly rounded for any number of digits.
            Repr::Big(_) => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// Neither infinity.
    pub fn is_finite(&self) -> bool {
        !matches!(self.0, Repr::Infinite(_))
    }

    /// Without a fraction. Infinities are not.
    pub fn is_whole(&self) -> bool {
        match &self.0 {
            Repr::Int(_) | Repr::NegativeZero => true,
            Repr::Big(big) => big.exponent >= 0,
            Repr::Infinite(_) => false,
        }
    }

    /// Zero of either sign.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Int(0) | Repr::NegativeZero)
    }

    /// Below zero or `-0`.
    pub fn is_negative(&self) -> bool {
        self.sign() == Sign::Negative
    }

    fn sign(&self) -> Sign {
        match &self.0 {
            Repr::Int(int) if *int < 0 => Sign::Negative,
            Repr::Int(_) => Sign::Positive,
            Repr::NegativeZero => Sign::Negative,
            Repr::Big(big) => big.mantissa.sign(),
            Repr::Infinite(sign) => *sign,
        }
    }

    /// Mantissa and exponent; `None` for an infinity.
    fn parts(&self) -> Option<Big> {
        match &self.0 {
            Repr::Int(int) => Some(Big { mantissa: IBig::from(*int), exponent: 0 }),
            Repr::NegativeZero => Some(Big { mantissa: IBig::ZERO, exponent: 0 }),
            Repr::Big(big) => Some(big.as_ref().clone()),
            Repr::Infinite(_) => None,
        }
    }

    /// `self + other`; `None` for infinities of different sign.
    pub fn add(&self, other: &Self) -> Option<Self> {
        if let (Repr::Int(a), Repr::Int(b)) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Some(Self::from(sum));
        }
        let (a, b) = match (self.parts(), other.parts()) {
            (Some(a), Some(b)) => (a, b),
            (None, Some(_)) => return Some(self.clone()),
            (Some(_), None) => return Some(other.clone()),
            (None, None) => return (self.sign() == other.sign()).then(|| self.clone()),
        };
        if a.mantissa.is_zero() && b.mantissa.is_zero() {
            let both = self.is_negative() && other.is_negative();
            return Some(if both { Self(Repr::NegativeZero) } else { Self::from(0) });
        }
        if a.mantissa.is_zero() {
            return Some(other.clone());
        }
        if b.mantissa.is_zero() {
            return Some(self.clone());
        }
        let (high, low) = if a.top() >= b.top() { (a, b) } else { (b, a) };
        if high.top() - low.top() > 2 * PRECISION as i64 + 2 {
            // So far below that only its direction can matter: stand it right under the last bit that does.
            let shift = 2 * PRECISION + 2;
            let nudge = if low.mantissa.sign() == Sign::Negative { IBig::NEG_ONE } else { IBig::ONE };
            return Some(round((high.mantissa << shift) + nudge, high.exponent - shift as i64, false));
        }
        let exponent = high.exponent.min(low.exponent);
        let sum = (high.mantissa << (high.exponent - exponent) as usize)
            + (low.mantissa << (low.exponent - exponent) as usize);
        Some(round(sum, exponent, false))
    }

    /// `self - other`; `None` for infinities of one sign.
    pub fn sub(&self, other: &Self) -> Option<Self> {
        if let (Repr::Int(a), Repr::Int(b)) = (&self.0, &other.0)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Some(Self::from(difference));
        }
        self.add(&other.neg())
    }

    /// `self * other`; `None` for zero times infinity.
    pub fn mul(&self, other: &Self) -> Option<Self> {
        if let (Repr::Int(a), Repr::Int(b)) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
            && product != 0
        {
            return Some(Self::from(product));
        }
        let sign = self.sign() * other.sign();
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            return (!self.is_zero() && !other.is_zero()).then_some(Self(Repr::Infinite(sign)));
        };
        if a.mantissa.is_zero() || b.mantissa.is_zero() {
            return Some(canonical(sign, UBig::ZERO, 0));
        }
        Some(round(a.mantissa * b.mantissa, a.exponent + b.exponent, false))
    }

    /// `self / other`; a number by zero is infinite. `None` for zero by zero and infinity by infinity.
    pub fn div(&self, other: &Self) -> Option<Self> {
        let sign = self.sign() * other.sign();
        match (self.parts(), other.parts()) {
            (None, None) => None,
            (None, Some(_)) => Some(Self(Repr::Infinite(sign))),
            (Some(_), None) => Some(canonical(sign, UBig::ZERO, 0)),
            (Some(a), Some(b)) => match (a.mantissa.is_zero(), b.mantissa.is_zero()) {
                (true, true) => None,
                (false, true) => Some(Self(Repr::Infinite(sign))),
                (true, false) => Some(canonical(sign, UBig::ZERO, 0)),
                (false, false) => {
                    let numerator = IBig::from_parts(sign, a.mantissa.unsigned_abs());
                    Some(quotient(numerator, b.mantissa.unsigned_abs(), a.exponent - b.exponent))
                }
            },
        }
    }

    /// The remainder of a division that rounds towards zero, with the sign of `self`. Of a division by zero the remainder is
    /// everything, as in Terraform. `None` if one of the two is infinite.
    pub fn modulo(&self, other: &Self) -> Option<Self> {
        if let (Repr::Int(a), Repr::Int(b)) = (&self.0, &other.0)
            && let Some(rest) = a.checked_rem(*b)
        {
            return Some(Self::from(rest));
        }
        if !self.is_finite() || !other.is_finite() {
            return None;
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        self.sub(&other.mul(&self.div(other)?.trunc())?)
    }

    /// `-self`.
    #[must_use]
    pub fn neg(&self) -> Self {
        match &self.0 {
            Repr::Int(0) => Self(Repr::NegativeZero),
            Repr::NegativeZero => Self::from(0),
            Repr::Int(int) => match int.checked_neg() {
                Some(negated) => Self::from(negated),
                None => round(-IBig::from(*int), 0, false),
            },
            // Not `Big` as it is: the negation of 2^63 is an `i64`.
            Repr::Big(big) => round(-big.mantissa.clone(), big.exponent, false),
            Repr::Infinite(sign) => Self(Repr::Infinite(-*sign)),
        }
    }

    /// Without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// Without its fraction, towards zero.
    #[must_use]
    pub fn trunc(&self) -> Self {
        match &self.0 {
            Repr::Big(big) if big.exponent < 0 => {
                let (sign, magnitude) = big.mantissa.clone().into_parts();
                let whole = magnitude >> usize::try_from(-big.exponent).unwrap_or(usize::MAX);
                canonical(sign, whole, 0)
            }
            _ => self.clone(),
        }
    }

    /// The largest whole number that is not above.
    #[must_use]
    pub fn floor(&self) -> Self {
        let whole = self.trunc();
        if self.is_negative() && whole != *self { whole.sub(&Self::from(1)).unwrap_or(whole) } else { whole }
    }

    /// The smallest whole number that is not below.
    #[must_use]
    pub fn ceil(&self) -> Self {
        let whole = self.trunc();
        if !self.is_negative() && whole != *self { whole.add(&Self::from(1)).unwrap_or(whole) } else { whole }
    }

    /// The decimal digits and the place of the point: the shortest that no other number of this precision has, or as many
    /// as asked for. `None` for zeroes and infinities.
    fn digits(&self, count: Option<usize>) -> Option<(String, i64)> {
        let big = self.parts().filter(|big| !big.mantissa.is_zero())?;
        let magnitude = big.mantissa.unsigned_abs();
        Some(match count {
            None => digits::shortest(magnitude, big.exponent),
            Some(count) => digits::rounded(magnitude, big.exponent, count),
        })
    }

    /// With an exponent, as C's `%e`: so many digits after the point, or as many as the value needs.
    pub fn to_exponent(&self, precision: Option<usize>) -> String {
        match self.digits(precision.map(|precision| precision + 1)) {
            Some((digits, point)) => {
                let width = precision.unwrap_or(digits.len() - 1);
                self.signed(&digits::exponent(&digits, point, width))
            }
            None if self.is_finite() => self.signed(&digits::exponent("0", 1, precision.unwrap_or(0))),
            None => self.to_string(),
        }
    }

    /// Without an exponent, as C's `%f`: so many digits after the point, rounded half to even.
    pub fn to_fixed(&self, precision: usize) -> String {
        match self.parts() {
            Some(big) => self.signed(&digits::fixed(big.mantissa.unsigned_abs(), big.exponent, precision)),
            None => self.to_string(),
        }
    }

    /// As C's `%g`: so many significant digits, or as many as the value needs; with an exponent where it is large or
    /// small.
    pub fn to_general(&self, precision: Option<usize>) -> String {
        let precision = precision.map(|precision| precision.max(1));
        match self.digits(precision) {
            // Where the digits are the shortest, Go decides by a precision of 6.
            Some((digits, point)) => self.signed(&digits::general(&digits, point, precision)),
            None if self.is_finite() => self.signed("0"),
            None => self.to_string(),
        }
    }

    /// The digits of a whole number in a base from 2 to 36, in lower case; `None` for others.
    pub fn to_radix(&self, radix: u8) -> Option<String> {
        let big = self.parts().filter(|big| big.exponent >= 0)?;
        let whole = big.mantissa.unsigned_abs() << usize::try_from(big.exponent).ok()?;
        Some(self.signed(&whole.in_radix(radix).to_string()))
    }

    fn signed(&self, magnitude: &str) -> String {
        format!("{}{magnitude}", if self.is_negative() { "-" } else { "" })
    }

    /// The text with at most ten digits by which cty orders set elements that hold numbers.
    pub(crate) fn set_key(&self) -> String {
        let sign = if self.is_negative() { "-" } else { "" };
        match self.digits(Some(10)) {
            Some((digits, point)) => format!("{sign}{}", digits::general(&digits, point, Some(10))),
            None => self.to_string(),
        }
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

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(Repr::Int(int))
    }
}

impl From<i32> for Number {
    fn from(int: i32) -> Self {
        Self::from(i64::from(int))
    }
}

impl From<usize> for Number {
    fn from(int: usize) -> Self {
        round(IBig::from(int), 0, false)
    }
}

impl From<u64> for Number {
    fn from(int: u64) -> Self {
        round(IBig::from(int), 0, false)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |number: &Self| match number.0 {
            Repr::Infinite(Sign::Negative) => -1,
            Repr::Infinite(Sign::Positive) => 1,
            _ => 0,
        };
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64()) {
            return a.cmp(&b);
        }
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else { return rank(self).cmp(&rank(other)) };
        let sign = |big: &Big| if big.mantissa.is_zero() { 0 } else { i8::from(big.mantissa > IBig::ZERO) * 2 - 1 };
        let (sign_a, sign_b) = (sign(&a), sign(&b));
        if sign_a != sign_b || sign_a == 0 {
            return sign_a.cmp(&sign_b);
        }
        let by_top = a.top().cmp(&b.top());
        let magnitude = if by_top.is_ne() {
            by_top
        } else {
            // The same top, and at most 512 bits each: the difference of the exponents is small.
            let exponent = a.exponent.min(b.exponent);
            let align = |big: Big| big.mantissa.unsigned_abs() << (big.exponent - exponent) as usize;
            align(a).cmp(&align(b))
        };
        if sign_a < 0 { magnitude.reverse() } else { magnitude }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Big(a), Repr::Big(b)) => a == b,
            (Repr::Infinite(a), Repr::Infinite(b)) => a == b,
            _ => self.to_i64().is_some() && self.to_i64() == other.to_i64(),
        }
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Int(int) => int.hash(state),
            Repr::NegativeZero => 0i64.hash(state),
            Repr::Big(big) => big.hash(state),
            Repr::Infinite(sign) => (*sign == Sign::Negative).hash(state),
        }
    }
}

impl fmt::Display for Number {
    /// All digits, as Terraform writes them: no exponent, and no more digits than the value needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(int) => write!(f, "{int}"),
            Repr::NegativeZero => f.write_str("-0"),
            Repr::Infinite(Sign::Positive) => f.write_str("+Inf"),
            Repr::Infinite(Sign::Negative) => f.write_str("-Inf"),
            Repr::Big(big) => {
                if big.mantissa.sign() == Sign::Negative {
                    f.write_str("-")?;
                }
                let (digits, point) = self.digits(None).unwrap_or_default();
                f.write_str(&digits::plain(&digits, point))
            }
        }
    }
}

impl Serialize for Number {
    /// As text, which loses nothing.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not a number")))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
