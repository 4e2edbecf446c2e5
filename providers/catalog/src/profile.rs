//! Names of MIG profiles: their grammar and the Kubernetes resource that stands for them.
//!
//! A name is not a geometry: `1g.10gb` is one memory slice of an 80 GB card and two of a 40 GB card. What a name means
//! on a card is answered by [`Geometry`](crate::Geometry).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What NVIDIA's device plugin puts before a profile's name to form a resource name.
pub const MIG_RESOURCE_PREFIX: &str = "nvidia.com/mig-";

/// A MIG profile's name: `[Cc.]Gg.<n>gb[+attr[,attr]|-me]`, such as `1g.10gb`, `1g.10gb+me`, `1c.3g.40gb`.
///
/// Ordered by size: compute slices, then memory, then attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MigProfile {
    /// Compute slices of the GPU instance (`G`).
    pub gpu_slices: u8,
    /// Compute slices of the compute instance (`C`): equal to `gpu_slices` unless several share one GPU instance.
    pub compute_slices: u8,
    /// Memory in NVIDIA's rounded gigabytes.
    pub memory_gb: u16,
    /// What is appended to the name.
    pub attributes: Attributes,
}

/// The attributes of a profile's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attributes {
    /// `+me`: one set of media engines.
    pub me: bool,
    /// `+me.all`: every media engine of the card.
    pub me_all: bool,
    /// `+gfx`: graphics.
    pub gfx: bool,
    /// `-me`: no media engines, where the plain profile has some.
    pub no_me: bool,
}

/// A text that is not a MIG profile's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a MIG profile: {problem}; a profile looks like `1g.10gb`, `1g.10gb+me` or `2g.48gb-me`")]
pub struct MigProfileError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl MigProfile {
    /// The extended resource that stands for this profile: `nvidia.com/mig-1g.10gb.me` for `1g.10gb+me`.
    pub fn resource_name(&self) -> String {
        format!("{MIG_RESOURCE_PREFIX}{}", self.to_string().replace('+', "."))
    }

    /// The profile that an extended resource stands for, if its name is one of a profile.
    pub fn from_resource_name(resource: &str) -> Option<Self> {
        let name = resource.strip_prefix(MIG_RESOURCE_PREFIX)?;
        let end = name.find("gb")? + 2;
        let (base, rest) = name.split_at(end);
        match rest.strip_prefix('.') {
            Some(attributes) => format!("{base}+{attributes}").parse().ok(),
            None => name.parse().ok(),
        }
    }
}

impl FromStr for MigProfile {
    type Err = MigProfileError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem| MigProfileError { text: text.to_owned(), problem };
        let (slices, rest) = text.split_once("g.").ok_or_else(|| error("it has no `<n>g.` part"))?;
        let (compute, gpu) = slices.split_once("c.").unwrap_or((slices, slices));
        let gpu_slices = number(gpu).ok_or_else(|| error("the number before `g` is not 1 to 255"))?;
        let compute_slices = number(compute).ok_or_else(|| error("the number before `c` is not 1 to 255"))?;
        if compute_slices > gpu_slices {
            return Err(error("it has more compute slices than its GPU instance"));
        }
        let (memory, rest) = rest.split_once("gb").ok_or_else(|| error("it has no `<n>gb` part"))?;
        if memory.is_empty() || !memory.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error("the number before `gb` is not a whole number"));
        }
        let memory_gb = memory.parse().map_err(|_| error("the number before `gb` is too large"))?;
        let attributes = Attributes::parse(rest).ok_or_else(|| {
            error("what follows `gb` is not `-me` or `+` with attributes out of `me`, `me.all` and `gfx`")
        })?;
        Ok(Self { gpu_slices, compute_slices, memory_gb, attributes })
    }
}

fn number(text: &str) -> Option<u8> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if digits { text.parse().ok() } else { None }
}

