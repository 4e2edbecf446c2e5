//! From settings to a target: which kubeconfig files are read, and what wins over them.
//!
//! There is no fallback to the cluster that this process may run in: a pipeline's runner is not what a configuration is
//! about. It must be asked for.

use std::path::{Path, PathBuf};

use base64::Engine;
use http::Uri;
use kube::config::{AuthInfo, Cluster};
use providers_api::ProviderError;
use secrecy::ExposeSecret;

use super::{
    ConnectionSettings, Environment, Secret,
    credentials::{Credential, Exec as ExecPlugin, Oidc},
    kubeconfig, proxy,
    settings::split_paths,
    target::{Pem, Target, Trust},
};

/// Where Kubernetes puts what a pod needs to speak to its own cluster.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The target. Explicit arguments, then `KUBE_…` variables, then a kubeconfig file; where a host is given without one,
/// the default files are not read, so that no host gets the credentials of another.
pub(super) fn load(settings: &ConnectionSettings, environment: &Environment) -> Result<Target, ProviderError> {
    let settings = settings.clone().or_variables(&environment.variables);
    if settings.username.is_some() || settings.password.is_some() {
        return Err(basic("`username` and `password`"));
    }
    let mut target = if settings.in_cluster_config == Some(true) {
        if settings.host.is_some() || !settings.config_paths.is_empty() {
            let what = "`in_cluster_config` is set, and so is `host` or `config_path`";
            return Err(ProviderError::permanent(what).hint("Set one of them: they may mean different clusters."));
        }
        in_cluster(environment, Path::new(SERVICE_ACCOUNT))?
    } else {
        let paths = match (&settings.config_paths[..], &settings.host) {
            ([], None) => default_paths(environment)?,
            (paths, _) => existing(paths, "config_path", environment)?,
        };
        if paths.is_empty() {
            nobody(host(settings.host.as_deref().unwrap_or_default())?)
        } else {
            from_files(&paths, &settings, environment)?
        }
    };
    if let Some(text) = &settings.host {
        target.url = host(text)?;
    }
    if let Some(name) = &settings.tls_server_name {
        target.server_name = Some(name.clone());
    }
    match (&settings.cluster_ca_certificate, settings.insecure) {
        (Some(_), Some(true)) => {
            let what = "`insecure` is set, and so is `cluster_ca_certificate`";
            return Err(ProviderError::permanent(what).hint("Remove `insecure`: with it nothing would be checked."));
        }
        (Some(text), _) => {
            target.trust = Trust::Authorities(Pem::Text { from: "cluster_ca_certificate", text: text.clone() });
        }
        (None, Some(true)) => target.trust = Trust::Anybody,
        (None, Some(false)) if matches!(target.trust, Trust::Anybody) => target.trust = Trust::System,
        (None, _) => {}
    }
    target.trust.certificates()?;
    if let Some(Secret(text)) = &settings.proxy_url {
        target.proxy = Some(proxy::parse(text, "`proxy_url`")?);
    } else if target.proxy.is_none() {
        target.proxy = proxy::from_environment(&target.url, environment)?;
    }
    authenticate(&mut target, &settings, environment)?;
    Ok(target)
}

fn nobody(url: Uri) -> Target {
    Target {
        url,
        trust: Trust::System,
        server_name: None,
        proxy: None,
        identity: None,
        credential: Credential::None,
        acting_for: AuthInfo::default(),
    }
}

fn basic(what: &str) -> ProviderError {
    let what = format!("{what} are set, and API servers have had no basic authentication since Kubernetes 1.19");
    ProviderError::permanent(what).hint("Use `token`, a client certificate or an `exec` command.")
}

/// Where a kubeconfig file is when nothing names one: `KUBECONFIG`, else `~/.kube/config`.
fn default_paths(environment: &Environment) -> Result<Vec<PathBuf>, ProviderError> {
    if let Some(list) = environment.variable("KUBECONFIG") {
        return existing(&split_paths(list), "KUBECONFIG", environment);
    }
    let home = environment.variable("HOME").map(|home| Path::new(home).join(".kube/config"));
    match home {
        Some(path) if path.exists() => Ok(vec![path]),
        home => {
            let home = home.map_or("~/.kube/config (HOME is not set)".to_owned(), |path| {
                format!("{} (does not exist)", path.display())
            });
            Err(ProviderError::permanent("no Kubernetes cluster is configured").hint(format!(
                "Looked for `host`, `config_path`, `config_paths` and `in_cluster_config` in the provider block (none is \
                 set), for KUBE_HOST, KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS, KUBECONFIG and KUBE_IN_CLUSTER_CONFIG in the \
                 environment (none is set), and for {home}. Set one of them{}, or use -sandbox.",
                match environment.variable("KUBERNETES_SERVICE_HOST") {
                    Some(_) => {
                        " (this process runs in a cluster: `in_cluster_config = true` or KUBE_IN_CLUSTER_CONFIG=true \
                         means that one; it is never taken without being asked for)"
                    }
                    None => "",
                }
            )))
        }
    }
}

