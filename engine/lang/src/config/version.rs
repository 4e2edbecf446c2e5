//! Versions and version constraints, as `required_version` and `required_providers` write them.

use std::{cmp::Ordering, fmt};

/// A version: three numbers and an optional pre-release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    /// Empty for a release.
    pre: String,
}

/// What a version must satisfy: all of the conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionConstraints {
    text: String,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    operator: Operator,
    version: Version,
    /// How many of its numbers are written.
    written: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Pessimistic,
}

impl Version {
    /// A release.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { numbers: [major, minor, patch], pre: String::new() }
    }

    /// The version that `text` is, and how many of its numbers are written. Build metadata (`+…`) is dropped.
    fn parse_partial(text: &str) -> Option<(Self, usize)> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (core, pre) = text.split_once('-').unwrap_or((text, ""));
        let mut numbers = [0; 3];
        let mut written = 0;
        for part in core.split('.') {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            *numbers.get_mut(written)? = part.parse().ok()?;
            written += 1;
        }
        if text.contains('-') && pre.is_empty() {
            return None;
        }
        Some((Self { numbers, pre: pre.to_owned() }, written))
    }

    /// The version that `text` is.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_partial(text).map(|(version, _)| version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if self.pre.is_empty() { Ok(()) } else { write!(f, "-{}", self.pre) }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_pre(&self.pre, &other.pre),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Pre-releases by their parts: numbers by value and before words.
fn compare_pre(left: &str, right: &str) -> Ordering {
    let part = |text: &str| match text.parse::<u64>() {
        Ok(number) => (0, number, String::new()),
        Err(_) => (1, 0, text.to_owned()),
    };
    left.split('.').map(part).cmp(right.split('.').map(part))
}

impl VersionConstraints {
    /// The constraints that `text` writes: conditions with commas between them. `None` if it is not that.
    pub fn parse(text: &str) -> Option<Self> {
        let conditions = text.split(',').map(|condition| Condition::parse(condition.trim())).collect::<Option<_>>()?;
        Some(Self { text: text.to_owned(), conditions })
    }

    /// Does the version satisfy all conditions? A pre-release only satisfies conditions that name one of the same
    /// numbers.
    pub fn allow(&self, version: &Version) -> bool {
        self.conditions.iter().all(|condition| condition.allows(version))
    }

    /// May this version be chosen among those that a registry has? Pre-releases only where one is named exactly.
    pub fn select(&self, version: &Version) -> bool {
        let named = |condition: &Condition| condition.operator == Operator::Equal && condition.version == *version;
        self.allow(version) && (version.pre.is_empty() || self.conditions.iter().any(named))
    }
}

impl Version {
    /// Is it no release?
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }
}

/// As it was written.
impl fmt::Display for VersionConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let operators = [
            ("~>", Operator::Pessimistic),
            (">=", Operator::GreaterOrEqual),
            ("<=", Operator::LessOrEqual),
            ("!=", Operator::NotEqual),
            (">", Operator::Greater),
            ("<", Operator::Less),
            ("=", Operator::Equal),
        ];
        let found = operators.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
        let (operator, version) = found.unwrap_or((Operator::Equal, text));
        let (version, written) = Version::parse_partial(version.trim())?;
        Some(Self { operator, version, written })
    }

    fn allows(&self, version: &Version) -> bool {
        let names_it = version.numbers == self.version.numbers && !self.version.pre.is_empty();
        if !version.pre.is_empty() && !names_it {
            return false;
        }
        match self.operator {
            Operator::Equal => *version == self.version,
            Operator::NotEqual => *version != self.version,
            Operator::Greater => *version > self.version,
            Operator::GreaterOrEqual => *version >= self.version,
            Operator::Less => *version < self.version,
            Operator::LessOrEqual => *version <= self.version,
            Operator::Pessimistic => {
                // All but the last written number are fixed; `~> 1` fixes nothing but the lower end.
                let fixed = self.written.saturating_sub(1);
                *version >= self.version && version.numbers[..fixed] == self.version.numbers[..fixed]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints() {
        for (constraints, version, allowed) in [
            (">= 1.0", "1.11.4", true),
            ("~> 1.1, < 2", "1.11.4", true),
            ("~> 1.11.0", "1.11.4", true),
            ("~> 1.10.0", "1.11.4", false),
            ("~> 1", "2.0.0", true),
            ("1.11.4", "1.11.4", true),
            ("= 1.11", "1.11.0", true),
            ("!= 1.11.4", "1.11.4", false),
            ("> 99", "1.11.4", false),
            (">= 1.0", "1.12.0-beta1", false),
            (">= 1.12.0-alpha", "1.12.0-beta1", true),
            ("<= 1.11.4-rc.2", "1.11.4-rc.10", false),
        ] {
            let parsed = VersionConstraints::parse(constraints).unwrap();
            assert_eq!(parsed.allow(&Version::parse(version).unwrap()), allowed, "{constraints} of {version}");
        }
        for wrong in ["", "x", ">=", "1.", "1.2.3.4", "1.2-", ">= 1,", "=> 1"] {
            assert_eq!(VersionConstraints::parse(wrong), None, "{wrong}");
        }
    }
}
