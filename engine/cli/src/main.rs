//! The program: what the operating system gives, for [`engine_cli::run`].

#![forbid(unsafe_code)]

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
    sync::Arc,
    time::SystemTime,
};

use engine_cli::{Environment, Exit, LineEditor, Out, Shared, run};
use engine_model::host::Host;
use tokio_util::sync::CancellationToken;

/// The machine's own clock and randomness.
struct Machine;

impl Host for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(16) {
            chunk.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[..chunk.len()]);
        }
    }
}

/// An expression that is nested as deeply as the parser allows needs three MiB in a build without optimisation.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let command = || {
        let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build();
        runtime.map_or(Exit::Failure, |runtime| runtime.block_on(command()))
    };
    // The main thread's stack is what the shell says; this one's is ours.
    let exit = std::thread::Builder::new().stack_size(STACK).spawn(command);
    let exit = exit.ok().and_then(|thread| thread.join().ok()).unwrap_or(Exit::Failure);
    ExitCode::from(exit.code())
}

async fn command() -> Exit {
    let interrupt = CancellationToken::new();
    let env = Environment {
        // What is not text names no variable and no value of ours.
        variables: std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect(),
        directory: std::env::current_dir().unwrap_or_default(),
        input: Box::new(io::BufReader::new(io::stdin())),
        interactive: io::stdin().is_terminal(),
        editor: io::stdin().is_terminal().then(Editor::at_terminal).flatten(),
        who: who(),
        interrupt: interrupt.clone(),
        providers: Vec::new(),
    };
    let out = Out {
        stdout: Shared::new(io::stdout()),
        stderr: Shared::new(io::stderr()),
        terminal: io::stdout().is_terminal(),
    };
    tokio::select! {
        exit = run(std::env::args_os(), env, Arc::new(Machine), out) => exit,
        () = interrupts(interrupt) => Exit::Failure,
    }
}

/// The first interrupt asks for a safe point; the second ends the run at once.
async fn interrupts(interrupt: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return std::future::pending().await;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = int.recv() => {}
            _ = term.recv() => {}
        }
        if interrupt.is_cancelled() {
            return;
        }
        interrupt.cancel();
    }
}

/// Lines that are typed at a terminal, with those before them at hand.
struct Editor(rustyline::DefaultEditor);

impl Editor {
    fn at_terminal() -> Option<Box<dyn LineEditor>> {
        Some(Box::new(Self(rustyline::DefaultEditor::new().ok()?)))
    }
}

impl LineEditor for Editor {
    fn line(&mut self, prompt: &str) -> Option<String> {
        let line = self.0.readline(prompt).ok()?;
        let _ = self.0.add_history_entry(&line);
        Some(line)
    }
}

/// "user@host", as Terraform writes it into locks.
fn who() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "unknown".to_owned());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{user}@{}", if host.trim().is_empty() { "localhost" } else { host.trim() })
}
