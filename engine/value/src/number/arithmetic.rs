//! Arithmetic: every result is the exact one, rounded once.

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::{Number, PRECISION, Repr, canonical, quotient, round};

impl Number {
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
        if other.is_zero() || self.is_zero() {
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

    /// The largest whole number that is not above. Never `-0`.
    #[must_use]
    pub fn floor(&self) -> Self {
        let whole = self.trunc();
        let below = self.is_negative() && whole != *self;
        if below { whole.sub(&Self::from(1)).unwrap_or(whole) } else { whole }.without_negative_zero()
    }

    /// The smallest whole number that is not below. Never `-0`.
    #[must_use]
    pub fn ceil(&self) -> Self {
        let whole = self.trunc();
        let above = !self.is_negative() && whole != *self;
        if above { whole.add(&Self::from(1)).unwrap_or(whole) } else { whole }.without_negative_zero()
    }

    /// `0` for `-0`, as wherever a number becomes a whole one; any other number as it is.
    #[must_use]
    pub fn without_negative_zero(self) -> Self {
        if self.is_zero() { Self::from(0) } else { self }
    }
}
