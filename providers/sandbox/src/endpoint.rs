//! How commands find a sandbox that another process serves: a file in its folder, for its owner's eyes only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Secret};
use serde::{Deserialize, Serialize};

use crate::private;

/// A server on this machine answers at once, or it is not one.
const PATIENCE: Duration = Duration::from_secs(5);

/// A sandbox that is served.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Endpoint {
    pub(crate) server: String,
    /// PEM.
    pub(crate) authority: String,
    pub(crate) token: String,
    pub(crate) kubeconfig: String,
    /// The fleet's file and what tells it from others.
    pub(crate) fleet: String,
    pub(crate) fleet_digest: String,
}

impl Endpoint {
    /// Says where the sandbox is, with mode 0600: the token is in it.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        private::write(&path(dir), &serde_json::to_vec(self)?)
    }

    /// What a server has left when it is gone.
    pub(crate) fn remove(dir: &Path) -> io::Result<()> {
        match fs::remove_file(path(dir)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The sandbox that is served from that folder, if one answers.
    pub(crate) async fn find(dir: &Path) -> Option<Self> {
        let endpoint: Self = serde_json::from_slice(&fs::read(path(dir)).ok()?).ok()?;
        let connection = endpoint.connection().connection();
        let answer = tokio::time::timeout(PATIENCE, connection.identity()).await;
        answer.ok()?.ok().map(|_| endpoint)
    }

    pub(crate) fn connection(&self) -> ConnectionOverride {
        ConnectionOverride(ConnectionSettings {
            host: Some(self.server.clone()),
            token: Some(Secret(self.token.clone())),
            cluster_ca_certificate: Some(self.authority.clone()),
            ..ConnectionSettings::default()
        })
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("endpoint.json")
}
