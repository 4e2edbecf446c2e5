//! Packages by the system's git, without a shell. What a configuration writes never becomes an option or another
//! transport, git never asks at a terminal, and nothing of a repository is run: no hooks, no filters of its own.
//!
//! Only the wanted revision is fetched where the server can give just that; the whole history where it cannot.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::Path,
    process::{Output, Stdio},
};

use engine_lang::config::{Package, shown_url};
use tokio::process::Command;

use super::FetchError;
use crate::place;

/// What a source may name. `ext` and other helpers run commands.
const PROTOCOLS: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// What submodules may name: a repository must not reach into this machine.
const SUBMODULE_PROTOCOLS: [&str; 3] = ["https", "http", "ssh"];

/// Where git is run from a hook or another command of git, these say which repository is meant: not ours.
const FOREIGN: [&str; 10] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_TEMPLATE_DIR",
    "GIT_EXTERNAL_DIFF",
];

/// The system's git.
pub(super) struct Git {
    variables: BTreeMap<String, String>,
}

/// What is to be checked out.
struct Wanted<'a> {
    url: &'a str,
    reference: Option<String>,
}

impl Git {
    pub(super) fn new(variables: &BTreeMap<String, String>) -> Self {
        Self { variables: variables.clone() }
    }

    /// The files of a repository at the revision that the package names, in a new directory.
    pub(super) async fn fetch(&self, package: &Package, into: &Path) -> Result<(), FetchError> {
        let wanted = Wanted::of(package)?;
        let run = Run { git: self, directory: into, url: wanted.url, ssh: self.ssh(wanted.url).await? };
        std::fs::create_dir_all(into).map_err(|error| FetchError::io("cannot make", into, &error))?;
        run.needed(&["init", "--quiet", "--template=", "."]).await?;
        let commit = run.commit(wanted.reference.as_deref()).await?;
        run.needed(&["checkout", "--quiet", "--detach", "--force", &commit]).await?;
        if into.join(".gitmodules").is_file() {
            run.submodules().await?;
        }
        place::forget_git(into).map_err(|error| FetchError::io("cannot tidy", into, &error))?;
        place::check_links(into)
    }

    /// How ssh is called so that it asks nothing; `None`: the user says it.
    async fn ssh(&self, url: &str) -> Result<Option<&'static str>, FetchError> {
        let chosen = ["GIT_SSH", "GIT_SSH_COMMAND"].iter().any(|name| self.variables.contains_key(*name));
        if chosen || !url.starts_with("ssh:") {
            return Ok(None);
        }
        let mut command = self.command();
        command.args(["config", "--get", "core.sshCommand"]).current_dir(std::env::temp_dir());
        let configured = output(command).await?.status.success();
        Ok((!configured).then_some("ssh -o BatchMode=yes"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.env_clear().envs(&self.variables);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GCM_INTERACTIVE", "never")
            // What git says is looked at, below.
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// The protocols that may be used: those of the environment, if it says any, but none besides ours.
    fn protocols(&self, ours: &[&str]) -> String {
        let given = self.variables.get("GIT_ALLOW_PROTOCOL");
        let allowed = |name: &&&str| given.is_none_or(|given| given.split(':').any(|one| one == **name));
        ours.iter().filter(allowed).copied().collect::<Vec<_>>().join(":")
    }
}

impl<'a> Wanted<'a> {
    fn of(package: &'a Package) -> Result<Self, FetchError> {
        let (url, parameters) = package.parameters();
        let mut reference = None;
        for (name, value) in parameters {
            match name {
                "ref" => reference = Some(super::percent_decoded(value)).filter(|value| !value.is_empty()),
                // Never more than the wanted revision is fetched where that is possible.
                "depth" if value.parse::<u32>().is_ok_and(|depth| depth > 0) => {}
                "depth" => {
                    return Err(FetchError::new(format!("depth={value} is no number of revisions"))
                        .hint("Write depth=1, or leave it out."));
                }
                "sshkey" => {
                    return Err(FetchError::new("a key in the source is not supported").hint(
                        "Everybody who reads the configuration could use it. Give it to the ssh agent, or name its file \
                         in GIT_SSH_COMMAND.",
                    ));
                }
                name => {
                    return Err(FetchError::new(format!("there is no parameter \"{name}\" for Git"))
                        .hint("There are ref and depth."));
                }
            }
        }
        if let Some(reference) = &reference {
            check_reference(reference)?;
        }
        Ok(Self { url, reference })
    }
}

/// One repository in the making.
struct Run<'a> {
    git: &'a Git,
    directory: &'a Path,
    url: &'a str,
    ssh: Option<&'static str>,
}

impl Run<'_> {
    /// Fetches the revision, and says which commit it is.
    async fn commit(&self, reference: Option<&str>) -> Result<String, FetchError> {
        // What the server does not give alone is looked for in the whole.
        let name = reference.unwrap_or("HEAD");
        if is_name(name) {
            let alone = self.run(&["fetch", "--quiet", "--no-tags", "--depth=1", "--", self.url, name]).await?;
            if alone.status.success() {
                return self.resolved("FETCH_HEAD").await?.ok_or_else(|| self.lost(name));
            }
            if reference.is_none() && !says(&alone, "dumb http") {
                return Err(self.failed("fetch", &alone));
            }
        }
        let all = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*", "+HEAD:refs/remotes/origin/HEAD"];
        let mut arguments = vec!["fetch", "--quiet", "--no-tags", "--", self.url];
        arguments.extend(all);
        self.needed(&arguments).await?;
        for candidate in [format!("refs/remotes/origin/{name}"), format!("refs/tags/{name}"), name.to_owned()] {
            if let Some(commit) = self.resolved(&candidate).await? {
                return Ok(commit);
            }
        }
        Err(self.lost(name))
    }

