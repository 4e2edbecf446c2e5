//! From a configuration through plan and apply: what the engine and the provider do together.

use std::{collections::BTreeMap, sync::Arc};

use engine_apply::{Apply, apply};
use engine_diag::{Diagnostics, Sources};
use engine_lang::{
    config::{SourceTree, load},
    eval::Files,
};
use engine_model::{
    change::Action,
    host::FixedHost,
    name::PlanDigest,
    plan::{Plan, PlanMode},
};
use engine_plan::{Given, PlanInput, Program, Providers, plan};
use engine_value::Value;
use http::Method;
use providers_api::{Call, Provider, Silent};
use state::{Fence, Lineage, LockInfo, MemoryStore, Snapshot, Store};
use tokio_util::sync::CancellationToken;

use crate::world::World;

const CONFIGURATION: &str = r#"
    variable "password" {
      sensitive = true
    }

    resource "kubernetes_namespace" "team" {
      metadata {
        name   = "team-a"
        labels = { team = "a" }
      }
    }

    resource "kubernetes_manifest" "map" {
      manifest = {
        apiVersion = "v1"
        kind       = "ConfigMap"
        metadata   = { name = "settings", namespace = kubernetes_namespace.team.metadata[0].name }
        data       = { uid = kubernetes_namespace.team.metadata[0].uid, hint = var.password }
      }
    }

    resource "kubernetes_manifest" "secret" {
      manifest = {
        apiVersion = "v1"
        kind       = "Secret"
        metadata   = { name = "login", namespace = kubernetes_namespace.team.id }
        stringData = { token = "plain-token" }
      }
    }

    resource "kubernetes_manifest" "definition" {
      manifest = {
        apiVersion = "apiextensions.k8s.io/v1"
        kind       = "CustomResourceDefinition"
        metadata   = { name = "widgets.example.com" }
        spec = {
          group = "example.com"
          scope = "Cluster"
          names = { plural = "widgets", singular = "widget", kind = "Widget", listKind = "WidgetList" }
          versions = [{
            name    = "v1"
            served  = true
            storage = true
            schema = { openAPIV3Schema = {
              type       = "object"
              properties = { spec = { type = "object", properties = { size = { type = "integer" } } } }
            } }
          }]
        }
      }
    }

    resource "kubernetes_manifest" "widget" {
      depends_on = [kubernetes_manifest.definition]
      manifest = {
        apiVersion = "example.com/v1"
        kind       = "Widget"
        metadata   = { name = "w" }
        spec       = { size = 3 }
      }
    }
"#;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("there are no files".into())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

pub(crate) struct Run {
    pub(crate) program: Arc<Program>,
    sources: Sources,
    pub(crate) store: Arc<MemoryStore>,
    fence: Fence,
    cancel: CancellationToken,
}

impl Run {
    pub(crate) async fn new(world: &World, text: &str) -> Self {
        let mut tree = SourceTree::new();
        tree.insert("main.tf", text.as_bytes().to_vec());
        let mut sources = Sources::new();
        let (config, diagnostics) = load(&tree, &mut sources);
        no_errors(&diagnostics);
        let program = Program {
            config,
            variables: BTreeMap::from([("password".into(), Given::Value(Value::from("hunter2")))]),
            providers: Providers::new([world.another_provider() as Arc<dyn Provider>]),
            files: Arc::new(NoFiles),
            directory: "/home/platform".into(),
            workspace: "default".into(),
        };
        let store = Arc::new(MemoryStore::new(None));
        let fence = store.lock(&LockInfo::new(&FixedHost::new(0), "apply", "test")).await.unwrap();
        Self { program: Arc::new(program), sources, store, fence, cancel: CancellationToken::new() }
    }

    pub(crate) async fn plan(&self, mode: PlanMode) -> Plan {
        let (plan, diagnostics) = self.try_plan(mode).await;
        no_errors(&diagnostics);
        plan
    }

