//! The connection to one cluster: made when it is first needed, shared by everybody who has the same configuration.
//!
//! Chooses nothing by itself: what is not configured is an error that says where it looked.

mod credentials;
mod kubeconfig;
mod load;
mod proxy;
mod schema;
mod settings;
mod target;
mod transport;

use std::{path::PathBuf, sync::Arc};

use engine_model::name::ClusterIdentity;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use providers_api::{ErrorKind, ProviderError};
use tokio::sync::OnceCell;

pub use schema::{connection_attributes, connection_blocks};
pub use settings::{ConnectionSettings, Environment, Exec, Secret};

use crate::error::provider_error;
use transport::Transport;

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
    connected: OnceCell<Connected>,
}

struct Connected {
    client: Client,
    transport: Arc<Transport>,
    /// The address, for people.
    host: String,
    /// The digest of address and authorities, by which what the cluster said is kept.
    digest: String,
}

enum Source {
    Settings(Box<ConnectionSettings>, Environment),
    /// The names of the arguments that are not known yet.
    Unknown(Vec<String>),
}

impl Connection {
    /// A connection by these settings; what they leave out is looked for in the environment. Connects to nothing yet.
    pub fn new(settings: ConnectionSettings, environment: Environment) -> Self {
        Self::from(Source::Settings(Box::new(settings), environment))
    }

    /// A connection whose configuration is not known yet: every call answers [`ErrorKind::Unreachable`].
    pub fn unknown(arguments: Vec<String>) -> Self {
        Self::from(Source::Unknown(arguments))
    }

    /// The names of the arguments that are not known yet: the cluster is yet to be made. `None`: all are known.
    pub(crate) fn unknown_arguments(&self) -> Option<&[String]> {
        match &self.source {
            Source::Unknown(arguments) => Some(arguments),
            Source::Settings(..) => None,
        }
    }

    fn from(source: Source) -> Self {
        Self { source, connected: OnceCell::new() }
    }

    /// The client, made at the first call. It never retries by itself: [`providers_api::retry`] does.
    ///
    /// # Errors
    /// Nothing is configured, what is configured cannot be read, or it is not known yet.
    pub async fn client(&self) -> Result<Client, ProviderError> {
        Ok(self.connected().await?.client.clone())
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
        let connected = self.connected.get();
        let host = connected.map_or("the API server", |connected| connected.host.as_str());
        let error = provider_error(doing, host, error);
        // A server that has answered before and does not now is restarting, as far as anybody knows; one that never has
        // is the wrong one.
        let answered = connected.is_some_and(|connected| connected.transport.has_answered());
        match error.kind {
            ErrorKind::Unreachable if answered => ProviderError { kind: ErrorKind::Transient { after: None }, ..error },
            _ => error,
        }
    }

    /// The folder in which what this cluster says of its kinds is kept from run to run, and the digest of the cluster's
    /// address and authorities; `None`: nothing is kept.
    pub(crate) async fn cache(&self) -> Option<(PathBuf, String)> {
        let Source::Settings(_, environment) = &self.source else { return None };
        Some((environment.cache.clone()?, self.connected().await.ok()?.digest.clone()))
    }

    async fn connected(&self) -> Result<&Connected, ProviderError> {
        self.connected.get_or_try_init(async || self.connect()).await
    }

    fn connect(&self) -> Result<Connected, ProviderError> {
        let target = match &self.source {
            Source::Settings(settings, environment) => load::load(settings, environment)?,
            Source::Unknown(arguments) => {
                let what = format!("the cluster is not known yet: {} is unknown", arguments.join(", "));
                return Err(ProviderError::new(ErrorKind::Unreachable, what));
            }
        };
        let host = target.url.to_string().trim_end_matches('/').to_owned();
        let digest = target.digest()?;
        let transport = Transport::new(target);
        Ok(Connected { client: transport.client(), transport, host, digest })
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