    async fn resolved(&self, name: &str) -> Result<Option<String>, FetchError> {
        let revision = format!("{name}^{{commit}}");
        let found = self.run(&["rev-parse", "--quiet", "--verify", "--end-of-options", &revision]).await?;
        Ok(found.status.success().then(|| String::from_utf8_lossy(&found.stdout).trim().to_owned()))
    }

    fn lost(&self, name: &str) -> FetchError {
        let error = FetchError::new(format!("{} has no branch, tag or commit \"{name}\"", shown_url(self.url)));
        error.hint("Check ?ref= of the source. A short hash must be of a commit that a branch or tag leads to.")
    }

    async fn submodules(&self) -> Result<(), FetchError> {
        let mut command = self.prepared(&SUBMODULE_PROTOCOLS);
        command.args(["submodule", "--quiet", "update", "--init", "--recursive", "--depth=1"]);
        let done = output(command).await?;
        if done.status.success() {
            return Ok(());
        }
        let error = self.failed("fetch the submodules of", &done);
        Err(error.hint("Submodules are fetched by https, http or ssh, never from this machine."))
    }

    async fn needed(&self, arguments: &[&str]) -> Result<(), FetchError> {
        let done = self.run(arguments).await?;
        if done.status.success() { Ok(()) } else { Err(self.failed("fetch", &done)) }
    }

    async fn run(&self, arguments: &[&str]) -> Result<Output, FetchError> {
        let mut command = self.prepared(&PROTOCOLS);
        command.args(arguments);
        output(command).await
    }

    fn prepared(&self, protocols: &[&str]) -> Command {
        let mut command = self.git.command();
        command.current_dir(self.directory).env("GIT_ALLOW_PROTOCOL", self.git.protocols(protocols));
        // The directory above may be a repository; this one is of its own.
        command.env("GIT_CEILING_DIRECTORIES", self.directory.parent().unwrap_or(self.directory));
        if let Some(ssh) = self.ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        for setting in ["core.hooksPath=/dev/null", "core.fsmonitor=false", "advice.detachedHead=false", "gc.auto=0"] {
            command.args([OsStr::new("-c"), OsStr::new(setting)]);
        }
        command
    }

    /// What git said, without what may be secret in the URL.
    fn failed(&self, what: &str, done: &Output) -> FetchError {
        let text = String::from_utf8_lossy(&done.stderr);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        // The last lines say why.
        let said = lines[lines.len().saturating_sub(4)..].join("; ");
        let said = redacted(&said, self.url);
        let error = FetchError::new(format!("git cannot {what} {}: {said}", shown_url(self.url)));
        let asks = ["could not read Username", "could not read Password", "Authentication failed", "Permission denied"];
        if asks.iter().any(|sign| said.contains(sign)) {
            return error.hint(
                "Git does not ask for passwords here. Set up a credential helper, ~/.netrc or the ssh agent, so that \
                 \"git ls-remote\" of that address answers.",
            );
        }
        error
    }
}

