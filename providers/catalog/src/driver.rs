//! Versions of NVIDIA's driver, as far as "is it new enough" goes. Knows nothing of CUDA or of which versions exist.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A driver version (`570.133.20`, `575.64`) or branch (`R525`, read as the first version of that branch).
///
/// Compared by its numbers; the text is kept as it was written.
#[derive(Clone, Debug)]
pub struct DriverVersion {
    numbers: [u32; 3],
    text: String,
}

/// A text that is not a driver version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a driver version: expected one to three numbers such as `570.133.20`, or a branch such as `R570`"
)]
pub struct DriverVersionError(pub String);

impl DriverVersion {
    /// The branch, that is the first number: 570 for `570.133.20`.
    pub fn branch(&self) -> u32 {
        self.numbers[0]
    }
}

impl FromStr for DriverVersion {
    type Err = DriverVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || DriverVersionError(text.to_owned());
        let mut numbers = [0; 3];
        let mut parts = text.strip_prefix('R').unwrap_or(text).split('.');
        for (index, number) in numbers.iter_mut().enumerate() {
            match parts.next() {
                Some(part) => *number = part.parse().map_err(|_| error())?,
                None if index == 0 => return Err(error()),
                None => break,
            }
        }
        if parts.next().is_some() {
            return Err(error());
        }
        Ok(Self { numbers, text: text.to_owned() })
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for DriverVersion {
    fn eq(&self, other: &Self) -> bool {
        self.numbers == other.numbers
    }
}

impl Eq for DriverVersion {}

impl PartialOrd for DriverVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DriverVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_by_number_and_keeps_the_text() {
        let ascending = ["450.80.02", "R470", "525.85.12", "550.90.07", "570.86", "570.133.20", "R575", "575.64"];
        let parsed: Vec<DriverVersion> = ascending.iter().map(|text| text.parse().unwrap()).collect();
        for pair in parsed.windows(2) {
            assert!(pair[0] < pair[1], "{} < {}", pair[0], pair[1]);
        }
        for (version, text) in parsed.iter().zip(ascending) {
            assert_eq!(version.to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_no_version() {
        for text in ["", "R", "five", "570.133.20.1", "570..1", "-1"] {
            assert_eq!(text.parse::<DriverVersion>(), Err(DriverVersionError(text.to_owned())));
        }
    }
}
