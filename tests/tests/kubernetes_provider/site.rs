//! An API server to run a configuration against, and those who use it beside us.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use engine_diag::Diagnostics;
use engine_model::{
    change::ResourceChange,
    plan::{Plan, PlanMode},
};
use engine_value::Value;
use http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use providers_api::Provider;
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Environment, KubernetesProvider};
use providers_sandbox::{
    api::{AUTHENTICATED, Clock, Rbac, Running, Server, Setup, User},
    store::Store,
};
use serde_json::{Value as Json, json};
use tests::control_plane::ControlPlane;

use crate::run::{Run, actions};

/// What somebody may do: API group, plural, verbs.
pub(crate) type Rule = (&'static str, &'static str, &'static [&'static str]);

/// An API server, and a namespace of our own in it.
pub(crate) struct Site {
    /// A namespace that is there and empty; also a part of names that must not meet those of other tests.
    pub(crate) namespace: String,
    admin: PathBuf,
    client: kube::Client,
    place: Place,
}

enum Place {
    Sandbox { folder: tempfile::TempDir, running: Box<Running> },
    Real(ControlPlane),
}

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> jiff::Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }
}

/// Runs a story against every API server that there is.
pub(crate) async fn everywhere(story: impl AsyncFn(&Site)) {
    story(&Site::sandbox().await).await;
    if let Some(plane) = ControlPlane::shared().await {
        story(&Site::real(plane).await).await;
    }
}

impl Site {
    pub(crate) async fn sandbox() -> Self {
        let authorizer = Arc::new(Rbac);
        let setup = Setup { seed: 7, clock: Arc::new(Still), authorizer, admission: Vec::new(), graceful_pods: false };
        let running = Server::start(Arc::new(Store::in_memory()), setup).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let admin = folder.path().join("admin");
        std::fs::write(&admin, running.kubeconfig(&User::admin("admin"))).unwrap();
        let client = client(&admin).await;
        Self::with(admin, client, Place::Sandbox { folder, running: Box::new(running) }).await
    }

    pub(crate) async fn real(plane: ControlPlane) -> Self {
        let (admin, client) = (plane.kubeconfig().to_owned(), plane.client().await);
        Self::with(admin, client, Place::Real(plane)).await
    }

    async fn with(admin: PathBuf, client: kube::Client, place: Place) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let namespace = format!("pain-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let site = Self { namespace, admin, client, place };
        match &site.place {
            Place::Sandbox { .. } => {
                let body = json!({"metadata": {"name": site.namespace}});
                _ = site.other(Method::POST, "/api/v1/namespaces", Some(body)).await;
            }
            Place::Real(plane) => plane.namespace(&site.namespace).await,
        }
        site
    }

    /// Somebody else asks the API, as the field manager `somebody`.
    pub(crate) async fn other(&self, method: Method, path: &str, body: Option<Json>) -> Json {
        self.try_other(method, path, body).await.unwrap()
    }

    /// Another manager makes or changes an object, as tools do that know nothing of server-side apply.
    pub(crate) async fn write_as(&self, manager: &str, method: Method, path: &str, body: &Json) {
        let uri = format!("{path}?fieldManager={manager}");
        _ = self.send(method, &uri, "application/json", Some(body)).await.unwrap();
    }

    /// Another manager applies an object on the server's side.
    pub(crate) async fn apply_as(&self, manager: &str, path: &str, body: &Json) {
        let uri = format!("{path}?fieldManager={manager}");
        _ = self.send(Method::PATCH, &uri, "application/apply-patch+yaml", Some(body)).await.unwrap();
    }

    async fn try_other(&self, method: Method, path: &str, body: Option<Json>) -> kube::Result<Json> {
        let content = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let writes = method != Method::GET && method != Method::DELETE;
        let uri = if writes { format!("{path}?fieldManager=somebody") } else { path.to_owned() };
        self.send(method, &uri, content, body.as_ref()).await
    }

    /// Somebody else asks the API, in their own words.
    pub(crate) async fn send(
        &self,
        method: Method,
        uri: &str,
        content: &str,
        body: Option<&Json>,
    ) -> kube::Result<Json> {
        let body = body.map(|body| serde_json::to_vec(body).unwrap()).unwrap_or_default();
        let request = Request::builder().method(method).uri(uri).header("content-type", content).body(body).unwrap();
        self.client.request(request).await
    }

