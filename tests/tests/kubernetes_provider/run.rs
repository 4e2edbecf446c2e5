//! A configuration through plan and apply, as the engine does it.

use std::sync::Arc;

use engine_apply::{Apply, Edit, apply, edit};
use engine_diag::{Diagnostics, Sources, Span};
use engine_lang::{
    config::{SourceTree, load},
    eval::{self, Surroundings},
};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::Action,
    host::FixedHost,
    name::PlanDigest,
    plan::{Plan, PlanMode},
};
use engine_plan::{Given, Import, PlanInput, Program, Providers, generate, plan};
use engine_value::Value;
use providers_api::{Call, Imported, Provider, Silent};
use state::{Effect, Fence, Lineage, Loaded, LockInfo, MemoryStore, Object, Slot, Snapshot, Store};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;

struct NoFiles;

impl eval::Files for NoFiles {
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
        let (program, sources) = program([cluster.provider() as Arc<dyn Provider>], text);
        Self { program, sources, store, fence, cancel: CancellationToken::new() }
    }

    /// A run with these providers, from an empty state.
    pub(crate) async fn with(providers: impl IntoIterator<Item = Arc<dyn Provider>>, text: &str) -> Self {
        let store = Arc::new(MemoryStore::new(None));
        let fence = store.lock(&LockInfo::new(&FixedHost::new(0), "apply", "test")).await.unwrap();
        let (program, sources) = program(providers, text);
        Self { program, sources, store, fence, cancel: CancellationToken::new() }
    }

    /// A run of a configuration of files; `before`: from the state of that run.
    pub(crate) async fn of(
        providers: impl IntoIterator<Item = Arc<dyn Provider>>,
        files: &Files<'_>,
        before: Option<&Self>,
    ) -> Result<Self, Diagnostics> {
        let (program, sources) = of_files(providers, files)?;
        let (store, fence) = match before {
            Some(before) => (before.store.clone(), before.fence),
            None => {
                let store = Arc::new(MemoryStore::new(None));
                let fence = store.lock(&LockInfo::new(&FixedHost::new(0), "apply", "test")).await.unwrap();
                (store, fence)
            }
        };
        Ok(Self { program, sources, store, fence, cancel: CancellationToken::new() })
    }

    /// The same state under another configuration.
    pub(crate) fn edited(&self, cluster: &impl Cluster, text: &str) -> Self {
        self.then([cluster.provider() as Arc<dyn Provider>], text)
    }

    /// The same with these providers.
    pub(crate) fn then(&self, providers: impl IntoIterator<Item = Arc<dyn Provider>>, text: &str) -> Self {
        let (program, sources) = program(providers, text);
        Self { program, sources, store: self.store.clone(), fence: self.fence, cancel: CancellationToken::new() }
    }

    /// Takes objects that were imported into the state, all at once, and gives the configuration for them.
    pub(crate) async fn take(&self, imported: Vec<(String, Imported)>) -> String {
        let loaded = self.store.load().await.unwrap();
        let (mut effects, mut text) = (Vec::new(), String::new());
        for (addr, imported) in imported {
            let addr: ResourceAddr = addr.parse().unwrap();
            let provider: ProviderConfigAddr =
                "provider[\"registry.terraform.io/hashicorp/kubernetes\"]".parse().unwrap();
            let schema = self.program.providers.schema(&provider.provider, addr.mode, &addr.ty).unwrap();
            let object = Object::of(imported.object, &schema.block.value_type(), schema.version).unwrap();
            effects.push(Effect::object(addr.clone(), Slot::Current, provider, None, &object));
            text += &generate::resource(&addr, &schema.block, &imported.config.unwrap(), &imported.notes).unwrap();
        }
        self.take_in("import all", effects, &loaded).await;
        text
    }

    async fn take_in(&self, what: &str, effects: Vec<Effect>, loaded: &Loaded) {
        let change = Edit {
            store: self.store.clone(),
            fence: self.fence,
            operation: "import",
            digest: PlanDigest::from(what),
            who: "test",
            host: &FixedHost::new(0),
            effects,
        };
        edit(change, loaded).await.unwrap();
    }

    /// Imports an object, and gives the configuration for it.
    pub(crate) async fn import(&self, addr: &str, id: &str) -> Result<String, Diagnostics> {
        let loaded = self.store.load().await.unwrap();
        let (snapshot, host) = (self.snapshot().await, FixedHost::new(0));
        let addr = addr.parse().unwrap();
        let wanted = Import { addr: &addr, id, generate: true };
        let call = Call { progress: &Silent, cancel: &self.cancel, host: &host };
        let output = engine_plan::import(self.input(&snapshot, &loaded, PlanMode::Normal), wanted, call).await;
        let Some(found) = output.found else { return Err(output.diagnostics) };
        self.take_in(&addr.to_string(), found.effects, &loaded).await;
        Ok(found.configuration.unwrap())
    }

    fn input<'a>(&'a self, snapshot: &'a Snapshot, loaded: &Loaded, mode: PlanMode) -> PlanInput<'a> {
        PlanInput {
            program: self.program.clone(),
            sources: &self.sources,
            snapshot,
            identity: loaded.identity(),
            mode,
            refresh: true,
            targets: Vec::new(),
            replace: Vec::new(),
            parallelism: 10,
            sandbox: true,
            events: &|_| {},
        }
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

    /// What stands at a place of the configuration.
    pub(crate) fn text(&self, span: Span) -> &str {
        self.sources.text(span)
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
        let input = self.input(&snapshot, &loaded, mode);
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

    /// Applies a plan, and gives what is told.
    pub(crate) async fn carry_out(&self, plan: Plan) -> Diagnostics {
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

/// A configuration of files, with values for its variables.
pub(crate) struct Files<'a> {
    /// Names and contents.
    pub(crate) files: &'a [(String, String)],
    pub(crate) given: &'a [(&'static str, Value)],
}

fn program(providers: impl IntoIterator<Item = Arc<dyn Provider>>, text: &str) -> (Arc<Program>, Sources) {
    let files = [("main.tf".to_owned(), text.to_owned())];
    let given = [("password", Value::from("hunter2"))];
    of_files(providers, &Files { files: &files, given: &given })
        .unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

fn of_files(
    providers: impl IntoIterator<Item = Arc<dyn Provider>>,
    files: &Files<'_>,
) -> Result<(Arc<Program>, Sources), Diagnostics> {
    let mut tree = SourceTree::new();
    for (name, text) in files.files {
        tree.insert(name.as_str(), text.as_bytes().to_vec());
    }
    let mut sources = Sources::new();
    let (config, diagnostics) = load(&tree, &mut sources);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let declared = |name: &str| config.root.variables.keys().any(|declared| **declared == *name);
    let given = files.given.iter().filter(|(name, _)| declared(name));
    let program = Program {
        variables: given.map(|(name, value)| ((*name).into(), Given::Value(value.clone()))).collect(),
        config,
        providers: Providers::new(providers),
        files: Arc::new(NoFiles),
        surroundings: Surroundings { directory: "/home/platform".into(), ..Surroundings::default() },
        workspace: "default".into(),
    };
    Ok((Arc::new(program), sources))
}
