//! Kubernetes quantities (`100m`, `1.5Gi`, `4`): how much they are, whatever their spelling.

/// One unit, in the billionths that a quantity counts; Kubernetes rounds finer amounts up.
const UNIT: i32 = 9;

/// Longest number that is read: more digits than any quantity of 64 bits with nine places has.
const DIGITS: usize = 30;

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];

/// How many billionths it is; `None`: the text is no quantity, or too large for one.
pub(crate) fn billionths(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let length = whole.len() + fraction.len();
    if length == 0 || length > DIGITS || fraction.contains('.') {
        return None;
    }
    let mut digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let exponent = if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        digits = digits.checked_mul(1024_i128.checked_pow(*power)?)?;
        0
    } else if let Some((_, exponent)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        *exponent
    } else {
        suffix.strip_prefix(['e', 'E'])?.parse().ok()?
    };
    let shift = exponent.checked_add(UNIT)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_i128.checked_pow(shift.unsigned_abs());
    let amount = match (shift >= 0, power) {
        (true, Some(power)) => digits.checked_mul(power)?,
        (true, None) => return (digits == 0).then_some(0),
        (false, Some(power)) => digits / power + i128::from(digits % power != 0),
        (false, None) => i128::from(digits != 0),
    };
    Some(if text.starts_with('-') { -amount } else { amount })
}

#[cfg(test)]
mod tests {
    use super::*;

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