    /// A plan as far as it goes, and what is wrong.
    pub(crate) async fn try_plan(&self, mode: PlanMode) -> (Plan, Diagnostics) {
        let loaded = self.store.load().await.unwrap();
        let snapshot = loaded.fold().unwrap().unwrap_or_else(|| Snapshot::new(Lineage("test".into())));
        let host = FixedHost::new(0);
        let input = PlanInput {
            program: self.program.clone(),
            sources: &self.sources,
            snapshot: &snapshot,
            identity: loaded.identity(),
            mode,
            refresh: true,
            targets: Vec::new(),
            replace: Vec::new(),
            parallelism: 10,
            sandbox: true,
            events: &|_| {},
        };
        let output = plan(input, Call { progress: &Silent, cancel: &self.cancel, host: &host }).await;
        (output.plan, output.diagnostics)
    }

    pub(crate) async fn apply(&self, plan: Plan) {
        let loaded = self.store.load().await.unwrap();
        let request = Apply {
            plan: Arc::new(plan),
            digest: PlanDigest::from("p"),
            program: self.program.clone(),
            providers: Arc::new(self.program.providers.clone()),
            store: self.store.clone(),
            fence: self.fence,
            operation: "apply".to_owned(),
            who: "test".to_owned(),
            host: Arc::new(FixedHost::new(0)),
            events: Arc::new(|_| {}),
            cancel: self.cancel.clone(),
            parallelism: 10,
        };
        no_errors(&apply(request, &loaded).await.unwrap().diagnostics);
    }
}

fn no_errors(diagnostics: &Diagnostics) {
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
}

pub(crate) fn actions(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter().filter(|change| change.action != Action::NoOp);
    changes.map(|change| format!("{} {}", change.addr, change.action.names().join("+"))).collect()
}

#[tokio::test]
async fn a_configuration_is_applied_changes_nothing_twice_and_is_given_back() {
    let world = World::new().await;
    let run = Run::new(&world, CONFIGURATION).await;
    let first = run.plan(PlanMode::Normal).await;
    assert_eq!(
        actions(&first),
        [
            "kubernetes_manifest.definition create",
            "kubernetes_manifest.map create",
            "kubernetes_manifest.secret create",
            "kubernetes_manifest.widget create",
            "kubernetes_namespace.team create",
        ]
    );
    let secret = first.changes.iter().find(|change| &*change.addr.name == "secret").unwrap();
    let data = |attribute: &str, part: &str| secret.after.get(attribute).unwrap().get(part).unwrap().clone();
    assert!(data("manifest", "stringData").marks.sensitive && data("object", "data").marks.sensitive);

    run.apply(first).await;
    let map = world.live("/api/v1/namespaces/team-a/configmaps/settings").unwrap();
    assert_eq!(map["data"]["uid"], world.live("/api/v1/namespaces/team-a").unwrap()["metadata"]["uid"]);
    let second = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&second), [""; 0]);
    // The plan of `object` was not known, so that the mark is the one that the state has kept.
    let map = second.changes.iter().find(|change| &*change.addr.name == "map").unwrap();
    for attribute in ["manifest", "object"] {
        let data = map.before.get(attribute).unwrap().get("data").unwrap();
        assert!(data.get("hint").unwrap().marks.sensitive, "{attribute} tells a secret");
        assert!(!data.get("uid").unwrap().contains_sensitive(), "{attribute} hides what is no secret");
    }
    let refreshed = run.plan(PlanMode::RefreshOnly).await;
    assert_eq!(refreshed.drift, [], "a drift run right after it is clean");

    world.other(Method::DELETE, "/apis/example.com/v1/widgets/w", None);
    let repair = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&repair), ["kubernetes_manifest.widget create"]);
    run.apply(repair).await;
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);

    run.apply(run.plan(PlanMode::Destroy).await).await;
    for path in
        ["/api/v1/namespaces/team-a", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"]
    {
        assert_eq!(world.live(path), None, "{path}");
    }
    let left = run.store.load().await.unwrap().fold().unwrap().unwrap();
    assert_eq!(left.resources().len(), 0);
}
