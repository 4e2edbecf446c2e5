//! Who speaks to the server.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::ControlPlane;

impl ControlPlane {
    /// A client of a member of `system:masters`, made for this runtime.
    ///
    /// # Panics
    /// When the kubeconfig file cannot be read.
    pub async fn client(&self) -> Client {
        self.client_of(self.kubeconfig()).await
    }

    /// A client by a kubeconfig file. It does not try again what the server refuses: a 429 is an answer here.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub async fn client_of(&self, kubeconfig: &Path) -> Client {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }

    /// Makes a user by a client certificate; what they may do is up to RBAC and their groups. The answer is the path of
    /// their kubeconfig file. A user of one's own also finds one's own requests in the audit log.
    ///
    /// # Panics
    /// When a name has white space.
    pub async fn user(&self, name: &str, groups: &[&str]) -> PathBuf {
        self.user_for(name, groups, "24h").await
    }

    /// A user whose certificate ends after a while, as Go writes it (`5s`).
    ///
    /// # Panics
    /// When a name has white space, or the time is none.
    pub async fn user_for(&self, name: &str, groups: &[&str], lifetime: &str) -> PathBuf {
        assert!(!name.contains(char::is_whitespace), "{name:?}");
        let line = format!("user {name} {lifetime} {}", groups.join(" "));
        let answer = self.tell(line).await;
        answer["kubeconfig"].as_str().map(PathBuf::from).unwrap()
    }
}
