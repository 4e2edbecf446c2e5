//! The `helm` program: found, asked for its version, run with an argument vector, private folders and bounds.
//!
//! It is given no configuration of a cluster, no plug-ins, no credentials but those of the block, and of the environment
//! only what a download needs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use providers_api::Call;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
};

use crate::Environment;

/// The oldest Helm whose `template` takes OCI repositories without a switch for it.
const OLDEST: (u64, u64) = (3, 8);

/// The oldest whose `install --dry-run=client` speaks to no cluster.
const WITH_NOTES: (u64, u64) = (3, 13);

/// Of a chart as large as the largest that are published this is a hundred times as much.
const MOST_OUTPUT: u64 = 64 << 20;
const MOST_ERRORS: u64 = 64 << 10;

/// Variables that a download may need.
const PASSED: &[&str] = &[
    "PATH",
    "TMPDIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Why Helm gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum HelmError {
    /// It is not installed.
    #[error("there is no program `helm`: {0}")]
    Missing(String),
    /// It is not one that this works with.
    #[error("{program} is Helm {found}, and at least {}.{} is needed", OLDEST.0, OLDEST.1)]
    TooOld {
        /// Its path.
        program: PathBuf,
        /// Its version.
        found: String,
    },
    /// It cannot be run, or its folders not be made.
    #[error("{0}: {1}")]
    System(String, #[source] std::io::Error),
    /// It said no; its own words.
    #[error("{0}")]
    Refused(String),
    /// It did not end in time.
    #[error("`helm` has not ended after {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It wrote more than can be a chart.
    #[error("`helm` has written more than {} MiB", MOST_OUTPUT >> 20)]
    TooMuch,
    /// The first interrupt.
    #[error("interrupted")]
    Interrupted,
}

/// A `helm` that can be run.
#[derive(Debug)]
pub(super) struct Helm {
    program: PathBuf,
    /// `v4.3.2`.
    pub(super) version: String,
    variables: BTreeMap<String, String>,
    directory: PathBuf,
    timeout: Duration,
}

impl Helm {
    /// Finds the program and asks for its version. `home`: an empty folder of its own.
    pub(super) async fn find(
        environment: &Environment,
        home: &Path,
        timeout: Duration,
        call: Call<'_>,
    ) -> Result<Self, HelmError> {
        let program = look_up(environment)?;
        let set = |name: &str| Some((name.to_owned(), environment.variables.get(name)?.clone()));
        let mut variables: BTreeMap<String, String> = PASSED.iter().filter_map(|name| set(name)).collect();
        let inside = |name: &str| home.join(name).display().to_string();
        for (name, value) in [
            ("HOME", inside("")),
            ("HELM_CACHE_HOME", inside("cache")),
            ("HELM_CONFIG_HOME", inside("config")),
            ("HELM_DATA_HOME", inside("data")),
            ("HELM_REPOSITORY_CONFIG", inside("repositories.yaml")),
            ("HELM_REPOSITORY_CACHE", inside("repository")),
            ("HELM_REGISTRY_CONFIG", inside("registry.json")),
            ("HELM_PLUGINS", inside("plugins")),
            ("KUBECONFIG", inside("none")),
        ] {
            variables.insert(name.to_owned(), value);
        }
        let directory = environment.directory.clone();
        let mut helm = Self { program, version: String::new(), variables, directory, timeout };
        let answer = helm.run(&["version".into(), "--template".into(), "{{.Version}}".into()], None, call).await?;
        helm.version = answer.trim().to_owned();
        match numbers(&helm.version) {
            Some(found) if found >= OLDEST => Ok(helm),
            _ => Err(HelmError::TooOld { program: helm.program, found: helm.version }),
        }
    }

    /// Can it render notes without a cluster?
    pub(super) fn renders_notes(&self) -> bool {
        numbers(&self.version).is_some_and(|found| found >= WITH_NOTES)
    }

    /// Runs it, and gives what it writes. `input`: what it reads.
    pub(super) async fn run(
        &self,
        arguments: &[String],
        input: Option<&str>,
        call: Call<'_>,
    ) -> Result<String, HelmError> {
        let failed = |doing: &str, error| HelmError::System(format!("{doing} {}", self.program.display()), error);
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().envs(&self.variables).kill_on_drop(true);
        if !self.directory.as_os_str().is_empty() {
            command.current_dir(&self.directory);
        }
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed("cannot run", error))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let talk = async {
            let write = async {
                if let (Some(mut stdin), Some(text)) = (stdin, input) {
                    // It may end without having read: then it says why itself.
                    let _ = stdin.write_all(text.as_bytes()).await;
                }
            };
            let ((), output, errors) = tokio::join!(write, bounded(stdout, MOST_OUTPUT), bounded(stderr, MOST_ERRORS));
            let status = child.wait().await.map_err(|error| failed("cannot wait for", error))?;
            Ok((status, output.map_err(|error| failed("cannot read from", error))?, errors.unwrap_or_default()))
        };
        let (status, output, errors) = tokio::select! {
            ended = tokio::time::timeout(self.timeout, talk) => ended.map_err(|_| HelmError::TooSlow(self.timeout))??,
            () = call.cancel.cancelled() => return Err(HelmError::Interrupted),
        };
        if output.len() as u64 > MOST_OUTPUT {
            return Err(HelmError::TooMuch);
        }
        if !status.success() {
            let mut text = String::from_utf8_lossy(&errors).trim().trim_start_matches("Error: ").to_owned();
            // What went wrong with a repository is told there; what a chart renders may be secret.
            if arguments.first().is_some_and(|command| command == "repo") {
                text = format!("{text}\n{}", String::from_utf8_lossy(&output).trim());
            }
            return Err(HelmError::Refused(if text.is_empty() { format!("it ended with {status}") } else { text }));
        }
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}

/// All that is written, and one byte more than may be at most. The rest is read and dropped, so that the writer ends.
async fn bounded(from: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(mut from) = from {
        (&mut from).take(most + 1).read_to_end(&mut text).await?;
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(text)
}

/// `HELM_BIN`, as Helm's own plug-ins know it, or the first `helm` in `PATH`.
fn look_up(environment: &Environment) -> Result<PathBuf, HelmError> {
    let variable = |name: &str| environment.variables.get(name).filter(|value| !value.is_empty());
    if let Some(named) = variable("HELM_BIN") {
        let program = environment.directory.join(named);
        return match is_program(&program) {
            true => Ok(program),
            false => Err(HelmError::Missing(format!("HELM_BIN names {}, which is none", program.display()))),
        };
    }
    let path = variable("PATH").cloned().unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("helm")).find(|program| is_program(program));
    found.ok_or_else(|| {
        let what = if path.is_empty() { "PATH is empty".to_owned() } else { format!("PATH has none ({path})") };
        HelmError::Missing(format!("{what}, and HELM_BIN is not set"))
    })
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Major and minor of `v3.22.0+g…`.
fn numbers(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared() {
        for (version, expected) in
            [("v3.22.0+g1", Some((3, 22))), ("v4.3.2", Some((4, 3))), ("v2.17.0", Some((2, 17))), ("dev", None)]
        {
            assert_eq!(numbers(version), expected, "{version}");
        }
    }

    #[test]
    fn where_it_was_looked_for_is_told() {
        let environment = |name: &str, value: &str| Environment {
            variables: [(name.to_owned(), value.to_owned())].into(),
            directory: PathBuf::from("/nowhere"),
            ..Environment::default()
        };
        for (environment, expected) in [
            (
                environment("PATH", "/nowhere/bin:/nowhere/sbin"),
                "there is no program `helm`: PATH has none (/nowhere/bin:/nowhere/sbin), and HELM_BIN is not set",
            ),
            (environment("A", ""), "there is no program `helm`: PATH is empty, and HELM_BIN is not set"),
            (
                environment("HELM_BIN", "helm"),
                "there is no program `helm`: HELM_BIN names /nowhere/helm, which is none",
            ),
        ] {
            assert_eq!(look_up(&environment).unwrap_err().to_string(), expected);
        }
    }
}
