//! Where a called module is, as `source` of a `module` block says it: read by Terraform's rules, and written in the
//! spelling that the module manifest has. Text only: nothing here looks at a disk or a network.

use std::fmt;

use engine_diag::Diagnostic;

/// Where a called module is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModuleSource {
    /// A directory, relative to the calling module: `./a/b`, `../b`.
    Local(String),
    /// A module of a registry, which has versions.
    Registry(RegistryModule),
    /// A directory of a package that is fetched from elsewhere.
    Remote(RemoteModule),
}

/// A module of a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryModule {
    /// The registry, in lower case, with its port if it has one.
    pub host: String,
    /// Whose module it is.
    pub namespace: String,
    /// What it is called.
    pub name: String,
    /// For which system it is.
    pub system: String,
    /// The directory within its package; empty for the whole.
    pub subdirectory: String,
}

/// A directory of a package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteModule {
    /// The package.
    pub package: Package,
    /// The directory within it; empty for the whole.
    pub subdirectory: String,
}

/// What is fetched as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    /// How.
    pub kind: PackageKind,
    /// From where: a URL with its query.
    pub url: String,
}

/// How a package is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageKind {
    /// By git.
    Git,
    /// By HTTP: an archive, or an answer that says where the package really is.
    Http,
    /// From this machine, by an absolute path.
    File,
}

/// The registry that is meant where none is named.
pub const DEFAULT_REGISTRY: &str = "registry.terraform.io";

/// What git may speak. `ext`, which runs any command, is none of them.
const GIT_SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// Parameters of a URL that say nothing secret.
const PUBLIC: [&str; 4] = ["ref", "depth", "archive", "checksum"];

impl ModuleSource {
    /// Reads what `source` says. `versioned`: the call has a version, so that only a registry can be meant.
    ///
    /// # Errors
    /// Without a place.
    pub fn parse(text: &str, versioned: bool) -> Result<Self, Box<Diagnostic>> {
        if let Some(path) = local(text) {
            return if versioned { Err(versioned_source(text, "a local directory")) } else { Ok(Self::Local(path)) };
        }
        if let Some(module) = registry(text)? {
            return Ok(Self::Registry(module));
        }
        let remote = remote(text)?;
        if versioned { Err(versioned_source(text, "no module of a registry")) } else { Ok(Self::Remote(remote)) }
    }
}

impl Package {
    /// For people: without what may be secret in a URL.
    pub fn shown(&self) -> String {
        let prefix = if self.kind == PackageKind::Git { "git::" } else { "" };
        format!("{prefix}{}", shown_url(&self.url))
    }

    /// The URL without its query, and the parameters in their order.
    pub fn parameters(&self) -> (&str, Vec<(&str, &str)>) {
        let (url, query) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        (url, pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect())
    }
}

/// A URL without its password and without the values of parameters that may hold a token.
pub fn shown_url(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let mut shown = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
            let authority = match authority.rsplit_once('@') {
                Some((user, host)) if user.contains(':') || scheme.starts_with("http") => {
                    let user = user.split(':').next().unwrap_or_default();
                    // A token may stand in the place of the user's name too.
                    let user = if user == "git" || scheme == "ssh" { user } else { "***" };
                    format!("{user}:***@{host}")
                }
                _ => authority.to_owned(),
            };
            format!("{scheme}://{authority}{path}")
        }
        None => address.to_owned(),
    };
    for (index, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        shown.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, _)) if !PUBLIC.contains(&name) => shown.push_str(&format!("{name}=***")),
            _ => shown.push_str(pair),
        }
    }
    shown
}

