//! A command that prints credentials (`client.authentication.k8s.io`), as kubectl runs it. What it prints is secret: no
//! error repeats it.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use base64::Engine;
use jiff::Timestamp;
use kube::config::{Cluster, ExecConfig, ExecInteractiveMode};
use providers_api::ProviderError;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::{io::AsyncReadExt, process::Command};

use super::{Held, no_credentials};
use crate::connection::{Environment, Exec as Block, Secret, target::Trust};

/// How long a command may take: one that opens a browser waits for a person.
const PATIENCE: Duration = Duration::from_secs(300);

/// The most that a command may print: a token and a certificate have a few KiB.
const MOST: u64 = 1 << 20;

const VERSIONS: [&str; 2] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/// The command, and all that it is given.
pub(in crate::connection) struct Exec {
    api_version: String,
    command: String,
    args: Vec<String>,
    /// Everything that it sees.
    variables: BTreeMap<String, String>,
    directory: PathBuf,
    interactive: ExecInteractiveMode,
    /// What it is told of the cluster, where the kubeconfig says so.
    cluster: Option<Json>,
    install_hint: Option<String>,
}

impl Exec {
    /// As a provider block says it.
    pub(in crate::connection) fn from_block(block: &Block, environment: &Environment) -> Result<Self, ProviderError> {
        let exec = Self {
            api_version: block.api_version.clone(),
            command: block.command.clone(),
            args: block.args.clone(),
            variables: environment.variables.clone(),
            directory: environment.directory.clone(),
            interactive: ExecInteractiveMode::IfAvailable,
            cluster: None,
            install_hint: None,
        };
        exec.with_variables(block.env.clone()).checked()
    }

    /// As a kubeconfig says it.
    pub(in crate::connection) fn from_kubeconfig(
        config: &ExecConfig,
        cluster: &Cluster,
        trust: &Trust,
        environment: &Environment,
    ) -> Result<Self, ProviderError> {
        let own =
            config.env.iter().flatten().filter_map(|one| Some((one.get("name")?.clone(), one.get("value")?.clone())));
        let exec = Self {
            api_version: config.api_version.clone().unwrap_or_default(),
            command: config.command.clone().unwrap_or_default(),
            args: config.args.clone().unwrap_or_default(),
            variables: environment.variables.clone(),
            directory: environment.directory.clone(),
            interactive: config.interactive_mode.clone().unwrap_or(ExecInteractiveMode::IfAvailable),
            cluster: if config.provide_cluster_info { Some(told(cluster, trust)?) } else { None },
            install_hint: config.install_hint.clone().filter(|hint| !hint.is_empty()),
        };
        exec.with_variables(own.collect()).checked()
    }

    fn with_variables(mut self, own: BTreeMap<String, String>) -> Self {
        self.variables.extend(own);
        self
    }

    fn checked(self) -> Result<Self, ProviderError> {
        if self.command.is_empty() {
            return Err(ProviderError::permanent("`exec` names no command").hint("Set `command`."));
        }
        if !VERSIONS.contains(&self.api_version.as_str()) {
            let found = match self.api_version.as_str() {
                "" => "none".to_owned(),
                other => format!("{other:?}"),
            };
            let what = format!("`exec` has the API version {found}, which is not supported");
            return Err(ProviderError::permanent(what).hint(format!(
                "Set {} or {}; v1alpha1 ended with Kubernetes 1.24, and newer releases of the command know the others.",
                VERSIONS[0], VERSIONS[1]
            )));
        }
        Ok(self)
    }

