//! What names an object in a cluster.

use std::fmt;

use serde_json::Value as Json;

/// What names an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    /// `apps/v1`.
    pub(crate) api_version: String,
    /// `Deployment`.
    pub(crate) kind: String,
    /// As the object says it: where a namespaced object says none, it means `default`.
    pub(crate) namespace: Option<String>,
    /// Its name.
    pub(crate) name: String,
}

impl ObjectKey {
    /// The key of an object; `None` where one of its parts is missing.
    pub(crate) fn of(object: &Json) -> Option<Self> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).map(str::to_owned);
        Some(Self {
            api_version: text("/apiVersion")?,
            kind: text("/kind")?,
            namespace: text("/metadata/namespace").filter(|namespace| !namespace.is_empty()),
            name: text("/metadata/name")?,
        })
    }

    /// Reads an identifier as `import` takes it: `apiVersion=apps/v1,kind=Deployment,namespace=a,name=b`.
    pub(crate) fn from_id(id: &str) -> Result<Self, String> {
        let mut parts = [None, None, None, None];
        const NAMES: [&str; 4] = ["apiVersion", "kind", "namespace", "name"];
        for part in id.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("{part:?} has no \"=\""))?;
            let at = NAMES.iter().position(|known| *known == name.trim());
            let at = at.ok_or_else(|| format!("{:?} is none of {}", name.trim(), NAMES.join(", ")))?;
            parts[at] = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        }
        let [api_version, kind, namespace, name] = parts;
        let missing = |name: &str| format!("{name} is missing");
        Ok(Self {
            api_version: api_version.ok_or_else(|| missing("apiVersion"))?,
            kind: kind.ok_or_else(|| missing("kind"))?,
            namespace,
            name: name.ok_or_else(|| missing("name"))?,
        })
    }
}

impl fmt::Display for ObjectKey {
    /// For people: `Deployment team-a/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read() {
        for (id, expected) in [
            ("apiVersion=apps/v1,kind=Deployment,namespace=a,name=b", Ok("Deployment a/b")),
            ("name=b, kind=Node, apiVersion=v1", Ok("Node b")),
            ("b", Err("\"b\" has no \"=\"")),
            ("apiVersion=v1,kind=Node", Err("name is missing")),
            ("apiVersion=v1,typ=Node,name=b", Err("\"typ\" is none of apiVersion, kind, namespace, name")),
        ] {
            let found = ObjectKey::from_id(id).map(|key| key.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{id}");
        }
    }
}
