//! The engine without the command around it: source text, a world and a store in; plans, states and diagnostics out.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use engine_apply::{Applied, Apply, apply, stale};
use engine_diag::{Diagnostics, Sources};
use engine_lang::{
    config::{self, Config, SourceTree},
    eval::{Files, Surroundings},
};
use engine_model::{
    address::ResourceAddr,
    change::{Action, ReplaceOrder, ResourceChange},
    event::Event,
    execution::Step,
    host::{FixedHost, Host},
    name::PlanDigest,
    plan::{Plan, PlanMode},
    reason::Reason,
};
use engine_plan::{Given, PlanInput, Program, Providers, Target, file::PlanFile, plan};
use engine_value::Value;
use providers_api::{Call, Provider, Silent};
use providers_terraform::Terraform;
use state::{Fence, Lineage, LoadError, Loaded, LockError, LockInfo, MemoryStore, Snapshot, Store, WriteError};
use tokio_util::sync::CancellationToken;

use crate::{
    crashing::{CrashingProvider, Cut},
    mock::{provider::Mock, world::World},
};

/// A world, a state, and the engine between them.
#[derive(Clone)]
pub struct Lab {
    /// The mock provider's world.
    pub world: World,
    /// Where state is kept.
    pub store: Arc<dyn Store>,
    /// The clock and randomness.
    pub host: Arc<FixedHost>,
    /// The first interrupt.
    pub cancel: CancellationToken,
    /// The mock and the built-in provider.
    pub providers: Providers,
}

