//! A sandbox in a folder of its own, and clients for it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine_model::host::{FixedHost, Host};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use providers_agent_api::{GpuNode, User};
use providers_sandbox::command::{Output, Started, exec, run};
use providers_sandbox::{Options, Sandbox};
use tempfile::TempDir;

/// Two nodes to cut, one that cannot be cut.
pub(crate) const FLEET: &str = r#"
node "a" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "b" {
  labels = { "example.com/pool" = "dev" }
  card "H100-80GB-HBM3" { instances = ["3g.40gb:4", "1g.10gb:0"] }
}
node "c" {
  card "L4" {}
}
"#;

/// One node, where no card matters.
pub(crate) const ONE: &str = r#"
node "a" {
  card "L4" {}
}
"#;

/// Nothing in these tests takes so long; what does is a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn options() -> Options {
    let host: Arc<dyn Host> = Arc::new(FixedHost::new(1_000_000));
    Options::new(host, "test")
}

/// A sandbox whose folder goes with it.
pub(crate) struct Setting {
    pub(crate) sandbox: Sandbox,
    pub(crate) dir: TempDir,
}

impl Setting {
    pub(crate) async fn new(fleet: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sandbox = open(dir.path(), Some(fleet)).await;
        Self { sandbox, dir }
    }

    /// Closes the sandbox and opens it again.
    pub(crate) async fn reopen(self) -> Self {
        self.sandbox.close().await.unwrap();
        let sandbox = open(self.dir.path(), None).await;
        Self { sandbox, dir: self.dir }
    }

    pub(crate) async fn close(self) {
        self.sandbox.close().await.unwrap();
    }

    pub(crate) async fn client(&self) -> Client {
        self.sandbox.connection().connection().client().await.unwrap()
    }

    pub(crate) async fn node(&self, name: &str) -> Node {
        Api::<Node>::all(self.client().await).get(name).await.unwrap()
    }

    pub(crate) async fn gpu_node(&self, name: &str) -> GpuNode {
        Api::<GpuNode>::all(self.client().await).get(name).await.unwrap()
    }

    pub(crate) async fn pods(&self, namespace: &str) -> Api<Pod> {
        Api::namespaced(self.client().await, namespace)
    }

    /// Runs a command given in one line.
    pub(crate) async fn exec(&self, node: &str, command: &str) -> Output {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        exec(&self.sandbox, node, &words).await.unwrap()
    }

    /// Starts a pod in namespace `team` that asks for one device; `annotations` in YAML.
    pub(crate) async fn run(&self, name: &str, resource: &str, annotations: &str) -> Result<String, String> {
        let started = run(&self.sandbox, "pod.yaml", &pod(name, resource, annotations)).await.unwrap();
        let [Started { namespace, name: found, node }] = started.as_slice() else { unreachable!("one pod was run") };
        assert_eq!((namespace.as_str(), found.as_str()), ("team", name));
        node.clone()
    }

    /// Waits until a pod is as wanted.
    pub(crate) async fn until(&self, name: &str, wanted: impl Fn(Option<&Pod>) -> bool) {
        let pods = self.pods("team").await;
        tokio::time::timeout(PATIENCE, await_condition(pods, name, wanted)).await.unwrap().unwrap();
    }

    pub(crate) async fn settle(&self) {
        self.sandbox.script().unwrap().settle().await.unwrap();
    }

    /// Who uses what on a node: `card 0: team/p`, `1g.10gb at 0: process 7`.
    pub(crate) async fn users(&self, node: &str) -> Vec<String> {
        let status = self.gpu_node(node).await.status.unwrap();
        let name = |user: &User| match user {
            User::Pod { namespace, name } => format!("{namespace}/{name}"),
            User::Process { pid, .. } => format!("process {pid}"),
        };
        let mut all = Vec::new();
        for card in &status.cards {
            all.extend(card.used_by.iter().map(|user| format!("card {}: {}", card.index, name(user))));
            for one in &card.instances {
                all.extend(one.used_by.iter().map(|user| format!("{} at {}: {}", one.profile, one.start, name(user))));
            }
        }
        all
    }
}

pub(crate) async fn open(dir: &Path, fleet: Option<&str>) -> Sandbox {
    Sandbox::open(dir, fleet.map(|text| ("fleet.hcl", text)), options()).await.unwrap()
}

pub(crate) fn pod(name: &str, resource: &str, annotations: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: team\n  name: {name}\n  annotations: {{{annotations}}}\n\
         spec:\n  containers:\n  - name: main\n    image: example.com/i:1\n    resources:\n      limits: {{{resource}: 1}}\n"
    )
}

/// What a node offers of NVIDIA's resources: `name=count`.
pub(crate) fn offered(node: &Node) -> Vec<String> {
    let allocatable = node.status.iter().flat_map(|status| &status.allocatable).flatten();
    let nvidia = allocatable.filter_map(|(name, amount)| Some((name.strip_prefix("nvidia.com/")?, &amount.0)));
    nvidia.map(|(name, amount)| format!("{name}={amount}")).collect()
}

pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}