impl Attributes {
    fn parse(text: &str) -> Option<Self> {
        let mut found = Self::default();
        if text == "-me" {
            found.no_me = true;
        } else if let Some(list) = text.strip_prefix('+') {
            for attribute in list.split(',') {
                let flag = match attribute {
                    "me" => &mut found.me,
                    "me.all" => &mut found.me_all,
                    "gfx" => &mut found.gfx,
                    _ => return None,
                };
                if std::mem::replace(flag, true) {
                    return None;
                }
            }
        } else if !text.is_empty() {
            return None;
        }
        Some(found)
    }
}

impl fmt::Display for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.no_me {
            return f.write_str("-me");
        }
        let named = [(self.me, "me"), (self.me_all, "me.all"), (self.gfx, "gfx")];
        let mut separator = '+';
        for (_, name) in named.iter().filter(|(set, _)| *set) {
            write!(f, "{separator}{name}")?;
            separator = ',';
        }
        Ok(())
    }
}

impl fmt::Display for MigProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Through `pad`, so that tables can align it.
        let compute =
            if self.compute_slices == self.gpu_slices { String::new() } else { format!("{}c.", self.compute_slices) };
        f.pad(&format!("{compute}{}g.{}gb{}", self.gpu_slices, self.memory_gb, self.attributes))
    }
}

impl TryFrom<String> for MigProfile {
    type Error = MigProfileError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<MigProfile> for String {
    fn from(profile: MigProfile) -> Self {
        profile.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_resource_names_go_round() {
        for (name, resource) in [
            ("1g.10gb", "nvidia.com/mig-1g.10gb"),
            ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me"),
            ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all"),
            ("4g.96gb+gfx", "nvidia.com/mig-4g.96gb.gfx"),
            ("2g.48gb-me", "nvidia.com/mig-2g.48gb-me"),
            ("7g.141gb", "nvidia.com/mig-7g.141gb"),
            ("1c.3g.40gb", "nvidia.com/mig-1c.3g.40gb"),
            ("1g.0gb", "nvidia.com/mig-1g.0gb"),
        ] {
            let profile: MigProfile = name.parse().unwrap();
            assert_eq!(profile.to_string(), name);
            assert_eq!(profile.resource_name(), resource);
            assert_eq!(MigProfile::from_resource_name(resource), Some(profile));
        }
        for resource in ["nvidia.com/gpu", "nvidia.com/mig-", "nvidia.com/mig-1g", "nvidia.com/mig-1g.10gb.shared"] {
            assert_eq!(MigProfile::from_resource_name(resource), None, "{resource}");
        }
    }

    #[test]
    fn refuses_what_is_no_profile() {
        for (text, problem) in [
            ("", "it has no `<n>g.` part"),
            ("1g", "it has no `<n>g.` part"),
            ("0g.10gb", "the number before `g` is not 1 to 255"),
            ("+1g.10gb", "the number before `g` is not 1 to 255"),
            ("4c.3g.40gb", "it has more compute slices than its GPU instance"),
            ("1g.10", "it has no `<n>gb` part"),
            ("1g.gb", "the number before `gb` is not a whole number"),
            ("1g.+5gb", "the number before `gb` is not a whole number"),
            ("1g.99999gb", "the number before `gb` is too large"),
        ] {
            let error = text.parse::<MigProfile>().unwrap_err();
            assert_eq!((error.text.as_str(), error.problem), (text, problem));
        }
        for text in ["1g.10gb+", "1g.10gb+me,me", "1g.10gb-gfx", "1g.10gb.me", "1g.10gb "] {
            let error = text.parse::<MigProfile>().unwrap_err();
            assert!(error.problem.starts_with("what follows `gb`"), "{text}: {error}");
        }
    }

    #[test]
    fn order_is_by_size() {
        let ascending = ["1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"];
        let parsed: Vec<MigProfile> = ascending.iter().map(|name| name.parse().unwrap()).collect();
        assert!(parsed.is_sorted());
    }
}