fn says(done: &Output, what: &str) -> bool {
    String::from_utf8_lossy(&done.stderr).contains(what)
}

/// Git repeats addresses in its errors, in its own spelling: whatever stands before an `@` in one goes.
fn redacted(text: &str, url: &str) -> String {
    let mut out = text.replace(url, &shown_url(url));
    if let Some((_, rest)) = url.split_once("://")
        && let Some((userinfo, _)) = rest.split('/').next().and_then(|authority| authority.rsplit_once('@'))
        && (userinfo.contains(':') || url.starts_with("http"))
    {
        out = out.replace(userinfo, "***");
        for part in userinfo.split(':').filter(|part| part.len() > 3) {
            out = out.replace(part, "***").replace(&super::percent_decoded(part), "***");
        }
    }
    out
}

/// A name of a revision that is neither an option nor a pattern nor a pair.
fn is_name(name: &str) -> bool {
    !name.contains("..") && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-+@#=".contains(&byte))
}

fn check_reference(name: &str) -> Result<(), FetchError> {
    let wrong = name.starts_with('-')
        || name.starts_with('/')
        || name.contains("..")
        || name.bytes().any(|byte| byte.is_ascii_control() || b" :?*[\\".contains(&byte));
    if wrong {
        let error = FetchError::new(format!("{name:?} is no name of a branch, tag or commit"));
        return Err(error.hint("Check ?ref= of the source."));
    }
    Ok(())
}

async fn output(mut command: Command) -> Result<Output, FetchError> {
    command.output().await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FetchError::new("git is not installed, or not in a directory of PATH")
            .hint("Install git, or give the address of an archive instead."),
        _ => FetchError::new(format!("git cannot be run: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference_of(text: &str) -> Result<Option<String>, FetchError> {
        let package = Package { kind: engine_lang::config::PackageKind::Git, url: text.to_owned() };
        Wanted::of(&package).map(|wanted| wanted.reference)
    }

    #[test]
    fn parameters_are_read() {
        for (url, expected) in [
            ("https://e.com/x.git", None),
            ("https://e.com/x.git?ref=", None),
            ("https://e.com/x.git?ref=v1.0&depth=1", Some("v1.0")),
            ("https://e.com/x.git?depth=3&ref=feature%2Fx", Some("feature/x")),
            ("https://e.com/x.git?ref=HEAD~1", Some("HEAD~1")),
        ] {
            assert_eq!(reference_of(url).unwrap().as_deref(), expected, "{url}");
        }
        for url in [
            "https://e.com/x?ref=--upload-pack=touch",
            "https://e.com/x?ref=-x",
            "https://e.com/x?ref=a..b",
            "https://e.com/x?ref=a:refs/heads/b",
            "https://e.com/x?ref=a%0Ab",
            "https://e.com/x?depth=0",
            "https://e.com/x?depth=-1",
            "https://e.com/x?sshkey=canary",
            "https://e.com/x?checksum=sha256:00",
        ] {
            let error = reference_of(url).unwrap_err();
            assert!(!error.to_string().contains("canary") && error.hint.is_some(), "{url}: {error}");
        }
    }

    #[test]
    fn passwords_do_not_come_back_in_gits_words() {
        for (url, said) in [
            ("https://u:canary@e.com/x.git", "unable to access 'https://u:canary@e.com/x.git/': no"),
            ("https://canary@e.com/x.git", "Authentication failed for 'https://canary@e.com/x.git/'"),
            ("https://u:can%40ary@e.com/x.git", "could not read Password for 'https://can@ary@e.com'"),
        ] {
            let out = redacted(said, url);
            assert!(!out.contains("canary") && !out.contains("can@ary"), "{out}");
        }
    }

    #[test]
    fn the_environment_narrows_the_protocols_and_never_widens_them() {
        let git = |value: &str| Git::new(&BTreeMap::from([("GIT_ALLOW_PROTOCOL".to_owned(), value.to_owned())]));
        assert_eq!(Git::new(&BTreeMap::new()).protocols(&PROTOCOLS), "https:http:ssh:git:file");
        assert_eq!(git("https:ext").protocols(&PROTOCOLS), "https");
    }
}