    /// An object as it is; `None`: there is none.
    pub(crate) async fn live(&self, path: &str) -> Option<Json> {
        match self.try_other(Method::GET, path, None).await {
            Ok(object) => Some(object),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The kubeconfig file of a user who may do only this, beside what everybody may.
    pub(crate) async fn limited(&self, rules: &[Rule]) -> PathBuf {
        let name = format!("limited-{}", self.namespace);
        let rules: Vec<Json> = rules
            .iter()
            .map(|(group, plural, verbs)| json!({"apiGroups": [group], "resources": [plural], "verbs": verbs}))
            .collect();
        let role = json!({"metadata": {"name": name}, "rules": rules});
        let path = "/apis/rbac.authorization.k8s.io/v1";
        self.other(Method::POST, &format!("{path}/clusterroles"), Some(role)).await;
        let binding = json!({"metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]});
        self.other(Method::POST, &format!("{path}/clusterrolebindings"), Some(binding)).await;
        match &self.place {
            Place::Sandbox { folder, running } => {
                let path = folder.path().join(&name);
                let user = User { name, groups: vec![AUTHENTICATED.to_owned()], ..User::default() };
                std::fs::write(&path, running.kubeconfig(&user)).unwrap();
                path
            }
            Place::Real(plane) => plane.user(&name, &[]).await,
        }
    }

    /// Is it a real API server with real controllers?
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.place, Place::Real(_))
    }

    /// The kubeconfig file of a user who may do everything.
    pub(crate) fn admin(&self) -> &Path {
        &self.admin
    }

    /// A provider that speaks to this server, whatever its block says.
    pub(crate) fn provider(&self, kubeconfig: &Path) -> Arc<dyn Provider> {
        let config_paths = vec![kubeconfig.display().to_string()];
        let instead = ConnectionOverride(ConnectionSettings { config_paths, ..ConnectionSettings::default() });
        Arc::new(KubernetesProvider::new(Environment::default(), Some(instead)))
    }

    /// A configuration to be planned and applied; `NAMESPACE` in it is that of this site.
    pub(crate) async fn run(&self, text: &str) -> Run {
        self.run_as(self.admin(), text).await
    }

    /// The same by another user.
    pub(crate) async fn run_as(&self, kubeconfig: &Path, text: &str) -> Run {
        Run::with([self.provider(kubeconfig)], &self.named(text)).await
    }

    /// The text with this site's namespace in it.
    pub(crate) fn named(&self, text: &str) -> String {
        text.replace("NAMESPACE", &self.namespace)
    }
}

async fn client(kubeconfig: &Path) -> kube::Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let _ = config.root_cert.as_ref();
    kube::Client::try_from(config).unwrap()
}

/// Applies what is planned; a second plan must change nothing, and nothing may have drifted.
pub(crate) async fn settle(run: &Run) {
    run.apply(run.plan(PlanMode::Normal).await).await;
    unchanged(run).await;
}

/// A plan changes nothing, and nothing has drifted.
pub(crate) async fn unchanged(run: &Run) {
    let plan = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&plan), [""; 0], "{:#?}", plan.changes.iter().find(|change| change.reason.is_some()));
    assert_eq!(plan.drift, []);
}

/// The change of a `kubernetes_manifest`.
pub(crate) fn change<'a>(plan: &'a Plan, name: &str) -> &'a ResourceChange {
    plan.changes.iter().find(|change| &*change.addr.name == name).unwrap()
}

/// A part of `object` as it is planned, `null` where it is not known.
pub(crate) fn planned(plan: &Plan, name: &str, pointer: &str) -> Json {
    let object = change(plan, name).after.get("object").unwrap();
    let known = object.clone().unmark_deep().0.transform(&mut |_, part| {
        if part.is_known() { part } else { Value::null(engine_value::Type::Dynamic) }
    });
    crate::world::json(&known).pointer(pointer).cloned().unwrap_or_default()
}

/// The errors of a plan, each as "summary: detail".
pub(crate) fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    let errors = diagnostics.0.iter().filter(|one| one.severity == engine_diag::Severity::Error);
    errors.map(|one| format!("{}: {}", one.summary, one.detail)).collect()
}