/// The files that are there. One must be.
fn existing(paths: &[String], from: &str, environment: &Environment) -> Result<Vec<PathBuf>, ProviderError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| expand(path, environment)).collect();
    let found: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
    if found.is_empty() && !paths.is_empty() {
        let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(ProviderError::permanent(format!("there is no kubeconfig {names}"))
            .hint(format!("{from} names it. Check the path.")));
    }
    Ok(found)
}

fn expand(path: &str, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~/"), environment.variable("HOME")) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => environment.directory.join(path),
    }
}

/// The cluster that this process runs in.
fn in_cluster(environment: &Environment, account: &Path) -> Result<Target, ProviderError> {
    let missing = |what: &str| {
        ProviderError::permanent(format!("in_cluster_config is set, and {what}")).hint(
            "It needs a pod with a service account whose token is mounted (`automountServiceAccountToken`). Elsewhere, \
             set `config_path` or `host`.",
        )
    };
    let variable = |name: &str| environment.variable(name).ok_or_else(|| missing(&format!("{name} is not set")));
    let (name, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
    let name = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    let file = |name: &str| {
        let path = account.join(name);
        if path.exists() { Ok(path) } else { Err(missing(&format!("{} does not exist", path.display()))) }
    };
    Ok(Target {
        trust: Trust::Authorities(Pem::File(file("ca.crt")?)),
        credential: Credential::File { path: file("token")?, otherwise: None },
        ..nobody(host(&format!("https://{name}:{port}"))?)
    })
}

fn from_files(
    paths: &[PathBuf],
    settings: &ConnectionSettings,
    environment: &Environment,
) -> Result<Target, ProviderError> {
    let chosen = kubeconfig::choose(paths, settings)?;
    let Cluster { server, .. } = &chosen.cluster;
    let url = match server.as_deref().filter(|server| !server.is_empty()) {
        Some(server) => host(server)?,
        // The host of the settings takes its place.
        None if settings.host.is_some() => Uri::default(),
        None => {
            return Err(ProviderError::permanent("the cluster that the kubeconfig names has no `server`")
                .hint("Add it there, or set `host`."));
        }
    };
    let mut target = nobody(url);
    let cluster = &chosen.cluster;
    let authorities = pem(
        "certificate-authority-data",
        cluster.certificate_authority_data.as_deref(),
        cluster.certificate_authority.as_deref(),
    )?;
    // Explicit arguments take the place of both.
    let explicit = settings.insecure == Some(true) || settings.cluster_ca_certificate.is_some();
    target.trust = match (authorities, cluster.insecure_skip_tls_verify.unwrap_or(false)) {
        (Some(_), true) if !explicit => {
            return Err(ProviderError::permanent(
                "the kubeconfig's cluster has both `insecure-skip-tls-verify` and a `certificate-authority`",
            )
            .hint("Remove one of them: with the first, the second would not be looked at."));
        }
        (_, true) => Trust::Anybody,
        (Some(pem), false) => Trust::Authorities(pem),
        (None, false) => Trust::System,
    };
    target.server_name = cluster.tls_server_name.clone().filter(|name| !name.is_empty());
    if let Some(text) = cluster.proxy_url.as_deref().filter(|text| !text.is_empty()) {
        target.proxy = Some(proxy::parse(text, "the kubeconfig's `proxy-url`")?);
    }
    let user = &chosen.user;
    target.acting_for = AuthInfo {
        impersonate: user.impersonate.clone(),
        impersonate_uid: user.impersonate_uid.clone(),
        impersonate_groups: user.impersonate_groups.clone(),
        impersonate_user_extra: user.impersonate_user_extra.clone(),
        ..AuthInfo::default()
    };
    if is_explicit(settings) {
        // One way to say who we are: a file's user is not mixed with arguments.
        return Ok(target);
    }
    let (certificate, key) = (
        pem("client-certificate-data", user.client_certificate_data.as_deref(), user.client_certificate.as_deref())?,
        pem(
            "client-key-data",
            user.client_key_data.as_ref().map(|key| key.expose_secret()),
            user.client_key.as_deref(),
        )?,
    );
    target.identity = both(certificate, key, "client-certificate", "client-key")?;
    target.credential = credential(user, cluster, &target, chosen.user_file, environment)?;
    Ok(target)
}

/// Who the kubeconfig's user is, besides a client certificate.
fn credential(
    user: &AuthInfo,
    cluster: &Cluster,
    target: &Target,
    file: Option<PathBuf>,
    environment: &Environment,
) -> Result<Credential, ProviderError> {
    let token = user.token.as_ref().map(|token| Secret(token.expose_secret().to_owned()));
    let token = token.filter(|token| !token.0.is_empty());
    match (&user.token_file, token) {
        (Some(path), otherwise) if !path.is_empty() => {
            return Ok(Credential::File { path: PathBuf::from(path), otherwise });
        }
        (_, Some(token)) => return Ok(Credential::Token(token)),
        _ => {}
    }
    match (&user.auth_provider, &user.exec) {
        (Some(_), Some(_)) => {
            Err(ProviderError::permanent("the kubeconfig's user has both `exec` and `auth-provider`")
                .hint("Remove one of them."))
        }
        (Some(provider), None) if provider.name == "oidc" => {
            Ok(Credential::Oidc(Box::new(Oidc::new(&provider.config, file, environment)?)))
        }
        (Some(provider), None) => {
            let what =
                format!("the kubeconfig's user has the auth-provider {:?}, which is not supported", provider.name);
            Err(ProviderError::permanent(what).hint(
                "kubectl has none but `oidc` since Kubernetes 1.26. Use an `exec` command, such as \
                 gke-gcloud-auth-plugin or kubelogin.",
            ))
        }
        (None, Some(exec)) => {
            ExecPlugin::from_kubeconfig(exec, cluster, &target.trust, environment).map(Box::new).map(Credential::Exec)
        }
        (None, None) if user.username.is_some() || user.password.is_some() => {
            Err(basic("the kubeconfig's `username` and `password`"))
        }
        (None, None) => Ok(Credential::None),
    }
}

/// Inline data, base64, or a file.
fn pem(field: &'static str, data: Option<&str>, file: Option<&str>) -> Result<Option<Pem>, ProviderError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok();
        return match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Ok(Some(Pem::Text { from: field, text })),
            None => Err(ProviderError::permanent(format!("the kubeconfig's `{field}` is not base64 of PEM text"))
                .hint("`kubectl config set-credentials` or `set-cluster` with --embed-certs writes it.")),
        };
    }
    Ok(file.filter(|file| !file.is_empty()).map(|file| Pem::File(PathBuf::from(file))))
}

