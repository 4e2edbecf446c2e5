//! Numbers to text.

use std::fmt;

use dashu_base::{Sign, UnsignedAbs};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Number, Repr, digits};

impl Number {
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
        let digits = whole.in_radix(radix).to_string();
        // Whole numbers have one zero.
        Some(if self.is_zero() { digits } else { self.signed(&digits) })
    }

    fn signed(&self, magnitude: &str) -> String {
        format!("{}{magnitude}", if self.is_negative() { "-" } else { "" })
    }

    /// The text with at most ten digits by which cty orders set elements that hold numbers.
    pub(crate) fn set_key(&self) -> String {
        // At most ten digits as it is, and none of them to be rounded.
        const TEN_DIGITS: u64 = 10_000_000_000;
        if let Repr::Int(int) = self.0
            && int.unsigned_abs() < TEN_DIGITS
        {
            return int.to_string();
        }
        let sign = if self.is_negative() { "-" } else { "" };
        match self.digits(Some(10)) {
            Some((digits, point)) => format!("{sign}{}", digits::general(&digits, point, Some(10))),
            None => self.to_string(),
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
