//! What `-target` and `-replace` name.

use std::str::FromStr;

use engine_diag::Diagnostic;
use engine_model::address::{AddressError, ModuleAddr, ResourceAddr};

use crate::providers::nearest;

/// A module or resource that `-target` names. Without a key it means all instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Everything in a module and in the modules that it calls.
    Module(ModuleAddr),
    /// A resource, or one instance of it.
    Resource(ResourceAddr),
}

impl Target {
    /// Is this one of the instances that it means?
    pub(crate) fn matches(&self, addr: &ResourceAddr) -> bool {
        match self {
            Self::Module(module) => is_within(module, &addr.module),
            Self::Resource(wanted) => {
                wanted.module.0.len() == addr.module.0.len()
                    && is_within(&wanted.module, &addr.module)
                    && (wanted.mode, &wanted.ty, &wanted.name) == (addr.mode, &addr.ty, &addr.name)
                    && (wanted.key.is_none() || wanted.key == addr.key)
            }
        }
    }

    /// Could any instance of this block be meant?
    pub(crate) fn may_match(&self, block: &ResourceAddr) -> bool {
        match self {
            Self::Module(_) => self.matches(block),
            Self::Resource(wanted) => Self::Resource(wanted.with_key(None)).matches(block),
        }
    }

    /// Could anything in this module instance, or in one that it calls, be meant?
    pub(crate) fn may_be_in(&self, module: &ModuleAddr) -> bool {
        let wanted = match self {
            Self::Module(wanted) => wanted,
            Self::Resource(wanted) => &wanted.module,
        };
        let pairs = wanted.0.iter().zip(module.0.iter());
        let same = pairs.into_iter().all(|(a, b)| a.name == b.name && (a.key.is_none() || a.key == b.key));
        same && (matches!(self, Self::Module(_)) || wanted.0.len() >= module.0.len())
    }
}

/// Is the module the outer one, or within it? A step without a key means every instance.
fn is_within(outer: &ModuleAddr, module: &ModuleAddr) -> bool {
    outer.0.len() <= module.0.len()
        && outer.0.iter().zip(module.0.iter()).all(|(a, b)| a.name == b.name && (a.key.is_none() || a.key == b.key))
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Module(module) => module.fmt(f),
            Self::Resource(addr) => addr.fmt(f),
        }
    }
}

impl FromStr for Target {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.parse::<ResourceAddr>() {
            Ok(addr) => Ok(Self::Resource(addr)),
            Err(error) => match text.parse::<ModuleAddr>() {
                Ok(module) if !module.is_root() => Ok(Self::Module(module)),
                _ => Err(error),
            },
        }
    }
}

/// The error for an address that neither the configuration nor the state has. `flag` is `-target` or `-replace`.
pub(crate) fn nothing_there(flag: &str, address: &str, known: &[String]) -> Diagnostic {
    let detail = format!("{flag}={address} names nothing: neither the configuration nor the state has it.");
    let error = Diagnostic::error(format!("Nothing to {}", flag.trim_start_matches('-')), detail);
    match nearest(address, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("Did you mean {flag}='{near}'?")),
        None => error.hint("`sliceform state list` shows what the state has."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_without_keys_means_every_instance() {
        for (target, addr, expected) in [
            ("a.b", "a.b", true),
            ("a.b", "a.b[3]", true),
            ("a.b[\"x\"]", "a.b[\"x\"]", true),
            ("a.b[\"x\"]", "a.b[\"y\"]", false),
            ("a.b", "data.a.b", false),
            ("a.b", "module.m.a.b", false),
            ("module.m", "module.m[0].a.b", true),
            ("module.m[1]", "module.m[0].a.b", false),
            ("module.m", "module.m.module.n.a.b", true),
            ("module.m.a.b", "module.m[\"k\"].a.b[1]", true),
            ("module.m.a.b", "module.m.module.n.a.b", false),
        ] {
            let parsed: Target = target.parse().unwrap();
            assert_eq!(parsed.matches(&addr.parse().unwrap()), expected, "{target} {addr}");
            assert_eq!(parsed.to_string(), target);
        }
        assert!("gpu_pool".parse::<Target>().is_err());
        assert!("".parse::<Target>().is_err());
    }
}
