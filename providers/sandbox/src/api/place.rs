//! What a URL path means.

/// One resource, one object of it, or a part of that object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    /// Empty for the object itself.
    pub(super) subresource: String,
}

/// What is behind a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Version,
    Health,
    /// The paths that there are.
    Paths,
    /// `/api`: the versions of the core group.
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/GROUP`
    Group(String),
    /// `/api/v1`, `/apis/GROUP/VERSION`
    GroupVersion(String, String),
    OpenApiIndex,
    OpenApi(String, String),
    Resource(Place),
}

impl Target {
    /// Group and version, for what belongs to one.
    pub(super) fn api(&self) -> Option<(String, String)> {
        match self {
            Target::GroupVersion(group, version) | Target::OpenApi(group, version) => {
                Some((group.clone(), version.clone()))
            }
            Target::Resource(place) => Some((place.group.clone(), place.version.clone())),
            _ => None,
        }
    }
}

/// Reads a path; none when nothing can be there.
pub(super) fn parse(path: &str) -> Option<Target> {
    let decoded: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect::<Option<_>>()?;
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    Some(match parts.as_slice() {
        [] => Target::Paths,
        ["version"] => Target::Version,
        ["healthz" | "readyz" | "livez", ..] => Target::Health,
        ["api"] => Target::CoreVersions,
        ["apis"] => Target::Groups,
        ["apis", group] => Target::Group((*group).to_owned()),
        ["api", version] => Target::GroupVersion(String::new(), (*version).to_owned()),
        ["apis", group, version] => Target::GroupVersion((*group).to_owned(), (*version).to_owned()),
        ["openapi", "v3"] => Target::OpenApiIndex,
        ["openapi", "v3", "api", version] => Target::OpenApi(String::new(), (*version).to_owned()),
        ["openapi", "v3", "apis", group, version] => Target::OpenApi((*group).to_owned(), (*version).to_owned()),
        ["api", version, rest @ ..] => Target::Resource(resource("", version, rest)?),
        ["apis", group, version, rest @ ..] => Target::Resource(resource(group, version, rest)?),
        _ => return None,
    })
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Option<Place> {
    let place = Place { group: group.to_owned(), version: version.to_owned(), ..Place::default() };
    let owned = |text: &&str| Some((*text).to_owned());
    Some(match rest {
        // `namespaces/NAME/status` is a part of the namespace, `namespaces/NAME/pods` what is in it.
        ["namespaces", name, part @ ("status" | "finalize")] => {
            Place { plural: "namespaces".to_owned(), name: owned(name), subresource: (*part).to_owned(), ..place }
        }
        ["namespaces", namespace, plural] => {
            Place { plural: (*plural).to_owned(), namespace: owned(namespace), ..place }
        }
        ["namespaces", namespace, plural, name] => {
            Place { plural: (*plural).to_owned(), namespace: owned(namespace), name: owned(name), ..place }
        }
        ["namespaces", namespace, plural, name, part] => Place {
            plural: (*plural).to_owned(),
            namespace: owned(namespace),
            name: owned(name),
            subresource: (*part).to_owned(),
            ..place
        },
        [plural] => Place { plural: (*plural).to_owned(), ..place },
        [plural, name] => Place { plural: (*plural).to_owned(), name: owned(name), ..place },
        [plural, name, part] => {
            Place { plural: (*plural).to_owned(), name: owned(name), subresource: (*part).to_owned(), ..place }
        }
        _ => return None,
    })
}

/// Undoes percent-encoding.
fn decode(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), part.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let hex = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read() {
        let place = |group: &str, version: &str, plural: &str, namespace: &str, name: &str, part: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Some(Target::Resource(Place {
                group: group.into(),
                version: version.into(),
                plural: plural.into(),
                namespace: some(namespace),
                name: some(name),
                subresource: part.into(),
            }))
        };
        for (path, target) in [
            ("/", Some(Target::Paths)),
            ("/api/v1/pods", place("", "v1", "pods", "", "", "")),
            ("/api/v1/nodes/n1/status", place("", "v1", "nodes", "", "n1", "status")),
            ("/api/v1/namespaces/a", place("", "v1", "namespaces", "", "a", "")),
            ("/api/v1/namespaces/a/finalize", place("", "v1", "namespaces", "", "a", "finalize")),
            ("/api/v1/namespaces/a/pods/b/eviction", place("", "v1", "pods", "a", "b", "eviction")),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
                place("rbac.authorization.k8s.io", "v1", "clusterroles", "", "system:node", ""),
            ),
            ("/apis/a/b", Some(Target::GroupVersion("a".into(), "b".into()))),
            ("/metrics", None),
            ("/api/v1/%zz", None),
        ] {
            assert_eq!(parse(path), target, "{path}");
        }
    }
}
