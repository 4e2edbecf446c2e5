//! How a cluster is reached, as the provider block or the environment says it. Reads no file.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use engine_value::{Data, Value};

/// The environment that a command runs in: never read from the process behind the caller's back.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// What relative paths are relative to.
    pub directory: PathBuf,
    /// The folder in which what clusters tell about their kinds is kept from run to run; `None`: nowhere.
    pub cache: Option<PathBuf>,
}

impl Environment {
    /// The value of a variable, where it is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// Text that is never shown, not even by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

/// How a cluster is reached. Explicit arguments win over those of a kubeconfig.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// `https://host:port`; without a scheme it is HTTPS.
    pub host: Option<String>,
    /// A bearer token.
    pub token: Option<Secret>,
    /// For basic authentication, which is refused.
    pub username: Option<String>,
    /// For basic authentication, which is refused.
    pub password: Option<Secret>,
    /// Accept any certificate of the server.
    pub insecure: Option<bool>,
    /// The name in the server's certificate, where it is not the host.
    pub tls_server_name: Option<String>,
    /// PEM.
    pub client_certificate: Option<String>,
    /// PEM.
    pub client_key: Option<Secret>,
    /// PEM: who signed the server's certificate.
    pub cluster_ca_certificate: Option<String>,
    /// Kubeconfig files; the first to say something wins.
    pub config_paths: Vec<String>,
    /// The context to use instead of the current one.
    pub config_context: Option<String>,
    /// The user to use instead of the context's.
    pub config_context_auth_info: Option<String>,
    /// The cluster to use instead of the context's.
    pub config_context_cluster: Option<String>,
    /// The proxy in front of the API server: `http://`, `https://` or `socks5://`. It may hold a password.
    pub proxy_url: Option<Secret>,
    /// The cluster that this process runs in, by its pod's service account.
    pub in_cluster_config: Option<bool>,
    /// A command that prints credentials.
    pub exec: Option<Exec>,
}

/// A command that prints credentials, as kubeconfig files name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exec {
    /// `client.authentication.k8s.io/v1` or the like.
    pub api_version: String,
    /// What to run.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables for it, besides those of this process.
    pub env: BTreeMap<String, String>,
}

impl ConnectionSettings {
    /// What a provider block says: an object with the arguments of [`super::connection_attributes`] (others are not
    /// looked at). `Err` names the arguments that are not known yet.
    ///
    /// # Errors
    /// At least one argument is unknown.
    pub fn from_config(config: &Value) -> Result<Self, Vec<String>> {
        let Data::Object(attributes) = &config.data else {
            return match config.data {
                Data::Unknown(_) => Err(vec!["the provider block".to_owned()]),
                _ => Ok(Self::default()),
            };
        };
        let known = super::connection_attributes();
        let blocks = super::connection_blocks();
        let unknown: Vec<String> = attributes
            .iter()
            .filter(|(name, _)| known.contains_key(*name) || blocks.contains_key(*name))
            .filter(|(_, value)| has_unknown(value))
            .map(|(name, _)| name.to_string())
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let get = |name: &str| attributes.get(name).map(|value| &value.data);
        let string = |name: &str| get(name).and_then(text);
        let mut config_paths: Vec<String> = string("config_path").into_iter().collect();
        config_paths.extend(get("config_paths").map(texts).unwrap_or_default());
        Ok(Self {
            host: string("host"),
            token: string("token").map(Secret),
            username: string("username"),
            password: string("password").map(Secret),
            insecure: get("insecure").and_then(boolean),
            tls_server_name: string("tls_server_name"),
            client_certificate: string("client_certificate"),
            client_key: string("client_key").map(Secret),
            cluster_ca_certificate: string("cluster_ca_certificate"),
            config_paths,
            config_context: string("config_context"),
            config_context_auth_info: string("config_context_auth_info"),
            config_context_cluster: string("config_context_cluster"),
            proxy_url: string("proxy_url").map(Secret),
            in_cluster_config: get("in_cluster_config").and_then(boolean),
            exec: get("exec").and_then(exec),
        })
    }