fn host(text: &str) -> Result<Uri, ProviderError> {
    // Not repeated where it holds a password.
    let shown = if text.contains('@') { "the host".to_owned() } else { format!("the host {text:?}") };
    let bad = |why: &str| {
        ProviderError::permanent(format!("{shown} is no address of an API server: {why}"))
            .hint("Write it as https://host:port.")
    };
    let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url: Uri = url.parse().map_err(|_| bad("it is no URL"))?;
    if url.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(bad("it holds a user name, and API servers have no basic authentication"));
    }
    if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
        return Err(bad("it is not http:// or https:// with a host"));
    }
    Ok(url)
}

fn is_explicit(settings: &ConnectionSettings) -> bool {
    settings.token.is_some()
        || settings.client_certificate.is_some()
        || settings.client_key.is_some()
        || settings.exec.is_some()
}

fn authenticate(
    target: &mut Target,
    settings: &ConnectionSettings,
    environment: &Environment,
) -> Result<(), ProviderError> {
    if !is_explicit(settings) {
        return Ok(());
    }
    let text = |from: &'static str, text: &str| Pem::Text { from, text: text.to_owned() };
    target.identity = both(
        settings.client_certificate.as_deref().map(|pem| text("client_certificate", pem)),
        settings.client_key.as_ref().map(|key| text("client_key", &key.0)),
        "client_certificate",
        "client_key",
    )?;
    target.credential = match (&settings.token, &settings.exec) {
        (Some(token), _) => Credential::Token(token.clone()),
        (None, Some(exec)) => Credential::Exec(Box::new(ExecPlugin::from_block(exec, environment)?)),
        (None, None) => Credential::None,
    };
    Ok(())
}

fn both(
    certificate: Option<Pem>,
    key: Option<Pem>,
    one: &str,
    other: &str,
) -> Result<Option<(Pem, Pem)>, ProviderError> {
    let incomplete = |set: &str, missing: &str| {
        ProviderError::permanent(format!("`{set}` is set and `{missing}` is not")).hint("Set both, or none.")
    };
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(incomplete(one, other)),
        (None, Some(_)) => Err(incomplete(other, one)),
    }
}

#[cfg(test)]
mod tests;
