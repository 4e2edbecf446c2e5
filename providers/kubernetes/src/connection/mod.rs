//! The connection to one cluster: made when it is first needed, shared by everybody who has the same configuration.
//!
//! Chooses nothing by itself: what is not configured is an error that says where it looked.

mod kubeconfig;
mod schema;
mod settings;

use engine_model::name::ClusterIdentity;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use providers_api::{ErrorKind, ProviderError};
use tokio::sync::OnceCell;

pub use schema::{connection_attributes, connection_blocks};
pub use settings::{ConnectionSettings, Environment, Exec, Secret};

use crate::error::provider_error;

/// Takes the place of every configured connection: what `-sandbox` gives to each provider that speaks to a cluster.
#[derive(Clone, Debug)]
pub struct ConnectionOverride(pub ConnectionSettings);

impl ConnectionOverride {
    /// A connection by exactly these settings, whatever the environment says.
    pub fn connection(&self) -> Connection {
        Connection::new(self.0.clone(), Environment::default())
    }
}

/// The connection to one cluster.
pub struct Connection {
    source: Source,
    client: OnceCell<(Client, String)>,
}

enum Source {
    Settings(Box<ConnectionSettings>, Environment),
    Config(Box<kube::Config>),
    /// The names of the arguments that are not known yet.
    Unknown(Vec<String>),
}

impl Connection {
    /// A connection by these settings; what they leave out is looked for in the environment. Connects to nothing yet.
    pub fn new(settings: ConnectionSettings, environment: Environment) -> Self {
        Self::from(Source::Settings(Box::new(settings), environment))
    }

    /// A connection by the client's own configuration, such as that of a pod (`kube::Config::incluster`).
    pub fn with_config(config: kube::Config) -> Self {
        Self::from(Source::Config(Box::new(config)))
    }

    /// A connection whose configuration is not known yet: every call answers [`ErrorKind::Unreachable`].
    pub fn unknown(arguments: Vec<String>) -> Self {
        Self::from(Source::Unknown(arguments))
    }

    fn from(source: Source) -> Self {
        Self { source, client: OnceCell::new() }
    }

    /// The client, made at the first call. It never retries by itself: [`providers_api::retry`] does.
    ///
    /// # Errors
    /// Nothing is configured, what is configured cannot be read, or it is not known yet.
    pub async fn client(&self) -> Result<Client, ProviderError> {
        Ok(self.connected().await?.0.clone())
    }

    /// The cluster behind it: the UID of its namespace `kube-system`.
    ///
    /// # Errors
    /// It does not answer, or does not let us read that namespace.
    pub async fn identity(&self) -> Result<ClusterIdentity, ProviderError> {
        let doing = "cannot read namespace kube-system, whose UID tells clusters apart";
        let api: Api<Namespace> = Api::all(self.client().await?);
        let namespace = api.get("kube-system").await.map_err(|error| self.error(doing, &error))?;
        let uid = namespace.metadata.uid.ok_or_else(|| ProviderError::permanent(format!("{doing}: it has no UID")))?;
        Ok(ClusterIdentity::from(uid))
    }

    /// What an error of the client means, with the host that was spoken to. `doing` as in [`provider_error`].
    pub fn error(&self, doing: &str, error: &kube::Error) -> ProviderError {
        provider_error(doing, self.host(), error)
    }

    fn host(&self) -> &str {
        self.client.get().map_or("the API server", |(_, host)| host)
    }

    async fn connected(&self) -> Result<&(Client, String), ProviderError> {
        self.client.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<(Client, String), ProviderError> {
        let mut config = match &self.source {
            Source::Settings(settings, environment) => kubeconfig::load(settings, environment).await?,
            Source::Config(config) => config.as_ref().clone(),
            Source::Unknown(arguments) => {
                let what = format!("the cluster is not known yet: {} is unknown", arguments.join(", "));
                return Err(ProviderError::new(ErrorKind::Unreachable, what));
            }
        };
        config.default_retry = false;
        // Several crates may bring providers of cryptography; the first to choose wins, and they are all this one.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let host = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|error| {
            ProviderError::permanent(format!("cannot set up the client for {host}")).caused_by(error)
        })?;
        Ok((client, host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unknown_connection_is_unreachable_and_says_why() {
        let connection = Connection::unknown(vec!["host".to_owned()]);
        let error = connection.identity().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert_eq!(error.to_string(), "the cluster is not known yet: host is unknown");
    }

    #[tokio::test]
    async fn a_host_where_nobody_listens_is_unreachable_by_name() {
        // A port that was free a moment ago: nobody listens there.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let settings = ConnectionSettings { host: Some(format!("http://127.0.0.1:{port}")), ..Default::default() };
        let error = Connection::new(settings, Environment::default()).identity().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.to_string().ends_with(&format!("http://127.0.0.1:{port} refuses connections")), "{error}");
    }
}
