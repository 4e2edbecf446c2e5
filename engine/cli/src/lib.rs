//! The sliceform command.
//!
//! Arguments, commands, views. Everything that it does it does through the other crates; what it adds is what a person
//! types and reads. [`run`] takes everything from its arguments, so that a test runs the command in-process.

#![forbid(unsafe_code)]

mod args;
mod command;
mod compiled;
mod completion;
mod configuration;
mod environment;
mod foreign;
mod log;
mod planning;
mod sandbox;
mod session;
mod storage;
mod view;

use std::{ffi::OsString, io::Write, path::PathBuf, sync::Arc};

use engine_diag::Diagnostic;
use engine_model::host::Host;

use crate::{
    args::{Command, CommandLine, SandboxCommand},
    sandbox::World,
    session::Session,
    storage::Storage,
    view::style::Paint,
};
pub use environment::{Environment, LineEditor, Out, Shared};
pub use session::Exit;

/// Runs the command. `args` begin with the program's name.
pub async fn run(
    args: impl IntoIterator<Item = OsString>,
    env: Environment,
    host: Arc<dyn Host>,
    mut out: Out,
) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(exit) = completion::answered(&args, &env, &mut out) {
        return exit;
    }
    let line = match args::parse(args.clone(), &env.variables) {
        Ok(line) => line,
        Err(error) => {
            let asked = !error.use_stderr();
            let to = if asked { &mut out.stdout } else { &mut out.stderr };
            let _ = to.write_all(error.render().to_string().as_bytes());
            return if asked { Exit::Success } else { Exit::Failure };
        }
    };
    let no_color = line.no_color || env.variables.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    let paint = Paint { color: out.terminal && !no_color };
    let directory = line.chdir.as_ref().map_or_else(|| env.directory.clone(), |dir| env.directory.join(dir));
    let mut session = Session::new(env, out, host, paint, directory);
    if !session.directory.is_dir() {
        let detail = format!("There is no directory {}.", session.directory.display());
        return session.fail(Diagnostic::error("No such directory", detail).hint("Check the path behind -chdir."));
    }
    if let Some(workspace) =
        session.env.variables.get("TF_WORKSPACE").filter(|name| !matches!(&***name, "" | "default"))
    {
        let detail = format!("TF_WORKSPACE asks for the workspace {workspace:?}, and there is only \"default\".");
        let hint = "Unset it, and keep the states of several environments in directories of their own.";
        return session.fail(Diagnostic::error("Unsupported workspace", detail).hint(hint));
    }
    session.log.info(format_args!("sliceform {}", env!("CARGO_PKG_VERSION")));
    session.log.info(format_args!("arguments: {:?}", log::arguments(&args)));
    session.log.debug(format_args!("directory: {}", session.directory.display()));
    let started = session.host.now();
    let exit = dispatch(&mut session, line).await;
    let took = session.host.now().duration_since(started).unwrap_or_default();
    session.log.info(format_args!("exit {} after {:.3} s", exit.code(), took.as_secs_f64()));
    exit
}

/// Only dispatches.
async fn dispatch(session: &mut Session, line: CommandLine) -> Exit {
    let fleet = match wanted_fleet(session, &line) {
        Ok(fleet) => fleet,
        Err(exit) => return exit,
    };
    match &line.command {
        Command::Fmt(args) => command::fmt::run(session, args),
        Command::Init(args) => command::init::run(session, args).await,
        Command::Get(args) => command::get::run(session, args).await,
        Command::Validate(args) => command::validate::run(session, args),
        Command::Modules(args) => command::modules::list(session, args),
        Command::Metadata(args) => command::metadata::run(session, args),
        Command::Providers(args) => command::providers::run(session, &compiled::providers(session, None), args),
        Command::Version(args) => command::version::run(session, args),
        Command::Output(args) => command::output::run(session, &storage(session, fleet.is_some()), args).await,
        Command::State(args) => {
            let storage = storage(session, fleet.is_some());
            command::state::run(session, &storage, &compiled::providers(session, None), args).await
        }
        Command::Show(args) => {
            let storage = storage(session, fleet.is_some());
            let providers = compiled::providers(session, None);
            command::show::run(session, &storage, &providers, args).await
        }
        Command::Sandbox(SandboxCommand::Reset) => command::sandbox::reset(session),
        Command::Sandbox(args) => command::sandbox::run(session, fleet.as_deref().unwrap_or_default(), args).await,
        Command::Console(_) | Command::Plan(_) | Command::Apply(_) | Command::Destroy(_) | Command::Import(_) => {
            on_cluster(session, &line.command, fleet).await
        }
    }
}

/// Commands that speak to a cluster: the sandbox is opened before, and closed whatever happens.
async fn on_cluster(session: &mut Session, command: &Command, fleet: Option<String>) -> Exit {
    let world = match fleet {
        Some(fleet) => match World::open(session, &fleet, name(command)).await {
            Ok(world) => Some(world),
            Err(diagnostics) => return session.fail(diagnostics),
        },
        None => None,
    };
    let exit = match command {
        Command::Console(args) => command::console::run(session, world.as_ref(), args).await,
        Command::Plan(args) => command::plan::run(session, world.as_ref(), args).await,
        Command::Apply(args) => command::apply::run(session, world.as_ref(), args).await,
        Command::Destroy(args) => {
            command::apply::planned(session, world.as_ref(), &args.planning, true, args.auto_approve).await
        }
        Command::Import(args) => command::import::run(session, world.as_ref(), args).await,
        _ => Exit::Failure,
    };
    match world {
        Some(world) => world.close(session, exit).await,
        None => exit,
    }
}

/// The fleet of `-sandbox`, which a plan that was made with it implies.
fn wanted_fleet(session: &Session, line: &CommandLine) -> Result<Option<String>, Exit> {
    let Command::Apply(args) = &line.command else { return Ok(line.sandbox.clone()) };
    let Some(path) = &args.plan else { return Ok(line.sandbox.clone()) };
    match command::apply::read_plan(session, path) {
        Ok(file) if file.plan.sandbox => Ok(Some(line.sandbox.clone().unwrap_or_default())),
        Ok(_) if line.sandbox.is_some() => {
            let detail = format!("{path} was made for a real cluster, and -sandbox asks for the embedded one.");
            Err(session.fail(Diagnostic::error("Another cluster", detail).hint("Plan again with -sandbox.")))
        }
        Ok(_) => Ok(None),
        Err(diagnostics) => Err(session.fail(diagnostics)),
    }
}

/// The state of commands that speak to no cluster. Where only the sandbox has a state, that one is meant.
fn storage(session: &Session, sandbox: bool) -> Storage {
    let directory: PathBuf = sandbox::directory(session);
    let only_there = !Storage::exists(session, None) && Storage::exists(session, Some(&directory));
    Storage::new(session, (sandbox || only_there).then_some(&*directory), None)
}

/// What a command is called where others wait for it.
fn name(command: &Command) -> &'static str {
    match command {
        Command::Console(_) => "console",
        Command::Plan(_) => "plan",
        Command::Apply(_) => "apply",
        Command::Destroy(_) => "destroy",
        Command::Import(_) => "import",
        _ => "sliceform",
    }
}
