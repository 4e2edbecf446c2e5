//! Numbers: 512-bit binary floating point as Terraform has it, with a fast path for integers.
//!
//! Every result is the exact one rounded once, half to even, to 512 bits. Infinity exists, because `1 / 0` is one; "not a
//! number" does not: operations that would make it return `None`.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    sync::Arc,
};

use dashu_base::{BitTest, DivRem, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

mod arithmetic;
mod digits;
mod parse;
mod text;

/// The precision of every number that is not an `i64`, in bits: what HCL asks of its big floats.
const PRECISION: usize = 512;

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
