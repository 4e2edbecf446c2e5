//! From settings to the client's configuration: which kubeconfig files are read, and what wins over them.
//!
//! Files are read by the client library's own loader. There is no fallback to the cluster that this process may run in:
//! a pipeline's runner is not what a configuration is about.

use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode, KubeConfigOptions, Kubeconfig, KubeconfigError};
use providers_api::ProviderError;
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{ConnectionSettings, Environment, Exec, settings::split_paths};

/// The client's configuration. Explicit arguments, then `KUBE_…` variables, then a kubeconfig file; where a host is
/// given without one, the default files are not read, so that no host gets the credentials of another.
pub(super) async fn load(
    settings: &ConnectionSettings,
    environment: &Environment,
) -> Result<kube::Config, ProviderError> {
    let settings = settings.clone().or_variables(&environment.variables);
    let paths = match (&settings.config_paths[..], &settings.host) {
        ([], None) => default_paths(environment)?,
        (paths, _) => paths.iter().map(|path| expand(path, environment)).collect(),
    };
    let mut config = if paths.is_empty() {
        kube::Config::new(host(settings.host.as_deref().unwrap_or_default())?)
    } else {
        from_files(&paths, &settings).await?
    };
    if let Some(text) = &settings.host {
        config.cluster_url = host(text)?;
    }
    if let Some(insecure) = settings.insecure {
        config.accept_invalid_certs = insecure;
    }
    if let Some(name) = &settings.tls_server_name {
        config.tls_server_name = Some(name.clone());
    }
    if let Some(pem) = &settings.cluster_ca_certificate {
        config.root_cert = Some(certificates(pem)?);
    }
    authenticate(&mut config.auth_info, &settings)?;
    Ok(config)
}

/// Where a kubeconfig file is when nothing names one: `KUBECONFIG`, else `~/.kube/config`.
fn default_paths(environment: &Environment) -> Result<Vec<PathBuf>, ProviderError> {
    let variable = |name: &str| environment.variables.get(name).filter(|text| !text.is_empty());
    if let Some(list) = variable("KUBECONFIG") {
        return Ok(split_paths(list).iter().map(|path| expand(path, environment)).collect());
    }
    let home = variable("HOME").map(|home| Path::new(home).join(".kube/config"));
    match home {
        Some(path) if path.exists() => Ok(vec![path]),
        home => {
            let home = home.map_or("~/.kube/config (HOME is not set)".to_owned(), |path| {
                format!("{} (does not exist)", path.display())
            });
            Err(ProviderError::permanent("no Kubernetes cluster is configured").hint(format!(
                "Looked for `host` or `config_path` in the provider block, for KUBE_HOST, KUBE_CONFIG_PATH, \
                 KUBE_CONFIG_PATHS and KUBECONFIG in the environment (none is set), and for {home}. Set one of them, or \
                 use -sandbox."
            )))
        }
    }
}

fn expand(path: &str, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~/"), environment.variables.get("HOME")) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => environment.directory.join(path),
    }
}

async fn from_files(paths: &[PathBuf], settings: &ConnectionSettings) -> Result<kube::Config, ProviderError> {
    let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let failed = |error: KubeconfigError| {
        ProviderError::permanent(format!("cannot use the kubeconfig {names}: {}", because(&error, settings)))
            .hint("Check `config_path`, `config_context` and the file; `kubectl config view` shows what is in it.")
    };
    let files = paths.iter().try_fold(Kubeconfig::default(), |merged, path| {
        Kubeconfig::read_from(path).and_then(|next| merged.merge(next))
    });
    let options = KubeConfigOptions {
        context: settings.config_context.clone(),
        cluster: settings.config_context_cluster.clone(),
        user: settings.config_context_auth_info.clone(),
    };
    kube::Config::from_custom_kubeconfig(files.map_err(failed)?, &options).await.map_err(failed)
}

fn because(error: &KubeconfigError, settings: &ConnectionSettings) -> String {
    match error {
        KubeconfigError::ReadConfig(cause, path) => format!("{}: {cause}", path.display()),
        KubeconfigError::LoadContext(_) => match &settings.config_context {
            Some(context) => format!("it has no context {context:?}"),
            None => "its current context is not in it".to_owned(),
        },
        KubeconfigError::CurrentContextNotSet => "it has no current context, and no `config_context` is set".to_owned(),
        other => other.to_string(),
    }
}

fn host(text: &str) -> Result<http::Uri, ProviderError> {
    let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    url.parse().map_err(|error: http::uri::InvalidUri| {
        ProviderError::permanent(format!("the host {text:?} is no URL"))
            .caused_by(error)
            .hint("Write it as https://host:port.")
    })
}

fn certificates(pem: &str) -> Result<Vec<Vec<u8>>, ProviderError> {
    let bad = |why: &str| {
        ProviderError::permanent(format!("`cluster_ca_certificate` is no certificate in PEM form: {why}"))
            .hint("It begins with -----BEGIN CERTIFICATE-----; `base64decode()` turns a kubeconfig's data into that.")
    };
    let found: Result<Vec<Vec<u8>>, _> =
        CertificateDer::pem_slice_iter(pem.as_bytes()).map(|one| one.map(|der| der.as_ref().to_vec())).collect();
    match found {
        Ok(found) if found.is_empty() => Err(bad("there is none in it")),
        Ok(found) => Ok(found),
        Err(error) => Err(bad(&error.to_string())),
    }
}