/// As the module manifest has it.
impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => f.write_str(path),
            Self::Registry(module) => {
                write!(f, "{module}")?;
                if module.subdirectory.is_empty() { Ok(()) } else { write!(f, "//{}", module.subdirectory) }
            }
            Self::Remote(RemoteModule { package, subdirectory }) if subdirectory.is_empty() => write!(f, "{package}"),
            Self::Remote(RemoteModule { package, subdirectory }) => {
                let whole = package.to_string();
                match whole.split_once('?') {
                    Some((address, query)) => write!(f, "{address}//{subdirectory}?{query}"),
                    None => write!(f, "{whole}//{subdirectory}"),
                }
            }
        }
    }
}

/// Without the directory within the package.
impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host, self.namespace, self.name, self.system)
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.kind == PackageKind::Git { "git::" } else { "" };
        write!(f, "{prefix}{}", self.url)
    }
}

/// The path of a local directory, without what means nothing: `./modules/b/` is `./modules/b`.
fn local(text: &str) -> Option<String> {
    if !(text.starts_with("./") || text.starts_with("../")) {
        return None;
    }
    Some(match super::join(super::ROOT, text) {
        path if path.starts_with("..") => path,
        path if path == super::ROOT => "./".to_owned(),
        path => format!("./{path}"),
    })
}

/// The registry module that a text is. `None`: it is something else.
fn registry(text: &str) -> Result<Option<RegistryModule>, Box<Diagnostic>> {
    let (package, subdirectory) = text.split_once("//").unwrap_or((text, ""));
    let parts: Vec<&str> = package.split('/').collect();
    let (host, [namespace, name, system]) = match parts[..] {
        [namespace, name, system] => (DEFAULT_REGISTRY, [namespace, name, system]),
        [host, namespace, name, system] if is_host(host) => (host, [namespace, name, system]),
        _ => return Ok(None),
    };
    let host = host.to_ascii_lowercase();
    // Four parts there are a directory of a repository.
    let is_repository = matches!(&*host, "github.com" | "bitbucket.org");
    if is_repository || !is_registry_name(namespace) || !is_registry_name(name) || !is_system(system) {
        return Ok(None);
    }
    let subdirectory = subdirectory_of(subdirectory)?;
    let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
    Ok(Some(RegistryModule { host, namespace, name, system, subdirectory }))
}

fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "443"));
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') && !label.starts_with('-')
    };
    name.contains('.') && name.split('.').all(is_label) && port.parse::<u16>().is_ok()
}

fn is_registry_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    bytes.len() <= 64
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b))
}

fn is_system(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// A directory within a package, by the text alone; `*` is left as it is.
fn subdirectory_of(text: &str) -> Result<String, Box<Diagnostic>> {
    let path = super::join(super::ROOT, text);
    if path == ".." || path.starts_with("../") {
        let detail = format!("The directory \"{text}\" would be outside of the package that it is in.");
        return Err(invalid(detail).into());
    }
    Ok(if path == super::ROOT { String::new() } else { path })
}

/// A package that is fetched from elsewhere, with the directory in it.
fn remote(text: &str) -> Result<RemoteModule, Box<Diagnostic>> {
    let (address, given) = split_subdirectory(text);
    if address.is_empty() || address.bytes().any(|b| b.is_ascii_control()) {
        return Err(invalid(format!("{text:?} is no address.")).hint(FORMS).into());
    }
    let (forced, rest) = forced(&address);
    let (package, detected) = match scheme(rest) {
        Some(scheme) => (by_scheme(forced, scheme, rest)?, String::new()),
        None => by_form(forced, rest, text)?,
    };
    let subdirectory = subdirectory_of(&given)?;
    let subdirectory = subdirectory_of(&super::join(&detected, &subdirectory))?;
    Ok(RemoteModule { package, subdirectory })
}

/// The address with its query, and the directory behind `//`.
fn split_subdirectory(text: &str) -> (String, String) {
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let from = path.find("://").map_or(0, |at| at + 3);
    let Some(at) = path[from..].find("//").map(|at| from + at) else { return (text.to_owned(), String::new()) };
    let address = query.map_or_else(|| path[..at].to_owned(), |query| format!("{}?{query}", &path[..at]));
    (address, path[at + 2..].to_owned())
}

/// `git` of `git::…`.
fn forced(address: &str) -> (Option<&str>, &str) {
    match address.split_once("::") {
        Some((name, rest)) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()) => (Some(name), rest),
        _ => (None, address),
    }
}

fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let mut bytes = scheme.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
    (first && bytes.all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b))).then_some(scheme)
}

fn by_scheme(forced: Option<&str>, scheme: &str, url: &str) -> Result<Package, Box<Diagnostic>> {
    let package = |kind| Ok(Package { kind, url: url.to_owned() });
    let shown = shown_url(url);
    match (forced, scheme) {
        (Some("git"), _) if GIT_SCHEMES.contains(&scheme) && url[scheme.len()..].starts_with("://") => {
            package(PackageKind::Git)
        }
        (Some("git"), _) => {
            let detail = format!("git is asked to fetch \"{shown}\" by \"{scheme}\".");
            Err(unsupported(detail).hint("git may speak https, http, ssh, git and file here: git::https://…").into())
        }
        (Some(other), _) => Err(refused(other, &shown)),
        (None, "http" | "https") => package(PackageKind::Http),
        (None, "file") => package(PackageKind::File),
        (None, "ssh" | "git") => {
            let detail = format!("\"{shown}\" does not say that it is a Git repository.");
            Err(unsupported(detail).hint(format!("Write \"git::{shown}\".")).into())
        }
        (None, _) => Err(unsupported(format!("There is no way to fetch a module by \"{scheme}\".")).hint(FORMS).into()),
    }
}

/// What is no URL yet, and the directory that its form implies.
fn by_form(forced: Option<&str>, address: &str, text: &str) -> Result<(Package, String), Box<Diagnostic>> {
    let git = |url: String, subdirectory: &str| {
        let package = Package { kind: PackageKind::Git, url };
        match forced {
            None | Some("git") => Ok((package, subdirectory.to_owned())),
            Some(other) => Err(refused(other, address)),
        }
    };
    let (path, query) = address.find('?').map_or((address, ""), |at| address.split_at(at));
    if let Some(rest) = path.strip_prefix("github.com/") {
        let mut parts = rest.splitn(3, '/');
        let (Some(owner), Some(name)) = (parts.next(), parts.next().filter(|name| !name.is_empty())) else {
            return Err(invalid("GitHub addresses are github.com/OWNER/REPOSITORY.".to_owned()).into());
        };
        let name = name.strip_suffix(".git").unwrap_or(name);
        return git(format!("https://github.com/{owner}/{name}.git{query}"), parts.next().unwrap_or_default());
    }
    if let Some(rest) = path.strip_prefix("bitbucket.org/") {
        let mut parts = rest.splitn(3, '/');
        let (Some(owner), Some(name)) = (parts.next(), parts.next().filter(|name| !name.is_empty())) else {
            return Err(invalid("Bitbucket addresses are bitbucket.org/OWNER/REPOSITORY.".to_owned()).into());
        };
        let name = name.strip_suffix(".git").unwrap_or(name);
        return git(format!("https://bitbucket.org/{owner}/{name}.git{query}"), parts.next().unwrap_or_default());
    }
    if let Some((host, path)) = path.split_once(':')
        && host.split_once('@').is_some_and(|(user, host)| {
            let plain = |text: &str| !text.is_empty() && !text.starts_with('-') && !text.contains(['/', '@']);
            plain(user) && plain(host)
        })
    {
        return git(format!("ssh://{host}/{}{query}", path.trim_start_matches('/')), "");
    }
    if path.split('/').next().is_some_and(|host| host.ends_with(".amazonaws.com")) {
        return Err(refused("s3", address));
    }
    if path.starts_with("www.googleapis.com/") {
        return Err(refused("gcs", address));
    }
    if path.starts_with('/') {
        let url = format!("file://{path}{query}");
        return match forced {
            None => Ok((Package { kind: PackageKind::File, url }, String::new())),
            Some(_) => git(url, ""),
        };
    }
    let detail = format!("\"{text}\" does not say what kind of source it is.");
    Err(invalid(detail)
        .hint(format!("A directory relative to this module is written with a dot: \"./{text}\"."))
        .into())
}

