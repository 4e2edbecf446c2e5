//! Addresses of everything that a configuration can name. Each round-trips through its text.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod ancestor;
mod parse;
mod provider;

pub use ancestor::Ancestor;
pub use parse::quoted;
pub use provider::{ProviderAddr, ProviderConfigAddr};

/// Text that is no address, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: {why}")]
pub struct AddressError {
    /// What was given.
    pub text: String,
    /// What it should have been: "resource address".
    pub what: &'static str,
    /// Where it went wrong, as a fragment.
    pub why: String,
}

/// The key of one instance of something with `count` or `for_each`. No key sorts first, numbers before strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InstanceKey {
    /// Of `count`.
    Int(u64),
    /// Of `for_each`.
    String(Arc<str>),
}

/// One module call on the way from the root, with the key of its instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: Arc<str>,
    /// Which instance.
    pub key: Option<InstanceKey>,
}

/// One instance of a module: `module.a["x"].module.b`; empty is the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleAddr(pub Arc<[ModuleStep]>);

/// A module of the configuration, whatever its instances: `module.a.module.b`; empty is the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModulePath(pub Arc<[Arc<str>]>);

/// What a resource block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// `data`: read, never changed.
    Data,
    /// `ephemeral`: opened and closed, never stored.
    Ephemeral,
    /// `resource`: created, updated, deleted.
    Managed,
}

/// One instance of a resource: `module.a["x"].gpu_pool.dev[0]`. The whole life of an object is under this name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceAddr {
    /// The module instance that it is in.
    pub module: ModuleAddr,
    /// Resource, data source or ephemeral resource.
    pub mode: Mode,
    /// `gpu_pool`.
    pub ty: Arc<str>,
    /// `dev`.
    pub name: Arc<str>,
    /// Which instance.
    pub key: Option<InstanceKey>,
}

/// A resource block of the configuration, whatever its instances: `module.a.gpu_pool.dev`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResourceAddr {
    /// The module that it is in.
    pub module: ModulePath,
    /// Resource, data source or ephemeral resource.
    pub mode: Mode,
    /// `gpu_pool`.
    pub ty: Arc<str>,
    /// `dev`.
    pub name: Arc<str>,
}

/// An object that was replaced and not yet destroyed: eight hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeposedKey(pub Arc<str>);

impl ModuleAddr {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// Is it the root?
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// An instance of a module that this one calls.
    pub fn child(&self, name: impl Into<Arc<str>>, key: Option<InstanceKey>) -> Self {
        Self(self.0.iter().cloned().chain([ModuleStep { name: name.into(), key }]).collect())
    }

    /// The module instance that calls this one, and how; `None` for the root.
    pub fn call(&self) -> Option<(Self, &ModuleStep)> {
        let (last, before) = self.0.split_last()?;
        Some((Self(before.into()), last))
    }

    /// The same without keys.
    pub fn path(&self) -> ModulePath {
        ModulePath(self.0.iter().map(|step| step.name.clone()).collect())
    }
}

impl ModulePath {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// Is it the root?
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// A module that this one calls.
    pub fn child(&self, name: impl Into<Arc<str>>) -> Self {
        Self(self.0.iter().cloned().chain([name.into()]).collect())
    }
}

impl ResourceAddr {
    /// The same without keys.
    pub fn config(&self) -> ConfigResourceAddr {
        ConfigResourceAddr { module: self.module.path(), mode: self.mode, ty: self.ty.clone(), name: self.name.clone() }
    }

    /// The same with another key.
    pub fn with_key(&self, key: Option<InstanceKey>) -> Self {
        Self { key, ..self.clone() }
    }
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => write!(f, "{n}"),
            Self::String(text) => write!(f, "{}", quoted(text)),
        }
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: Option<&InstanceKey>) -> fmt::Result {
    key.map_or(Ok(()), |key| write!(f, "[{key}]"))
}

impl fmt::Display for ModuleAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            write!(f, "{}module.{}", if i > 0 { "." } else { "" }, step.name)?;
            write_key(f, step.key.as_ref())?;
        }
        Ok(())
    }
}

impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            write!(f, "{}module.{name}", if i > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

fn mode_prefix(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "",
        Mode::Data => "data.",
        Mode::Ephemeral => "ephemeral.",
    }
}

impl fmt::Display for ResourceAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}{}{}.{}", self.module, mode_prefix(self.mode), self.ty, self.name)?;
        write_key(f, self.key.as_ref())
    }
}

impl fmt::Display for ConfigResourceAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}{}{}.{}", self.module, mode_prefix(self.mode), self.ty, self.name)
    }
}

impl FromStr for ModuleAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse::module(text)
    }
}

impl FromStr for ResourceAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse::resource(text)
    }
}

macro_rules! serde_as_text {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
pub(crate) use serde_as_text;

serde_as_text!(ModuleAddr, ResourceAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_addresses_round_trip() {
        for text in [
            "gpu_pool.dev",
            "gpu_pool.dev[0]",
            "gpu_pool.dev[\"a b\"]",
            "data.gpu_nodes.all",
            "module.a.gpu_pool.dev",
            "module.a[\"x.y\"].module.b[3].data.gpu_nodes.all[\"q\\\"]\"]",
            "ephemeral.x.y",
            "a.b[\"tab\\t bell\\u0007 $${x}\"]",
        ] {
            assert_eq!(text.parse::<ResourceAddr>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (text, why) in [
            ("gpu_pool", "a resource name is missing after \"gpu_pool\""),
            ("gpu_pool.dev[", "a key is missing after \"[\""),
            ("gpu_pool.dev[x]", "a key is a number or a quoted string, found \"x\""),
            ("gpu_pool.dev.more", "nothing may follow the address, found \".more\""),
            ("module.a", "a resource is missing after the module"),
            ("", "a name is missing"),
        ] {
            assert_eq!(text.parse::<ResourceAddr>().unwrap_err().why, why, "{text}");
        }
    }

    #[test]
    fn no_key_sorts_before_numbers_before_strings() {
        let addr: ResourceAddr = "a.b".parse().unwrap();
        let mut keys = [
            addr.with_key(Some(InstanceKey::String("1".into()))),
            addr.with_key(Some(InstanceKey::Int(10))),
            addr.with_key(Some(InstanceKey::Int(9))),
            addr.clone(),
        ];
        keys.sort();
        let text: Vec<String> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["a.b", "a.b[9]", "a.b[10]", "a.b[\"1\"]"]);
    }
}