fn authenticate(auth: &mut AuthInfo, settings: &ConnectionSettings) -> Result<(), ProviderError> {
    let explicit = settings.token.is_some()
        || settings.username.is_some()
        || settings.client_certificate.is_some()
        || settings.exec.is_some();
    if explicit {
        // One way to say who we are: a file's user is not mixed with arguments.
        *auth = AuthInfo::default();
    }
    if let Some(token) = &settings.token {
        auth.token = Some(token.0.clone().into());
    }
    if let (Some(username), Some(password)) = (&settings.username, &settings.password) {
        auth.username = Some(username.clone());
        auth.password = Some(password.0.clone().into());
    }
    match (&settings.client_certificate, &settings.client_key) {
        (Some(certificate), Some(key)) => {
            auth.client_certificate_data = Some(base64(certificate));
            auth.client_key_data = Some(base64(&key.0).into());
        }
        (None, None) => {}
        (Some(_), None) => return Err(incomplete("client_certificate", "client_key")),
        (None, Some(_)) => return Err(incomplete("client_key", "client_certificate")),
    }
    if let Some(exec) = &settings.exec {
        auth.exec = Some(exec_config(exec));
    }
    Ok(())
}

fn incomplete(set: &str, missing: &str) -> ProviderError {
    ProviderError::permanent(format!("`{set}` is set and `{missing}` is not")).hint("Set both, or none.")
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn exec_config(exec: &Exec) -> ExecConfig {
    let variable = |(name, value): (&String, &String)| {
        [("name".to_owned(), name.clone()), ("value".to_owned(), value.clone())].into_iter().collect()
    };
    ExecConfig {
        api_version: Some(exec.api_version.clone()),
        command: Some(exec.command.clone()),
        args: Some(exec.args.clone()),
        env: Some(exec.env.iter().map(variable).collect()),
        drop_env: None,
        install_hint: None,
        interactive_mode: Some(ExecInteractiveMode::Never),
        provide_cluster_info: false,
        cluster: None,
        other: Default::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    const FILE: &str = "
apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: { cluster: c1, user: u1 }
- name: two
  context: { cluster: c2, user: u1 }
clusters:
- name: c1
  cluster: { server: 'https://one:6443' }
- name: c2
  cluster: { server: 'https://two:6443' }
users:
- name: u1
  user: { token: from-file }
";

    fn environment(directory: &Path, variables: &[(&str, &str)]) -> Environment {
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Environment { variables, directory: directory.to_owned() }
    }

    #[tokio::test]
    async fn what_is_configured_decides_which_cluster() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), FILE).unwrap();
        std::fs::create_dir(dir.path().join(".kube")).unwrap();
        std::fs::write(dir.path().join(".kube/config"), FILE).unwrap();
        let home = dir.path().to_str().unwrap();
        let none = ConnectionSettings::default();
        let path = ConnectionSettings { config_paths: vec!["file".to_owned()], ..Default::default() };
        let context = ConnectionSettings { config_context: Some("two".to_owned()), ..path.clone() };
        let host = ConnectionSettings { host: Some("three:6443".to_owned()), ..Default::default() };
        let both = ConnectionSettings { host: Some("https://four".to_owned()), ..path.clone() };
        let token = ConnectionSettings { token: Some(Secret("mine".to_owned())), ..path.clone() };
        type Case<'a> = (&'a ConnectionSettings, &'a [(&'a str, &'a str)], &'a str, bool);
        let cases: [Case<'_>; 9] = [
            (&path, &[], "https://one:6443/", true),
            (&context, &[], "https://two:6443/", true),
            (&host, &[("HOME", home)], "https://three:6443/", false),
            (&both, &[], "https://four/", true),
            (&token, &[], "https://one:6443/", true),
            (&none, &[("HOME", home)], "https://one:6443/", true),
            (&none, &[("KUBECONFIG", "file")], "https://one:6443/", true),
            (&none, &[("KUBE_CONFIG_PATH", "~/file"), ("HOME", home), ("KUBE_CTX", "two")], "https://two:6443/", true),
            (&none, &[("KUBE_HOST", "https://five"), ("HOME", home)], "https://five/", false),
        ];
        for (settings, variables, url, has_token) in cases {
            let config = load(settings, &environment(dir.path(), variables)).await.unwrap();
            assert_eq!(config.cluster_url.to_string(), url, "{settings:?} {variables:?}");
            assert_eq!(config.auth_info.token.is_some(), has_token, "{settings:?} {variables:?}");
        }
    }

    #[tokio::test]
    async fn what_is_missing_or_wrong_is_said() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), FILE).unwrap();
        let path = |path: &str| ConnectionSettings { config_paths: vec![path.to_owned()], ..Default::default() };
        let context = ConnectionSettings { config_context: Some("three".to_owned()), ..path("file") };
        let pem = ConnectionSettings { cluster_ca_certificate: Some("abc".to_owned()), ..path("file") };
        let half = ConnectionSettings { client_certificate: Some("abc".to_owned()), ..path("file") };
        for (settings, expected) in [
            (ConnectionSettings::default(), "no Kubernetes cluster is configured"),
            (path("none"), "No such file"),
            (context, "it has no context \"three\""),
            (pem, "there is none in it"),
            (half, "`client_certificate` is set and `client_key` is not"),
        ] {
            let environment = environment(dir.path(), &[("HOME", "/nowhere")]);
            let error = load(&settings, &environment).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.hint.is_some(), "{error}");
        }
    }
}