const FORMS: &str = "Write a directory (\"./modules/x\"), a module of a registry (\"namespace/name/system\", with a \
                     version), a repository (\"git::https://example.com/x.git//directory?ref=v1\", \
                     \"github.com/owner/repository\"), or an archive (\"https://example.com/x.zip\").";

fn invalid(detail: String) -> Diagnostic {
    Diagnostic::error("Invalid module source address", detail)
}

fn unsupported(detail: String) -> Diagnostic {
    Diagnostic::error("Unsupported module source", detail)
}

/// Sources that Terraform has and we do not.
fn refused(kind: &str, shown: &str) -> Box<Diagnostic> {
    let (what, instead) = match kind {
        "s3" => (
            "an object of S3",
            "Give the archive's HTTPS address (a presigned one, where the bucket is private), or keep the module in a \
             Git repository.",
        ),
        "gcs" => (
            "an object of Google Cloud Storage",
            "Give the archive's HTTPS address (a signed one, where the bucket is private), or keep the module in a Git \
             repository.",
        ),
        "hg" => ("a Mercurial repository", "Give an archive of it (\"https://…/x.tar.gz\"), or a Git mirror."),
        "http" | "https" | "file" => ("fetched by its scheme anyway", "Leave out what stands before the address."),
        _ => return Box::new(unsupported(format!("There is no way \"{kind}\" to fetch a module.")).hint(FORMS)),
    };
    Box::new(unsupported(format!("\"{kind}::{shown}\" is {what}, which Sliceform does not fetch.")).hint(instead))
}