/// How to plan.
#[derive(Clone, Debug)]
pub struct How {
    /// Normal, destroy or refresh-only.
    pub mode: PlanMode,
    /// `-target`.
    pub targets: Vec<Target>,
    /// `-replace`.
    pub replace: Vec<ResourceAddr>,
    /// Values of variables.
    pub variables: Vec<(&'static str, Value)>,
}

impl Default for How {
    fn default() -> Self {
        Self { mode: PlanMode::Normal, targets: Vec::new(), replace: Vec::new(), variables: Vec::new() }
    }
}

impl How {
    /// Towards nothing.
    pub fn destroy() -> Self {
        Self { mode: PlanMode::Destroy, ..Self::default() }
    }
}

/// A plan that was made, with everything that applying it needs.
#[derive(Clone)]
pub struct Draft {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What was said about it.
    pub diagnostics: Diagnostics,
    /// How often something was evaluated.
    pub work: u64,
    /// What diagnostics point into.
    pub sources: Arc<Sources>,
    /// What was planned.
    pub program: Arc<Program>,
    /// The state that it was made from.
    pub loaded: Loaded,
    config: String,
}

/// How an apply went.
pub struct Run {
    /// What was applied.
    pub draft: Draft,
    /// How it ended; an error where the state could not be written.
    pub result: Result<Applied, Diagnostics>,
    /// What was told on the way.
    pub events: Vec<Event>,
}

/// A store that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be locked.
    #[error("the state cannot be locked")]
    Lock(#[from] LockError),
    /// It cannot be read.
    #[error("the state cannot be read")]
    Load(#[from] LoadError),
    /// It cannot be unlocked.
    #[error("the state cannot be unlocked")]
    Write(#[from] WriteError),
}

#[derive(Debug)]
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("no such file".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

impl Lab {
    /// A lab with a state in memory.
    pub fn new(world: &World) -> Self {
        Self::with(world, Arc::new(MemoryStore::default()), None)
    }

    /// A lab with a state of its own, whose providers end the run at the cut.
    pub fn with(world: &World, store: Arc<dyn Store>, cut: Option<&Cut>) -> Self {
        let mock: Arc<dyn Provider> = Arc::new(Mock::new(world));
        let mock = match cut {
            Some(cut) => Arc::new(CrashingProvider { inner: mock, cut: cut.clone() }),
            None => mock,
        };
        let terraform: Arc<dyn Provider> = Arc::new(Terraform::new(PathBuf::from(".")));
        Self {
            world: world.clone(),
            store,
            host: Arc::new(FixedHost::new(1_700_000_000)),
            cancel: CancellationToken::new(),
            providers: Providers::new([mock, terraform]),
        }
    }

    /// Reads a configuration: one file, or several behind lines of the form `-- m/main.tf --`.
    ///
    /// # Panics
    /// It has errors.
    pub fn config(text: &str) -> (Config, Sources) {
        let mut tree = SourceTree::new();
        for (name, text) in files(text) {
            tree.insert(&name, text.into_bytes());
        }
        let mut sources = Sources::new();
        let (config, diagnostics) = config::load(&tree, &mut sources);
        assert!(!diagnostics.has_errors(), "{}", words(&diagnostics, &sources).join("\n"));
        (config, sources)
    }

    /// Plans a configuration.
    pub async fn plan(&self, config: &str) -> Draft {
        self.plan_how(config, How::default()).await
    }

    /// Plans a configuration, in a way of one's own.
    ///
    /// # Panics
    /// The state cannot be read.
    pub async fn plan_how(&self, text: &str, how: How) -> Draft {
        self.try_plan(text, how).await.expect("a state that can be read")
    }

    /// Plans a configuration.
    ///
    /// # Errors
    /// The state cannot be read.
    async fn try_plan(&self, text: &str, how: How) -> Result<Draft, StoreError> {
        let loaded = self.store.load().await?;
        let (config, sources) = Self::config(text);
        let variables = how.variables.into_iter().map(|(name, value)| (name.into(), Given::Value(value))).collect();
        let program = Arc::new(Program {
            config,
            variables,
            providers: self.providers.clone(),
            files: Arc::new(NoFiles),
            surroundings: Surroundings { directory: "/lab".into(), ..Surroundings::default() },
            workspace: "default".into(),
        });
        let folded = loaded.fold().expect("a journal that belongs to the state");
        let snapshot = folded.unwrap_or_else(|| Snapshot::new(Lineage::default()));
        let input = PlanInput {
            program: program.clone(),
            sources: &sources,
            snapshot: &snapshot,
            identity: loaded.identity(),
            mode: how.mode,
            refresh: true,
            targets: how.targets,
            replace: how.replace,
            parallelism: 10,
            sandbox: false,
            events: &|_| {},
        };
        let call = Call { progress: &Silent, cancel: &self.cancel, host: &*self.host };
        let output = plan(input, call).await;
        Ok(Draft {
            plan: Arc::new(output.plan),
            diagnostics: output.diagnostics,
            work: output.work,
            sources: Arc::new(sources),
            program,
            loaded,
            config: text.to_owned(),
        })
    }

    /// Plans and applies a configuration under one lock.
    ///
    /// # Panics
    /// The plan has errors.
    pub async fn apply(&self, config: &str) -> Run {
        self.apply_how(config, How::default()).await
    }

    /// Destroys everything.
    ///
    /// # Panics
    /// The plan has errors.
    pub async fn destroy(&self, config: &str) -> Run {
        self.apply_how(config, How::destroy()).await
    }

    /// Plans and applies a configuration in a way of one's own, under one lock.
    ///
    /// # Panics
    /// The plan has errors.
    pub async fn apply_how(&self, config: &str, how: How) -> Run {
        self.try_apply(config, how).await.expect("a store that works")
    }

    /// Plans and applies a configuration under one lock.
    ///
    /// # Errors
    /// The state cannot be locked, read or unlocked. That it cannot be written is in the run's own result.
    ///
    /// # Panics
    /// The plan has errors.
    pub async fn try_apply(&self, config: &str, how: How) -> Result<Run, StoreError> {
        let fence = self.lock().await?;
        let draft = self.try_plan(config, how).await?;
        assert!(!draft.plan.errored, "{}", draft.words().join("\n"));
        let run = self.carry_out(draft, fence).await;
        self.store.unlock(fence).await?;
        Ok(run)
    }

    /// Applies a plan that was made earlier, if it is not stale.
    ///
    /// # Errors
    /// It is stale: nothing is done.
    pub async fn apply_draft(&self, draft: &Draft) -> Result<Run, String> {
        let fence = self.lock().await.expect("a lock that nobody holds");
        let loaded = self.store.load().await.expect("a state that can be read");
        let run = match stale(&draft.plan, &draft.digest(), &loaded) {
            Some(diagnostic) => Err(diagnostic.detail),
            None => Ok(self.carry_out(draft.clone(), fence).await),
        };
        self.store.unlock(fence).await.expect("a lock that is held");
        run
    }

    async fn lock(&self) -> Result<Fence, StoreError> {
        let info = LockInfo::new(&*self.host, "apply", "ops@host");
        Ok(self.store.lock(&info).await?)
    }

    async fn carry_out(&self, draft: Draft, fence: Fence) -> Run {
        let events = Arc::new(Mutex::new(Vec::new()));
        let to = events.clone();
        let host: Arc<dyn Host> = self.host.clone();
        let request = Apply {
            plan: draft.plan.clone(),
            digest: draft.digest(),
            program: draft.program.clone(),
            providers: Arc::new(self.providers.clone()),
            store: self.store.clone(),
            fence,
            operation: "apply".to_owned(),
            who: "ops@host".to_owned(),
            host,
            events: Arc::new(move |event| to.lock().unwrap_or_else(PoisonError::into_inner).push(event)),
            cancel: self.cancel.clone(),
            parallelism: 10,
        };
        let result = apply(request, &draft.loaded).await;
        let events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
        Run { draft, result, events }
    }

    /// The state as it is now.
    ///
    /// # Panics
    /// It cannot be read.
    pub async fn snapshot(&self) -> Option<Snapshot> {
        let loaded = self.store.load().await.expect("a state that can be read");
        loaded.fold().expect("a journal that belongs to the state")
    }

    /// Nothing is left to do.
    ///
    /// # Panics
    /// Something is.
    pub async fn assert_settled(&self, config: &str, when: &str) {
        let draft = self.plan(config).await;
        assert_eq!(draft.changes(), Vec::<String>::new(), "{when}: a plan right after the apply");
        assert_eq!(draft.words(), Vec::<String>::new(), "{when}: a plan right after the apply");
        assert!(!draft.plan.changes_anything(), "{when}: a plan right after the apply");
        assert!(draft.plan.drift.is_empty(), "{when}: {:?}", draft.plan.drift);
    }
}

impl Draft {
    /// The digest that holds, operations and fences name it by.
    ///
    /// # Panics
    /// A value is nested too deeply.
    pub fn digest(&self) -> PlanDigest {
        let file = PlanFile {
            plan: (*self.plan).clone(),
            json: String::new(),
            root: ".".to_owned(),
            sources: BTreeMap::from([("main.tf".to_owned(), self.config.as_bytes().into())]),
            read: BTreeMap::new(),
            prior: Arc::default(),
            previous: None,
        };
        file.digest().expect("a plan of flat values")
    }

    /// What happens to each object, and why: "create mock_object.a (new)". What stays as it is is left out.
    pub fn changes(&self) -> Vec<String> {
        self.plan.changes.iter().filter(|change| change.action != Action::NoOp).map(change).collect()
    }

    /// Errors and warnings with their places.
    pub fn words(&self) -> Vec<String> {
        words(&self.diagnostics, &self.sources)
    }

    /// The waves: "gpu-01 gpu-02".
    pub fn waves(&self) -> Vec<String> {
        let names = |wave: &engine_model::operation::Wave| {
            wave.nodes.iter().map(|node| node.as_str()).collect::<Vec<_>>().join(" ")
        };
        self.plan.waves.iter().map(names).collect()
    }

    /// Is one step before another, directly or not?
    pub fn comes_before(&self, first: &Step, second: &Step) -> bool {
        let graph = &self.plan.graph;
        let index =
            |step: &Step| graph.steps.iter().position(|other| other == step).expect("a step of the plan") as u32;
        let (first, second) = (index(first), index(second));
        let mut reached = std::collections::BTreeSet::from([first]);
        // Steps are in an order that keeps every edge, and edges ascend.
        for (before, after) in &graph.edges {
            if reached.contains(before) {
                reached.insert(*after);
            }
        }
        first != second && reached.contains(&second)
    }
}

impl Run {
    /// The state afterwards.
    ///
    /// # Panics
    /// The state could not be written.
    pub fn applied(&self) -> &Applied {
        self.result.as_ref().expect("a state that can be written")
    }

    /// Errors and warnings of the apply.
    pub fn words(&self) -> Vec<String> {
        match &self.result {
            Ok(applied) => words(&applied.diagnostics, &self.draft.sources),
            Err(diagnostics) => words(diagnostics, &self.draft.sources),
        }
    }

    /// Everything went as planned.
    ///
    /// # Panics
    /// It did not.
    pub fn assert_done(&self, when: &str) {
        assert_eq!(self.words(), Vec::<String>::new(), "{when}");
        assert_eq!(self.applied().stopped, None, "{when}");
    }
}

/// The files of a text: what stands before the first line of the form `-- name --` is `main.tf`.
pub fn files(text: &str) -> Vec<(String, String)> {
    let mut files = vec![("main.tf".to_owned(), String::new())];
    for line in text.split_inclusive('\n') {
        match line.trim_end().strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --")) {
            Some(name) => files.push((name.to_owned(), String::new())),
            None => files.last_mut().expect("there is always a first file").1.push_str(line),
        }
    }
    files
}

/// Diagnostics in words: "error: summary: detail (main.tf:3)".
pub fn words(diagnostics: &Diagnostics, sources: &Sources) -> Vec<String> {
    let one = |diagnostic: &engine_diag::Diagnostic| {
        let severity = if diagnostic.is_error() { "error" } else { "warning" };
        let place = match (diagnostic.span, &diagnostic.address) {
            (Some(span), _) => format!(" ({})", sources.place(span)),
            (None, Some(address)) => format!(" ({address})"),
            (None, None) => String::new(),
        };
        format!("{severity}: {}: {}{place}", diagnostic.summary, diagnostic.detail)
    };
    diagnostics.iter().map(one).collect()
}

fn change(change: &ResourceChange) -> String {
    let action = match change.action {
        Action::NoOp => "keep",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Replace(ReplaceOrder::DestroyThenCreate) => "replace",
        Action::Replace(ReplaceOrder::CreateThenDestroy) => "replace, new first,",
        Action::Delete => "delete",
        Action::Forget => "forget",
    };
    let deposed = if change.deposed.is_some() { " deposed" } else { "" };
    let paths = |paths: &[engine_value::Path]| paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let why = match &change.reason {
        None => String::new(),
        Some(Reason::Configuration(changed)) => format!(" (configuration {})", paths(changed)),
        Some(Reason::Drift(drifted)) => format!(" (drift {})", paths(drifted)),
        Some(Reason::ConfigurationAndDrift { configuration, drift }) => {
            format!(" (configuration {}, drift {})", paths(configuration), paths(drift))
        }
        Some(Reason::Immutable(fixed)) => format!(" (immutable {})", paths(fixed)),
        Some(Reason::Unfinished { done, total, unit }) => format!(" (unfinished: {done} of {total} {unit})"),
        Some(other) => format!(" ({other:?})").to_lowercase(),
    };
    format!("{action}{deposed} {}{why}", change.addr)
}
