//! The simulated fleet as the nodes of a real control plane: kubelets, device plugins, agents, each agent with the rights
//! that it has anywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine_diag::FileId;
use providers_agent_api::LEASE_NAMESPACE;
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Secret};
use providers_sandbox::fleet::{DEFAULT_FLEET, read};
use providers_sandbox::{Joined, Options, Server};
use serde_json::{Value, json};

use super::ControlPlane;
use crate::command::Machine;

/// Of the account that plays nodes and operator. What those do who live in this namespace is not in the audit log.
const ACCOUNT: &str = "/api/v1/namespaces/kube-system/serviceaccounts";

const RIGHTS: &str = "/apis/rbac.authorization.k8s.io/v1";

impl ControlPlane {
    /// A fleet (file name and text; without one that of `-sandbox`) joins, with its world in the folder `dir`. The nodes
    /// are ready when this returns.
    ///
    /// # Panics
    /// When it cannot.
    pub async fn join(&self, dir: &Path, fleet: Option<(&str, &str)>) -> Joined {
        self.namespace(LEASE_NAMESPACE).await;
        let (_, text) = fleet.unwrap_or(DEFAULT_FLEET);
        let mut agents: BTreeMap<String, PathBuf> = BTreeMap::new();
        for node in read(FileId(0), text).unwrap().nodes {
            agents.insert(node.name.clone(), self.agent(&node.name).await);
        }
        let server = Server {
            url: self.url().to_owned(),
            authority: std::fs::read_to_string(self.ca()).unwrap(),
            token: Secret(self.token().await),
        };
        let agent = move |node: &str| {
            let config_paths = vec![agents[node].display().to_string()];
            ConnectionOverride(ConnectionSettings { config_paths, ..ConnectionSettings::default() })
        };
        let joined = Joined::join(dir, fleet, Options::new(Arc::new(Machine), "tests"), server, agent).await;
        joined.unwrap_or_else(|error| panic!("the fleet: {}", engine_diag::chain(&error)))
    }

    /// Somebody who may do everything, and is no user of a test.
    async fn token(&self) -> String {
        self.create(ACCOUNT, json!({"metadata": {"name": "fleet"}})).await;
        let subject = json!([{"kind": "ServiceAccount", "namespace": "kube-system", "name": "fleet"}]);
        self.bind(&format!("{RIGHTS}/clusterrolebindings"), "fleet", "cluster-admin", subject).await;
        let wish = json!({"spec": {"expirationSeconds": 86400}});
        let token = self.create(&format!("{ACCOUNT}/fleet/token"), wish).await;
        token["status"]["token"].as_str().unwrap().to_owned()
    }

    /// The kubeconfig file of a node's agent, who may write what is its node's.
    async fn agent(&self, node: &str) -> PathBuf {
        let name = format!("agent-{node}");
        let reads = ["get", "list", "watch"];
        let rule = |group: &str, resource: &str, verbs: &[&str], is_own: bool| {
            let mut rule = json!({"apiGroups": [group], "resources": [resource], "verbs": verbs});
            if is_own {
                rule["resourceNames"] = json!([node]);
            }
            rule
        };
        let everywhere = [
            rule("", "nodes", &reads, true),
            rule("sliceform.io", "gpunodes", &reads, true),
            rule("sliceform.io", "gpunodes", &["create"], false),
            rule("sliceform.io", "gpunodes/status", &["get", "update", "patch"], true),
        ];
        let group = "coordination.k8s.io";
        let leases = [
            rule(group, "leases", &["get", "list", "watch", "update", "patch"], true),
            rule(group, "leases", &["create"], false),
        ];
        let subject = json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}]);
        for (rules, role, place) in [
            (json!(everywhere), name.clone(), "clusterrolebindings".to_owned()),
            (json!(leases), format!("{name}-leases"), format!("namespaces/{LEASE_NAMESPACE}/rolebindings")),
        ] {
            let path = format!("{RIGHTS}/clusterroles");
            self.create(&path, json!({"metadata": {"name": role}, "rules": rules})).await;
            self.bind(&format!("{RIGHTS}/{place}"), &role, &role, subject.clone()).await;
        }
        self.user(&name, &[]).await
    }

    async fn bind(&self, path: &str, name: &str, role: &str, subjects: Value) {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
        self.create(path, json!({"metadata": {"name": name}, "roleRef": role, "subjects": subjects})).await;
    }

    async fn create(&self, path: &str, object: Value) -> Value {
        let request = http::Request::post(path).header("content-type", "application/json");
        self.client().await.request(request.body(object.to_string().into_bytes()).unwrap()).await.unwrap()
    }
}