fn versioned_source(text: &str, what: &str) -> Box<Diagnostic> {
    let detail = format!("The call has a version, which only modules of a registry have, and \"{text}\" is {what}.");
    let hint = "Remove the argument \"version\". For Git, the version belongs to the source: ?ref=v1.2.0.";
    Box::new(Diagnostic::error("Invalid registry module source address", detail).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second column is Terraform 1.11.4's spelling, as its manifest or its messages have it.
    #[test]
    fn sources_are_spelled_as_terraform_spells_them() {
        for (text, expected) in [
            ("./x", "./x"),
            ("./a/../x/", "./x"),
            ("../x//y", "../x/y"),
            ("github.com/o/r", "git::https://github.com/o/r.git"),
            ("github.com/o/r//sub?ref=v1", "git::https://github.com/o/r.git//sub?ref=v1"),
            ("github.com/o/r.git//sub?ref=v1", "git::https://github.com/o/r.git//sub?ref=v1"),
            ("github.com/o/r/sub/dir?ref=v1", "git::https://github.com/o/r.git//sub/dir?ref=v1"),
            ("git@github.com:o/r.git//sub?ref=x", "git::ssh://git@github.com/o/r.git//sub?ref=x"),
            ("git@example.com:o/r", "git::ssh://git@example.com/o/r"),
            ("git::git@github.com:o/r.git?ref=v1", "git::ssh://git@github.com/o/r.git?ref=v1"),
            ("git::ssh://git@github.com/o/r.git//a/b", "git::ssh://git@github.com/o/r.git//a/b"),
            ("git::https://e.com/r.git//x?depth=1&ref=a", "git::https://e.com/r.git//x?depth=1&ref=a"),
            ("git::https://e.com/r.git//x/../y", "git::https://e.com/r.git//y"),
            ("bitbucket.org/o/r", "git::https://bitbucket.org/o/r.git"),
            ("https://e.com/x.zip//sub?archive=tar.gz", "https://e.com/x.zip//sub?archive=tar.gz"),
            ("file:///srv/m", "file:///srv/m"),
            ("/srv/m//sub", "file:///srv/m//sub"),
            ("hashicorp/consul/aws", "registry.terraform.io/hashicorp/consul/aws"),
            ("hashicorp/consul/aws//modules/x", "registry.terraform.io/hashicorp/consul/aws//modules/x"),
            ("Mods.Example.com/a/B/c", "mods.example.com/a/B/c"),
            ("gitlab.com/o/r/p", "gitlab.com/o/r/p"),
            ("hashi_corp/con-sul/aws", "registry.terraform.io/hashi_corp/con-sul/aws"),
        ] {
            let source = ModuleSource::parse(text, false).map(|source| source.to_string());
            assert_eq!(source.as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_source_is_refused_by_what_it_is() {
        for (text, summary, says) in [
            ("", "Invalid module source address", "no address"),
            ("//x", "Invalid module source address", "no address"),
            (".", "Invalid module source address", "kind of source"),
            ("x", "Invalid module source address", "\"./x\""),
            ("modules/x", "Invalid module source address", "\"./modules/x\""),
            ("gitlab.com/o/r", "Invalid module source address", "kind of source"),
            ("hashicorp/consul/a_w_s", "Invalid module source address", "kind of source"),
            ("hashicorp/consul/aws?ref=x", "Invalid module source address", "kind of source"),
            ("git::-x", "Invalid module source address", "kind of source"),
            ("git::-oProxyCommand=x@h:o/r", "Invalid module source address", "kind of source"),
            ("github.com/o", "Invalid module source address", "OWNER/REPOSITORY"),
            ("github.com/o/r//../x", "Invalid module source address", "outside of the package"),
            ("hashicorp/consul/aws//../x", "Invalid module source address", "outside of the package"),
            ("git::https://e.com/r.git//../x", "Invalid module source address", "outside of the package"),
            ("ssh://git@github.com/o/r.git", "Unsupported module source", "git::ssh://"),
            ("git::ext::sh -c touch% /tmp/x", "Unsupported module source", "\"ext\""),
            ("git::fd://17/foo", "Unsupported module source", "\"fd\""),
            ("hg::http://e.com/x", "Unsupported module source", "Mercurial"),
            ("s3::https://s3.amazonaws.com/b/k.zip", "Unsupported module source", "S3"),
            ("s3-eu-west-1.amazonaws.com/b/k.zip", "Unsupported module source", "S3"),
            ("gcs::https://www.googleapis.com/storage/v1/m/f.zip", "Unsupported module source", "Google"),
            ("www.googleapis.com/storage/v1/m/f.zip", "Unsupported module source", "Google"),
            ("foo::https://e.com", "Unsupported module source", "\"foo\""),
            ("localhost:8080/a/b/c", "Unsupported module source", "\"localhost\""),
        ] {
            let error = ModuleSource::parse(text, false).unwrap_err();
            assert_eq!(error.summary, summary, "{text}");
            let whole = format!("{} {}", error.detail, error.hint.as_deref().unwrap_or_default());
            assert!(whole.contains(says), "{text}: {whole}");
        }
        for text in ["./x", "git::https://e.com/x.git", "https://e.com/x.zip"] {
            let error = ModuleSource::parse(text, true).unwrap_err();
            assert_eq!(error.summary, "Invalid registry module source address", "{text}");
        }
    }

    #[test]
    fn what_may_be_secret_is_not_shown() {
        for (text, expected) in [
            ("https://user:canary@e.com/x.zip?token=canary&ref=a", "https://***:***@e.com/x.zip?token=***&ref=a"),
            ("git::https://canary@e.com/x.git", "git::https://***:***@e.com/x.git"),
            ("git::ssh://git@e.com/x.git?ref=v1", "git::ssh://git@e.com/x.git?ref=v1"),
        ] {
            let Ok(ModuleSource::Remote(remote)) = ModuleSource::parse(text, false) else { panic!("{text}") };
            assert_eq!(remote.package.shown(), expected);
        }
    }
}
