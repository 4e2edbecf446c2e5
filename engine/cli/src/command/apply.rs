//! `apply` and `destroy`: carry out a plan that was reviewed.

use std::sync::Arc;

use engine_apply::{Applied, Apply, Stop, apply, stale, used_up};
use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{name::PlanDigest, plan::PlanMode};
use engine_plan::{Given, Program, file::PlanFile};
use state::Snapshot;

use crate::{
    args::{ApplyArgs, PlanningArgs},
    compiled,
    configuration::{ReadFiles, from_plan},
    planning::{self, Made, Origin},
    sandbox::World,
    session::{Exit, Session, failed},
    storage::Storage,
    view,
};

pub(crate) async fn run(session: &mut Session, world: Option<&World>, args: &ApplyArgs) -> Exit {
    match &args.plan {
        Some(path) => match unsaved(args) {
            Some(diagnostic) => session.fail(diagnostic),
            None => saved(session, world, path, &args.planning).await,
        },
        None => planned(session, world, &args.planning, args.destroy, args.auto_approve).await,
    }
}

/// A saved plan says what is done. Whoever asks for less than it, or for something else, must not get it all.
fn unsaved(args: &ApplyArgs) -> Option<Diagnostic> {
    let planning = &args.planning;
    let given = [
        ("-destroy", args.destroy),
        ("-refresh-only", planning.refresh_only),
        ("-target", !planning.target.is_empty()),
        ("-replace", !planning.replace.is_empty()),
    ];
    let (option, _) = given.into_iter().find(|(_, given)| *given)?;
    let detail = format!("{option} says what to plan, and this plan has been made.");
    Some(Diagnostic::error("Options of a saved plan", detail).hint(format!("Plan again with {option}.")))
}

/// Makes a plan, shows it, asks, and carries it out, all under one lock.
pub(crate) async fn planned(
    session: &mut Session,
    world: Option<&World>,
    args: &PlanningArgs,
    destroy: bool,
    approved: bool,
) -> Exit {
    let mode = match planning::mode(args, destroy) {
        Ok(mode) => mode,
        Err(diagnostic) => return session.fail(*diagnostic),
    };
    let operation = if mode == PlanMode::Destroy { "destroy" } else { "apply" };
    if !args.lock.lock {
        return session.fail(unlocked());
    }
    if !approved && (!args.variables.input || !session.env.interactive) {
        let detail = "Nobody is there to approve the plan.";
        let hint = "Review a saved plan (plan -out=FILE) and apply that, or give -auto-approve.";
        return session.fail(Diagnostic::error("No approval", detail).hint(hint));
    }
    let mut made = match planning::make(session, world, args, mode, operation).await {
        Ok(made) => made,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    session.print(&view::plan::plan(&made.plan, session.paint));
    session.report_findings(&made.plan);
    let exit = if made.plan.errored {
        session.fail(super::plan::errored())
    } else if !made.plan.changes_anything() {
        finished(session, &nothing_done(&made), operation, made.plan.sandbox)
    } else if !approved && !session.confirm(question(mode)).await {
        session.print(&format!("{} cancelled. Nothing was changed.\n", view::progress::capitalised(operation)));
        Exit::Failure
    } else {
        match made.digest() {
            Ok(digest) => carry_out(session, &mut made, digest, operation, usize::from(args.parallelism)).await,
            Err(diagnostics) => session.fail(diagnostics),
        }
    };
    made.storage.unlock(session).await;
    exit
}

fn unlocked() -> Diagnostic {
    Diagnostic::error("Apply needs the lock", "-lock=false would let two runs change the same state.")
        .hint("Leave -lock=false to plan.")
}

fn question(mode: PlanMode) -> &'static str {
    match mode {
        PlanMode::Destroy => {
            "\nDo you really want to destroy all resources?\n  Sliceform will destroy everything that is shown above. There is no undo."
        }
        _ => "\nDo you want to perform these actions?\n  Sliceform will perform exactly the actions described above.",
    }
}

