//! Kubernetes quantities (`100m`, `1.5Gi`, `4`): exact arithmetic and the canonical spelling that the API server stores.

use std::fmt;

use serde_json::Value;

/// One unit, in the billionths that a quantity counts; Kubernetes rounds finer amounts up.
const UNIT: i128 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suffix {
    Decimal,
    Binary,
    Exponent,
}

/// An amount, with the family of suffixes that it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    billionths: i128,
    suffix: Suffix,
}

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];

impl Quantity {
    /// Nothing.
    pub const ZERO: Quantity = Quantity { billionths: 0, suffix: Suffix::Decimal };

    /// A whole number.
    pub fn of(count: u64) -> Quantity {
        Quantity { billionths: i128::from(count) * UNIT, suffix: Suffix::Decimal }
    }

    /// Reads a string or a number; none when it is not a quantity, or larger than 2^63.
    pub fn parse(value: &Value) -> Option<Quantity> {
        match value {
            Value::String(text) => Quantity::parse_text(text),
            Value::Number(number) => Quantity::parse_text(&number.to_string()),
            _ => None,
        }
    }

    fn parse_text(text: &str) -> Option<Quantity> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty())
            || fraction.contains('.')
            || whole.len() > 25
            || fraction.len() > 25
        {
            return None;
        }
        let mut digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?;
        let (suffix, exponent) = if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
            digits = digits.checked_mul(1024_i128.checked_pow(*power)?)?;
            (Suffix::Binary, 0)
        } else if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
            (Suffix::Decimal, *exponent)
        } else {
            (Suffix::Exponent, suffix.strip_prefix(['e', 'E'])?.parse().ok()?)
        };
        let billionths = scaled(digits, 9 + i32::checked_sub(exponent, scale)?)?;
        if billionths > i128::from(i64::MAX) * UNIT {
            return None;
        }
        Some(Quantity { billionths: if text.starts_with('-') { -billionths } else { billionths }, suffix })
    }

    /// The sum, spelled like `self` (or like `other` if `self` is nothing).
    pub fn plus(self, other: Quantity) -> Quantity {
        let suffix = if self.billionths == 0 { other.suffix } else { self.suffix };
        Quantity { billionths: self.billionths.saturating_add(other.billionths), suffix }
    }

    /// How many times the other it is.
    pub fn ratio(self, other: Quantity) -> f64 {
        self.billionths as f64 / other.billionths as f64
    }

    /// Whether it is less than nothing.
    pub fn is_negative(self) -> bool {
        self.billionths < 0
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.billionths == 0
    }
}

/// How many billionths a text says; `None`: it is no quantity, or too large for one.
pub(crate) fn billionths(text: &str) -> Option<i128> {
    Quantity::parse_text(text).map(|quantity| quantity.billionths)
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<std::cmp::Ordering> {
        Some(self.billionths.cmp(&other.billionths))
    }
}

/// `digits × 10^exponent`, rounded away from zero.
fn scaled(digits: i128, exponent: i32) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    match u32::try_from(exponent) {
        Ok(exponent) => digits.checked_mul(10_i128.checked_pow(exponent)?),
        Err(_) => match 10_i128.checked_pow(exponent.unsigned_abs()) {
            Some(divisor) => Some(digits / divisor + i128::from(digits % divisor != 0)),
            None => Some(i128::from(digits != 0)),
        },
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.billionths == 0 {
            return f.write_str("0");
        }
        let units = self.billionths / UNIT;
        if self.suffix == Suffix::Binary && self.billionths % UNIT == 0 && units.abs() >= 1024 {
            let power = BINARY.iter().rev().find(|(_, power)| units % 1024_i128.pow(*power) == 0);
            return match power {
                Some((name, power)) => write!(f, "{}{name}", units / 1024_i128.pow(*power)),
                None => write!(f, "{units}"),
            };
        }
        let fits = |exponent: i32| {
            let divisor = 10_i128.pow((exponent + 9).unsigned_abs());
            (self.billionths % divisor == 0).then(|| self.billionths / divisor)
        };
        let (mantissa, name, exponent) = DECIMAL
            .iter()
            .rev()
            .find_map(|(name, exponent)| Some((fits(*exponent)?, *name, *exponent)))
            .expect("every number of billionths is a whole number of billionths");
        match (self.suffix, exponent) {
            (Suffix::Exponent, 0) => write!(f, "{mantissa}"),
            (Suffix::Exponent, _) => write!(f, "{mantissa}e{exponent}"),
            _ => write!(f, "{mantissa}{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_that_of_kubernetes() {
        let cases = [
            ("4", "4"),
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1500", "1500"),
            ("12000", "12k"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("512Ki", "512Ki"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("100000e-2", "1e3"),
            ("-2.5", "-2500m"),
            ("0", "0"),
            ("0Gi", "0"),
            ("0.0000000001", "1n"),
            ("80G", "80G"),
            ("01", "1"),
        ];
        for (written, canonical) in cases {
            let quantity = Quantity::parse(&written.into()).unwrap_or_else(|| panic!("{written} is a quantity"));
            assert_eq!(quantity.to_string(), canonical, "{written}");
            assert_eq!(Quantity::parse(&canonical.into()).unwrap().to_string(), canonical, "canonical is stable");
        }
        for wrong in ["", "Gi", "1.2.3", "1 Gi", "4gi", "e3", "1e", "9223372036854775808"] {
            assert_eq!(Quantity::parse(&wrong.into()), None, "{wrong}");
        }
        assert_eq!(Quantity::parse(&Value::from(3)), Some(Quantity::of(3)));
    }

    #[test]
    fn equal_amounts_have_many_spellings() {
        for (one, other, same) in [
            ("1", "1000m", true),
            ("1", "1.0", true),
            ("+2", "2e0", true),
            ("1Gi", "1024Mi", true),
            ("1Gi", "1073741824", true),
            ("1.5Gi", "1536Mi", true),
            ("1G", "1Gi", false),
            ("2E3", "2k", true),
            ("1E", "1000P", true),
            ("0.5n", "1n", true),
            ("-1", "1", false),
            ("0", "0e90", true),
        ] {
            assert_eq!(billionths(one).unwrap() == billionths(other).unwrap(), same, "{one} and {other}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        let long = "1".repeat(31);
        for text in ["", ".", "a", "1.2.3", "1 Gi", "1gi", "1e", "--1", "1e99", &long] {
            assert_eq!(billionths(text), None, "{text}");
        }
    }
}
