//! A plan is made: configuration, state, world; shown, kept, or carried out by whoever asked for it.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{eval::Surroundings, functions::rfc3339};
use engine_model::{
    address::ResourceAddr,
    execution::Step,
    name::PlanDigest,
    plan::{Plan, PlanMode},
};
use engine_plan::{
    PlanInput, Program, Providers, Target,
    file::{Files, PlanFile, digest},
    json, plan,
};
use providers_api::{Call, Silent};
use state::{Fence, Lineage, Loaded, Snapshot, Work};

use crate::{
    args::PlanningArgs,
    compiled,
    configuration::{self, Configuration},
    sandbox::World,
    session::{Session, failed},
    storage::Storage,
};

/// A plan with everything that applying it needs.
pub(crate) struct Made {
    pub(crate) plan: Arc<Plan>,
    pub(crate) program: Arc<Program>,
    pub(crate) providers: Providers,
    pub(crate) storage: Storage,
    pub(crate) fence: Option<Fence>,
    pub(crate) loaded: Loaded,
    pub(crate) origin: Origin,
}

/// What a plan was made from.
pub(crate) struct Origin {
    /// The name of the root module's directory.
    pub(crate) root: String,
    /// Every file of the configuration.
    pub(crate) sources: Files,
    /// What functions have read.
    pub(crate) read: BTreeMap<String, Option<Arc<[u8]>>>,
}

impl Made {
    /// What tells the plan from others.
    pub(crate) fn digest(&self) -> Result<PlanDigest, Diagnostics> {
        let Origin { sources, read, .. } = &self.origin;
        digest(&self.plan, sources, read).map_err(|error| failed("Cannot keep the plan", &error).into())
    }

    /// What `-out` keeps: made only for that, since it holds the plan twice, and the state.
    pub(crate) fn file(&self) -> Result<PlanFile, Diagnostics> {
        let snapshot = &folded(&self.loaded)?;
        let (config, providers) = (&self.program.config, &self.providers);
        let view = json::PlanView { plan: &self.plan, snapshot, config, providers, show_sensitive: false };
        Ok(PlanFile {
            json: view.to_json().to_string(),
            root: self.origin.root.clone(),
            sources: self.origin.sources.clone(),
            read: self.origin.read.clone(),
            prior: state::v4::write(snapshot).into_bytes().into(),
            previous: None,
            plan: Plan::clone(&self.plan),
        })
    }
}

/// The state that a plan is made from.
fn folded(loaded: &Loaded) -> Result<Snapshot, Diagnostics> {
    Ok(crate::command::folded(loaded)?.unwrap_or_else(|| Snapshot::new(Lineage::default())))
}

/// What kind of plan the options ask for. `destroy`: everything is to go.
pub(crate) fn mode(args: &PlanningArgs, destroy: bool) -> Result<PlanMode, Box<Diagnostic>> {
    let wrong = |detail: &str| Err(Box::new(Diagnostic::error("Incompatible options", detail)));
    if args.refresh_only && destroy {
        return wrong("-refresh-only excludes -destroy.");
    }
    if args.refresh_only && !args.refresh {
        return wrong("-refresh-only excludes -refresh=false: nothing would be done.");
    }
    if !args.replace.is_empty() && (destroy || args.refresh_only) {
        return wrong("-replace excludes -destroy and -refresh-only.");
    }
    Ok(match (destroy, args.refresh_only) {
        (true, _) => PlanMode::Destroy,
        (_, true) => PlanMode::RefreshOnly,
        _ => PlanMode::Normal,
    })
}

/// Makes a plan. `operation` is what the lock is held for. Errors of the configuration or of the world make it `errored`:
/// it is shown as far as it goes, and never applied.
pub(crate) async fn make(
    session: &mut Session,
    world: Option<&World>,
    args: &PlanningArgs,
    mode: PlanMode,
    operation: &str,
) -> Result<Made, Diagnostics> {
    session.compact_warnings = args.compact_warnings;
    let (targets, replace) = (targets(&args.target)?, addresses(&args.replace)?);
    let (configuration, warnings) = configuration::load(session, &args.variables.given)?;
    session.report(&warnings);
    let providers = compiled::providers(session, world.map(World::connection));
    let mut storage = Storage::new(session, world.map(World::directory), configuration.config.state_path());
    let fence = match args.lock.lock {
        true => Some(storage.lock(session, operation, args.lock.lock_timeout).await?),
        false => None,
    };
    match planned(session, world, args, mode, &configuration, &providers, &storage, (targets, replace)).await {
        Ok((program, loaded, plan)) => {
            let root = session.directory.to_string_lossy().into_owned();
            let origin = Origin { root, sources: configuration.sources, read: configuration.read.seen() };
            Ok(Made { plan, program, providers, storage, fence, loaded, origin })
        }
        Err(diagnostics) => {
            storage.unlock(session).await;
            Err(diagnostics)
        }
    }
}