/// Carries out a saved plan: without its sources, in another directory if need be, and only if nothing moved.
async fn saved(session: &mut Session, world: Option<&World>, path: &str, args: &PlanningArgs) -> Exit {
    if !args.variables.given.is_empty() {
        let detail = "A saved plan holds the values of its variables.";
        return session
            .fail(Diagnostic::error("Variables of a saved plan", detail).hint("Plan again with the new values."));
    }
    let (mut made, digest) = match prepare(session, world, path, args).await {
        Ok(prepared) => prepared,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let exit = match stale(&made.plan, &digest, &made.loaded) {
        Some(diagnostic) => session.fail(diagnostic),
        None => {
            let operation = if made.plan.mode == PlanMode::Destroy { "destroy" } else { "apply" };
            carry_out(session, &mut made, digest, operation, usize::from(args.parallelism)).await
        }
    };
    made.storage.unlock(session).await;
    exit
}

/// Reads a plan file.
pub(crate) fn read_plan(session: &Session, path: &str) -> Result<PlanFile, Diagnostics> {
    let full = session.directory.join(path);
    let bytes = std::fs::read(full).map_err(|error| failed(&format!("Cannot read the plan {path}"), &error))?;
    PlanFile::read(&bytes).map_err(|error| {
        failed(&format!("{path} cannot be used as a plan"), &error).hint("Make a plan with plan -out=FILE.").into()
    })
}

async fn prepare(
    session: &mut Session,
    world: Option<&World>,
    path: &str,
    args: &PlanningArgs,
) -> Result<(Made, PlanDigest), Diagnostics> {
    let file = read_plan(session, path)?;
    let digest = file.digest().map_err(|error| failed(&format!("{path} cannot be used as a plan"), &error))?;
    let config = from_plan(session, &file)?;
    session.places.clone_from(&file.plan.places);
    let providers = compiled::providers(session, world.map(World::connection));
    let program = Arc::new(Program {
        variables: file.plan.variables.iter().map(|(k, v)| (k.clone(), Given::Value(v.value.clone()))).collect(),
        providers: providers.clone(),
        files: Arc::new(ReadFiles::remembered(file.read.clone())),
        surroundings: planning::surroundings(session, &file.root),
        workspace: "default".into(),
        config,
    });
    let mut storage = Storage::new(session, world.map(World::directory), program.config.state_path());
    let fence = storage.lock(session, "apply", args.lock.lock_timeout).await?;
    match storage.load(session).await {
        Ok(loaded) => {
            let PlanFile { plan, root, sources, read, .. } = file;
            let (plan, origin) = (Arc::new(plan), Origin { root, sources, read });
            Ok((Made { plan, program, providers, storage, fence: Some(fence), loaded, origin }, digest))
        }
        Err(diagnostics) => {
            storage.unlock(session).await;
            Err(diagnostics)
        }
    }
}

async fn carry_out(
    session: &Session,
    made: &mut Made,
    digest: PlanDigest,
    operation: &str,
    parallelism: usize,
) -> Exit {
    let Some(fence) = made.fence else { return session.fail(unlocked()) };
    if used_up(&made.plan) {
        return stopped(session, Stop::BudgetUsedUp, &command(operation, made.plan.sandbox));
    }
    session.follow(&made.plan);
    let request = Apply {
        plan: made.plan.clone(),
        digest,
        program: made.program.clone(),
        providers: Arc::new(made.providers.clone()),
        store: made.storage.store.clone(),
        fence,
        operation: operation.to_owned(),
        who: session.env.who.clone(),
        host: session.host.clone(),
        events: session.events(),
        cancel: session.env.interrupt.clone(),
        parallelism,
    };
    match apply(request, &made.loaded).await {
        Ok(applied) => finished(session, &applied, operation, made.plan.sandbox),
        Err(diagnostics) => session.fail(diagnostics),
    }
}

/// Nothing was to be done: the outputs are shown all the same.
fn nothing_done(made: &Made) -> Applied {
    let snapshot = made.loaded.fold().ok().flatten().unwrap_or_else(|| Snapshot::new(state::Lineage::default()));
    Applied { diagnostics: Diagnostics::new(), snapshot, done: Default::default(), stopped: None }
}

fn finished(session: &Session, applied: &Applied, operation: &str, sandbox: bool) -> Exit {
    session.report(&applied.diagnostics);
    let done = applied.done;
    let failed = applied.diagnostics.has_errors();
    let end = if failed || applied.stopped.is_some() { "incomplete." } else { "complete!" };
    let what = session.paint.bold(&format!("{} {end}", view::progress::capitalised(operation)));
    session.print(&match operation {
        "destroy" if done.add + done.change == 0 => format!("\n{what} Resources: {} destroyed.\n", done.destroy),
        _ => format!("\n{what} Resources: {} added, {} changed, {} destroyed.\n", done.add, done.change, done.destroy),
    });
    let command = command(operation, sandbox);
    let held = held(&applied.snapshot);
    session.print(&held);
    if let Some(stop) = applied.stopped
        && !failed
    {
        return stopped(session, stop, &command);
    }
    if !held.is_empty() {
        session.print(&format!("Run `{command}` to go on from here.\n"));
    }
    if failed {
        return Exit::Failure;
    }
    session.print(&super::outputs(&applied.snapshot));
    Exit::Success
}

/// The command that goes on. Without `-sandbox` it would turn to another cluster.
fn command(operation: &str, sandbox: bool) -> String {
    format!("sliceform {operation}{}", if sandbox { " -sandbox" } else { "" })
}

/// Nodes that stay held.
fn held(snapshot: &Snapshot) -> String {
    let nodes: Vec<&str> = snapshot.held.keys().map(|(_, node)| node.as_str()).collect();
    if nodes.is_empty() {
        return String::new();
    }
    format!("\nStill held, with a taint that keeps new pods away: {}.\n", nodes.join(", "))
}

fn stopped(session: &Session, stop: Stop, command: &str) -> Exit {
    session.print(&match stop {
        Stop::Interrupted => {
            format!("\nStopped at a safe point, with work left. Run `{command}` to go on from here.\n")
        }
        Stop::BudgetUsedUp => format!(
            "\nStopped before the first node: too many nodes are unavailable for other reasons. Nothing was changed.\nBring \
             them back, or raise max_unavailable, and run `{command}` again.\n"
        ),
    });
    Exit::Stopped
}