    /// Runs it.
    pub(super) async fn run(&self) -> Result<Held, ProviderError> {
        let terminal = io::stdin().is_terminal();
        let interactive = match self.interactive {
            ExecInteractiveMode::Never => false,
            ExecInteractiveMode::IfAvailable => terminal,
            ExecInteractiveMode::Always if terminal => true,
            ExecInteractiveMode::Always => {
                return Err(no_credentials(format!(
                    "the command {:?} needs a terminal, and there is none",
                    self.command
                ))
                .hint("Its kubeconfig says `interactiveMode: Always`. Run in a terminal, or use another identity."));
            }
        };
        let mut spec = json!({ "interactive": interactive });
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        let told = json!({"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec});
        let mut command = Command::new(&self.command);
        command.args(&self.args).env_clear().envs(&self.variables).env("KUBERNETES_EXEC_INFO", told.to_string());
        if !self.directory.as_os_str().is_empty() {
            command.current_dir(&self.directory);
        }
        // A person who is there sees what it says; else nobody does: it may be secret.
        let given = || if interactive { Stdio::inherit() } else { Stdio::null() };
        command.stdin(given()).stderr(given()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| self.not_started(&error))?;
        let mut printed = Vec::new();
        let out = child.stdout.take().expect("its output is a pipe");
        let ended = tokio::time::timeout(PATIENCE, async {
            out.take(MOST + 1).read_to_end(&mut printed).await?;
            child.wait().await
        });
        let status = match ended.await {
            Ok(Ok(status)) => status,
            Ok(Err(error)) => return Err(self.not_started(&error)),
            Err(_) => {
                let what = format!("the command {:?} did not end within {} s", self.command, PATIENCE.as_secs());
                return Err(no_credentials(what).hint(self.by_hand()));
            }
        };
        if !status.success() {
            let what = format!("the command {:?} for credentials failed: {status}", self.command);
            return Err(no_credentials(what).hint(self.by_hand()));
        }
        if printed.len() as u64 > MOST {
            return Err(self.unclear("it is longer than 1 MiB"));
        }
        self.read(&printed)
    }

    fn read(&self, printed: &[u8]) -> Result<Held, ProviderError> {
        let text = std::str::from_utf8(printed).map_err(|_| self.unclear("it is not text"))?;
        // YAML, which JSON is a part of: kubectl's decoder takes both.
        let printed: Printed = serde_saphyr::from_str(text).map_err(|_| self.unclear("it is no ExecCredential"))?;
        if printed.kind.as_deref() != Some("ExecCredential") {
            return Err(self.unclear("it is no ExecCredential"));
        }
        if printed.api_version.as_deref() != Some(&self.api_version) {
            return Err(self.unclear(&format!("it is not of the version {}, which `exec` names", self.api_version)));
        }
        let status = printed.status.ok_or_else(|| self.unclear("it has no `status`"))?;
        let token = status.token.filter(|token| !token.is_empty());
        let identity = match (status.client_certificate_data, status.client_key_data) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(self.unclear("it has only one of `clientCertificateData` and `clientKeyData`")),
        };
        if token.is_none() && identity.is_none() {
            return Err(self.unclear("it has neither a token nor a certificate"));
        }
        let until = status.expiration_timestamp.map(|text| text.parse::<Timestamp>());
        let until = until.transpose().map_err(|_| self.unclear("its `expirationTimestamp` is no time"))?;
        Ok(Held { token: token.map(Secret), identity, until })
    }

    fn not_started(&self, error: &io::Error) -> ProviderError {
        let failed = no_credentials(format!("cannot run the command {:?} for credentials", self.command));
        let failed = failed.caused_by(error.to_string());
        match &self.install_hint {
            Some(hint) if error.kind() == io::ErrorKind::NotFound => failed.hint(hint.clone()),
            _ => failed.hint("The kubeconfig or provider block names it under `exec`. Check that it is installed."),
        }
    }

    fn unclear(&self, why: &str) -> ProviderError {
        no_credentials(format!("what the command {:?} printed gives no credentials: {why}", self.command))
            .hint(self.by_hand())
    }

    fn by_hand(&self) -> String {
        format!("Run {:?} with its arguments by hand to see why; what it prints is not shown here.", self.command)
    }
}

/// What a command is told of the cluster.
fn told(cluster: &Cluster, trust: &Trust) -> Result<Json, ProviderError> {
    let mut told = Map::new();
    let mut tell = |name: &str, value: Json| told.insert(name.to_owned(), value);
    for (name, text) in
        [("server", &cluster.server), ("tls-server-name", &cluster.tls_server_name), ("proxy-url", &cluster.proxy_url)]
    {
        if let Some(text) = text {
            tell(name, text.as_str().into());
        }
    }
    if cluster.insecure_skip_tls_verify == Some(true) {
        tell("insecure-skip-tls-verify", true.into());
    }
    if cluster.disable_compression == Some(true) {
        tell("disable-compression", true.into());
    }
    if let Trust::Authorities(pem) = trust {
        let data = base64::engine::general_purpose::STANDARD.encode(pem.read()?);
        tell("certificate-authority-data", data.into());
    }
    let extension = cluster.extensions.iter().flatten().find(|one| one.name == "client.authentication.k8s.io/exec");
    if let Some(extension) = extension {
        tell("config", extension.extension.clone());
    }
    Ok(Json::Object(told))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<PrintedStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrintedStatus {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}