type Planned = (Arc<Program>, Loaded, Arc<Plan>);

#[expect(
    clippy::too_many_arguments,
    reason = "one caller; it only keeps the lock's scope apart from what is done in it"
)]
async fn planned(
    session: &mut Session,
    world: Option<&World>,
    args: &PlanningArgs,
    mode: PlanMode,
    configuration: &Configuration,
    providers: &Providers,
    storage: &Storage,
    (targets, replace): (Vec<Target>, Vec<ResourceAddr>),
) -> Result<Planned, Diagnostics> {
    let loaded = storage.load(session).await?;
    session.report(&cut_off(&loaded));
    let snapshot = folded(&loaded)?;
    let program = Arc::new(program(session, configuration, providers));
    let events = session.events();
    let input = PlanInput {
        program: program.clone(),
        sources: &session.sources,
        snapshot: &snapshot,
        identity: loaded.identity(),
        mode,
        refresh: args.refresh,
        targets,
        replace,
        parallelism: usize::from(args.parallelism),
        sandbox: world.is_some(),
        events: &*events,
    };
    let call = Call { progress: &Silent, cancel: &session.env.interrupt, host: &*session.host };
    let output = plan(input, call).await;
    session.places.clone_from(&output.plan.places);
    session.report(&output.diagnostics);
    if session.env.interrupt.is_cancelled() {
        // It was told with the plan's own diagnostics.
        return Err(Diagnostics::new());
    }
    Ok((program, loaded, Arc::new(output.plan)))
}

pub(crate) fn program(session: &Session, configuration: &Configuration, providers: &Providers) -> Program {
    let now = rfc3339(session.host.now()).into();
    let surroundings = surroundings(session, &session.directory.to_string_lossy());
    Program {
        config: configuration.config.clone(),
        variables: configuration.given.clone(),
        providers: providers.clone(),
        files: configuration.read.clone(),
        surroundings: Surroundings { plan_timestamp: Some(now), ..surroundings },
        workspace: "default".into(),
    }
}

/// What functions find around a run in a directory.
pub(crate) fn surroundings(session: &Session, directory: &str) -> Surroundings {
    let home = session.env.variables.get("HOME").filter(|home| !home.is_empty());
    Surroundings { directory: directory.into(), home: home.map(|home| home.as_str().into()), ..Surroundings::default() }
}

fn targets(texts: &[String]) -> Result<Vec<Target>, Diagnostics> {
    collected(texts.iter().map(|text| text.parse().map_err(|error| Box::new(failed("Invalid -target", &error)))))
}

fn addresses(texts: &[String]) -> Result<Vec<ResourceAddr>, Diagnostics> {
    collected(texts.iter().map(|text| text.parse().map_err(|error| Box::new(failed("Invalid -replace", &error)))))
}

/// All of them, or everything that is wrong with any.
fn collected<T>(results: impl Iterator<Item = Result<T, Box<Diagnostic>>>) -> Result<Vec<T>, Diagnostics> {
    let (mut values, mut wrong) = (Vec::new(), Diagnostics::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(diagnostic) => wrong.push(*diagnostic),
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(wrong) }
}

/// What an earlier run began and was not seen to end. The plan reads the world, so it already knows the outcome; people
/// want to know that it happened.
fn cut_off(loaded: &Loaded) -> Diagnostics {
    let open = loaded.open_intents();
    let Some(first) = open.first() else { return Diagnostics::new() };
    let begun: Vec<String> = open.iter().map(|open| begun(&open.intent.step, &open.intent.work)).collect();
    let detail = format!(
        "The {} that {} began at {} was cut off. Begun, and not seen to end: {}.",
        first.run.operation,
        first.run.who,
        first.run.at,
        begun.join(", ")
    );
    Diagnostic::warning("An earlier run was cut off", detail)
        .hint("This plan has read what became of it; apply finishes it.")
        .into()
}

fn begun(step: &Step, work: &Work) -> String {
    match (work, step) {
        (Work::Operation(operation), _) => format!("{} on {}", operation.summary, operation.node),
        (Work::Hold(hold), _) => format!("the hold of {}", hold.node),
        (Work::Release(hold), _) => format!("the release of {}", hold.node),
        (Work::Change(_), Step::Create(addr)) => format!("creating {addr}"),
        (Work::Change(_), Step::Delete(addr, _)) => format!("destroying {addr}"),
        (Work::Change(_), Step::Update(addr)) => format!("updating {addr}"),
        (Work::Change(_), step) => format!("{step:?}"),
    }
}
