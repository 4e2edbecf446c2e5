//! Addresses of providers and of their configurations.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AddressError, ModulePath, parse::Cursor, serde_as_text};

/// A provider, by its source: `registry.terraform.io/hashicorp/kubernetes`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr {
    /// `registry.terraform.io`, or `terraform.io` for what is built in.
    pub host: Arc<str>,
    /// `hashicorp`.
    pub namespace: Arc<str>,
    /// `kubernetes`: also the prefix of its resource types.
    pub ty: Arc<str>,
}

/// One configuration of a provider: `provider["registry.terraform.io/sliceform/gpu"].west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfigAddr {
    /// The module that its block is in.
    pub module: ModulePath,
    /// Of which provider.
    pub provider: ProviderAddr,
    /// Its alias; `None` is the default configuration.
    pub alias: Option<Arc<str>>,
}

impl ProviderAddr {
    /// A provider by its three parts.
    pub fn new(host: &str, namespace: &str, ty: &str) -> Self {
        Self { host: host.into(), namespace: namespace.into(), ty: ty.into() }
    }
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.ty)
    }
}

impl fmt::Display for ProviderConfigAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.module.is_root() { "" } else { "." };
        write!(f, "{}{dot}provider[\"{}\"]", self.module, self.provider)?;
        self.alias.as_ref().map_or(Ok(()), |alias| write!(f, ".{alias}"))
    }
}

impl FromStr for ProviderAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.split('/').collect::<Vec<_>>()[..] {
            [host, namespace, ty] if ![host, namespace, ty].contains(&"") => Ok(Self::new(host, namespace, ty)),
            _ => Err(Cursor::new(text, "provider address").error("it has three parts, host/namespace/type")),
        }
    }
}

impl FromStr for ProviderConfigAddr {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let mut cursor = Cursor::new(text, "provider configuration");
        let mut module = ModulePath::root();
        while cursor.eat("module.") {
            let name = cursor.name().ok_or_else(|| cursor.error("a module name is missing after \"module.\""))?;
            module = module.child(name);
            if !cursor.eat(".") {
                return Err(cursor.error("\".provider\" is missing after the module"));
            }
        }
        if !cursor.eat("provider[\"") {
            return Err(cursor.error("it begins with provider[\"host/namespace/type\"]"));
        }
        let provider = cursor.string()?.parse()?;
        if !cursor.eat("]") {
            return Err(cursor.error("\"]\" is missing after the provider"));
        }
        let alias = if cursor.eat(".") {
            Some(cursor.name().ok_or_else(|| cursor.error("an alias is missing after \".\""))?.into())
        } else {
            None
        };
        cursor.end()?;
        Ok(Self { module, provider, alias })
    }
}

serde_as_text!(ProviderAddr, ProviderConfigAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_configurations_round_trip() {
        for text in [
            "provider[\"registry.terraform.io/sliceform/gpu\"]",
            "provider[\"terraform.io/builtin/terraform\"]",
            "module.a.module.b.provider[\"registry.terraform.io/hashicorp/kubernetes\"].west",
        ] {
            assert_eq!(text.parse::<ProviderConfigAddr>().unwrap().to_string(), text);
        }
        assert!("provider[\"a/b\"]".parse::<ProviderConfigAddr>().is_err());
    }
}
