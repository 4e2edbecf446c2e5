//! What an object needs, as wide as its references are.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AddressError, ResourceAddr, serde_as_text};

/// What an object needs: as wide as its references are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ancestor {
    /// One instance: `gpu_pool.dev["a"]`.
    Instance(ResourceAddr),
    /// All instances of a block in one module instance (its address has no key): `gpu_pool.dev[*]`.
    Block(ResourceAddr),
}

const ALL: &str = "[*]";

impl fmt::Display for Ancestor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instance(addr) => write!(f, "{addr}"),
            Self::Block(addr) => write!(f, "{addr}{ALL}"),
        }
    }
}

impl FromStr for Ancestor {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.strip_suffix(ALL) {
            Some(block) => Ok(Self::Block(block.parse::<ResourceAddr>()?.with_key(None))),
            None => Ok(Self::Instance(text.parse()?)),
        }
    }
}

serde_as_text!(Ancestor);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_round_trip() {
        for text in ["gpu_pool.dev", "gpu_pool.dev[*]", "module.a[\"x\"].gpu_pool.dev[\"[*]\"]", "data.a.b[3]"] {
            assert_eq!(text.parse::<Ancestor>().unwrap().to_string(), text);
        }
    }
}
