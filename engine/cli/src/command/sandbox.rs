//! `sandbox serve`, `reset`, `run`, `exec`: drive the embedded cluster.

use std::{fs, io};

use engine_diag::{Diagnostic, Diagnostics};
use providers_sandbox::{Options, command};
use state::FileStore;

use crate::{
    args::SandboxCommand,
    sandbox::{World, directory, fleet_text, told},
    session::{Exit, Session, failed},
};

pub(crate) async fn run(session: &mut Session, fleet: &str, command: &SandboxCommand) -> Exit {
    match command {
        SandboxCommand::Serve { kubeconfig } => serve(session, fleet, kubeconfig.as_deref()).await,
        SandboxCommand::Reset => reset(session),
        SandboxCommand::Run { files } => run_pods(session, fleet, files).await,
        SandboxCommand::Exec { node, command } => exec(session, fleet, node, command).await,
    }
}

async fn serve(session: &Session, fleet: &str, kubeconfig: Option<&str>) -> Exit {
    let directory = directory(session);
    let kubeconfig = kubeconfig.map_or_else(|| directory.join("kubeconfig"), |path| session.directory.join(path));
    let text = match fleet_text(session, fleet) {
        Ok(text) => text,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let ready = |serving: &command::Serving| {
        session.print(&format!(
            "Serving the sandbox ({}) at {}\n\n  export KUBECONFIG={}\n\nOther commands with -sandbox use it too. Interrupt to end.\n",
            serving.fleet,
            serving.url,
            kubeconfig.display()
        ));
    };
    let options = Options::new(session.host.clone(), "sandbox serve");
    let fleet = text.as_ref().map(|text| (fleet, text.as_str()));
    let cancel = session.env.interrupt.clone();
    match command::serve(&directory, fleet, options, &kubeconfig, ready, cancel).await {
        Ok(()) => Exit::Success,
        Err(error) => session.fail(told(session, &error)),
    }
}

/// The world, and the state that belongs to it: one without the other would be a lie.
pub(crate) fn reset(session: &Session) -> Exit {
    let directory = directory(session);
    let removed = match command::reset(&directory) {
        Ok(removed) => removed,
        Err(error) => return session.fail(told(session, &error)),
    };
    for file in FileStore::files(&directory) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return session.fail(failed(&format!("Cannot remove {}", file.display()), &error));
            }
            _ => {}
        }
    }
    session.print(if removed { "The sandbox and its state are gone.\n" } else { "There was no sandbox.\n" });
    Exit::Success
}

async fn run_pods(session: &mut Session, fleet: &str, files: &[String]) -> Exit {
    let mut texts = Vec::new();
    for file in files {
        match fs::read_to_string(session.directory.join(file)) {
            Ok(text) => texts.push((file, text)),
            Err(error) => return session.fail(failed(&format!("Cannot read {file}"), &error)),
        }
    }
    let world = match World::open(session, fleet, "sandbox run").await {
        Ok(world) => world,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let mut exit = Exit::Success;
    for (file, text) in texts {
        match command::run(world.sandbox(), file, &text).await {
            Ok(started) => {
                for pod in &started {
                    session.print(&match &pod.node {
                        Ok(node) => format!("pod {}/{} runs on {node}\n", pod.namespace, pod.name),
                        Err(why) => format!("pod {}/{} is pending: {why}\n", pod.namespace, pod.name),
                    });
                }
            }
            Err(error) => exit = session.fail(told(session, &error)),
        }
    }
    world.close(session, exit).await
}

async fn exec(session: &mut Session, fleet: &str, node: &str, words: &[String]) -> Exit {
    let world = match World::open(session, fleet, "sandbox exec").await {
        Ok(world) => world,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let exit = match command::exec(world.sandbox(), node, words).await {
        Ok(output) => {
            session.print(&output.stdout);
            if output.code == 0 { Exit::Success } else { session.fail(ended(node, words, output.code)) }
        }
        Err(error) => session.fail(told(session, &error)),
    };
    world.close(session, exit).await
}

fn ended(node: &str, words: &[String], code: i32) -> Diagnostics {
    let what = words.first().map_or("the command", String::as_str);
    Diagnostic::error("The command failed", format!("{what} on {node} ended with code {code}.")).into()
}
