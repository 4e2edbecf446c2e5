//! A configuration through plan and apply, as the engine does it.

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
use providers_api::{Call, Provider, Silent};
use state::{Fence, Lineage, LockInfo, MemoryStore, Snapshot, Store};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("there are no files".into())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

/// A configuration and the state that it is applied to.
pub(crate) struct Run {
    pub(crate) program: Arc<Program>,
    sources: Sources,
    pub(crate) store: Arc<MemoryStore>,
    fence: Fence,
    cancel: CancellationToken,
}

impl Run {
    pub(crate) async fn new(cluster: &impl Cluster, text: &str) -> Self {
        Self::with_state(cluster, text, None).await
    }

    /// The same with a state that is there already.
    pub(crate) async fn with_state(cluster: &impl Cluster, text: &str, snapshot: Option<Snapshot>) -> Self {
        let store = Arc::new(MemoryStore::new(snapshot));
        let fence = store.lock(&LockInfo::new(&FixedHost::new(0), "apply", "test")).await.unwrap();
        let (program, sources) = program(cluster, text);
        Self { program, sources, store, fence, cancel: CancellationToken::new() }
    }

    /// The same state under another configuration.
    pub(crate) fn edited(&self, cluster: &impl Cluster, text: &str) -> Self {
        let (program, sources) = program(cluster, text);
        Self { program, sources, store: self.store.clone(), fence: self.fence, cancel: CancellationToken::new() }
    }

    /// The state.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        self.store.load().await.unwrap().fold().unwrap().unwrap_or_else(|| Snapshot::new(Lineage("test".into())))
    }

    /// Plans and applies; after that nothing has drifted, and a second plan changes nothing. Gives what was done.
    pub(crate) async fn settle(&self) -> Vec<String> {
        let plan = self.plan(PlanMode::Normal).await;
        let done = actions(&plan);
        self.apply(plan).await;
        assert_eq!(actions(&self.plan(PlanMode::Normal).await), [""; 0], "a second plan changes nothing");
        assert_eq!(self.plan(PlanMode::RefreshOnly).await.drift, [], "nothing has drifted");
        done
    }

    pub(crate) async fn plan(&self, mode: PlanMode) -> Plan {
        let (plan, diagnostics) = self.try_plan(mode).await;
        no_errors(&diagnostics);
        plan
    }

    pub(crate) async fn try_plan(&self, mode: PlanMode) -> (Plan, Diagnostics) {
        let loaded = self.store.load().await.unwrap();
        let snapshot = self.snapshot().await;
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

    /// What the journal has.
    pub(crate) async fn journal(&self) -> Vec<state::Record> {
        self.store.load().await.unwrap().records
    }

    pub(crate) async fn apply(&self, plan: Plan) {
        no_errors(&self.carry_out(plan).await);
    }

    /// What is told where an apply fails.
    pub(crate) async fn try_apply(&self, plan: Plan) -> String {
        format!("{:?}", self.carry_out(plan).await)
    }

    async fn carry_out(&self, plan: Plan) -> Diagnostics {
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
        apply(request, &loaded).await.unwrap().diagnostics
    }
}

fn no_errors(diagnostics: &Diagnostics) {
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
}

/// What a plan does.
pub(crate) fn actions(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter().filter(|change| change.action != Action::NoOp);
    changes.map(|change| format!("{} {}", change.addr, change.action.names().join("+"))).collect()
}

fn program(cluster: &impl Cluster, text: &str) -> (Arc<Program>, Sources) {
    let mut tree = SourceTree::new();
    tree.insert("main.tf", text.as_bytes().to_vec());
    let mut sources = Sources::new();
    let (config, diagnostics) = load(&tree, &mut sources);
    no_errors(&diagnostics);
    let given = [("password".into(), Given::Value(Value::from("hunter2")))];
    let program = Program {
        variables: if config.root.variables.is_empty() { BTreeMap::new() } else { BTreeMap::from(given) },
        config,
        providers: Providers::new([cluster.provider() as Arc<dyn Provider>]),
        files: Arc::new(NoFiles),
        directory: "/home/platform".into(),
        workspace: "default".into(),
    };
    (Arc::new(program), sources)
}