    /// The same, with what is not set taken from the `KUBE_…` variables that HashiCorp's provider reads.
    #[must_use]
    pub fn or_variables(mut self, variables: &BTreeMap<String, String>) -> Self {
        let variable = |name: &str| variables.get(name).filter(|text| !text.is_empty()).cloned();
        let or = |set: Option<String>, name: &str| set.or_else(|| variable(name));
        self.host = or(self.host, "KUBE_HOST");
        self.username = or(self.username, "KUBE_USER");
        self.password = self.password.or_else(|| variable("KUBE_PASSWORD").map(Secret));
        self.token = self.token.or_else(|| variable("KUBE_TOKEN").map(Secret));
        let flag = |name: &str| Some(matches!(variable(name)?.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True"));
        self.insecure = self.insecure.or_else(|| flag("KUBE_INSECURE"));
        self.in_cluster_config = self.in_cluster_config.or_else(|| flag("KUBE_IN_CLUSTER_CONFIG"));
        self.proxy_url = self.proxy_url.or_else(|| variable("KUBE_PROXY_URL").map(Secret));
        self.tls_server_name = or(self.tls_server_name, "KUBE_TLS_SERVER_NAME");
        self.client_certificate = or(self.client_certificate, "KUBE_CLIENT_CERT_DATA");
        self.client_key = self.client_key.or_else(|| variable("KUBE_CLIENT_KEY_DATA").map(Secret));
        self.cluster_ca_certificate = or(self.cluster_ca_certificate, "KUBE_CLUSTER_CA_CERT_DATA");
        self.config_context = or(self.config_context, "KUBE_CTX");
        self.config_context_auth_info = or(self.config_context_auth_info, "KUBE_CTX_AUTH_INFO");
        self.config_context_cluster = or(self.config_context_cluster, "KUBE_CTX_CLUSTER");
        if self.config_paths.is_empty() {
            self.config_paths = variable("KUBE_CONFIG_PATH").into_iter().collect();
        }
        if self.config_paths.is_empty() {
            self.config_paths = variable("KUBE_CONFIG_PATHS").map(|list| split_paths(&list)).unwrap_or_default();
        }
        self
    }
}

/// The paths of a list as the system writes it.
pub(super) fn split_paths(list: &str) -> Vec<String> {
    let paths = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty());
    paths.map(|path| path.to_string_lossy().into_owned()).collect()
}

fn has_unknown(value: &Value) -> bool {
    match &value.data {
        Data::Unknown(_) => true,
        Data::List(_, parts) | Data::Set(_, parts) | Data::Tuple(parts) => parts.iter().any(has_unknown),
        Data::Map(_, parts) | Data::Object(parts) => parts.values().any(has_unknown),
        _ => false,
    }
}

fn text(data: &Data) -> Option<String> {
    match data {
        Data::String(text) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    }
}

fn boolean(data: &Data) -> Option<bool> {
    match data {
        Data::Bool(value) => Some(*value),
        _ => None,
    }
}

fn texts(data: &Data) -> Vec<String> {
    match data {
        Data::List(_, parts) | Data::Tuple(parts) => parts.iter().filter_map(|part| text(&part.data)).collect(),
        _ => Vec::new(),
    }
}

fn exec(data: &Data) -> Option<Exec> {
    let Data::List(_, blocks) = data else { return None };
    let Data::Object(block) = &blocks.first()?.data else { return None };
    let get = |name: &str| block.get(name).map(|value| &value.data);
    let env = match get("env") {
        Some(Data::Map(_, entries)) => {
            entries.iter().filter_map(|(name, value)| Some((name.to_string(), text(&value.data)?))).collect()
        }
        _ => BTreeMap::new(),
    };
    Some(Exec {
        api_version: get("api_version").and_then(text)?,
        command: get("command").and_then(text)?,
        args: get("args").map(texts).unwrap_or_default(),
        env,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine_value::{Marks, Type, Unknown};

    use super::*;

    fn object(attributes: &[(&str, Data)]) -> Value {
        let value = |data: &Data| Value { data: data.clone(), marks: Marks::NONE };
        let attributes = attributes.iter().map(|(name, data)| ((*name).into(), value(data))).collect();
        Value { data: Data::Object(Arc::new(attributes)), marks: Marks::NONE }
    }

    fn string(text: &str) -> Data {
        Data::String(text.into())
    }

    #[test]
    fn arguments_win_over_variables() {
        let config = object(&[("host", string("https://a")), ("token", Data::Null(Type::String))]);
        let variables = [("KUBE_HOST", "https://b"), ("KUBE_TOKEN", "t"), ("KUBE_INSECURE", "true")];
        let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let settings = ConnectionSettings::from_config(&config).unwrap().or_variables(&variables);
        assert_eq!(settings.host.as_deref(), Some("https://a"));
        assert_eq!(settings.token, Some(Secret("t".to_owned())));
        assert_eq!(settings.insecure, Some(true));
    }

    #[test]
    fn unknown_arguments_are_named() {
        let unknown = Unknown { ty: Type::String, refinements: Default::default(), origin: None };
        let config = object(&[("host", Data::Unknown(Arc::new(unknown))), ("config_path", string("~/x"))]);
        assert_eq!(ConnectionSettings::from_config(&config), Err(vec!["host".to_owned()]));
    }

    #[test]
    fn secrets_are_not_in_debug_output() {
        let settings = ConnectionSettings { token: Some(Secret("hunter2".to_owned())), ..Default::default() };
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
