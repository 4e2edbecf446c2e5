//! One run of the command: where it is, how it prints, how it ends.

use std::{
    collections::BTreeMap,
    io::Write,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use engine_diag::{Diagnostic, Diagnostics, Sources, chain, sentence};
use engine_model::{event::Event, finding::SourcePlace, host::Host, plan::Plan};

use crate::{
    environment::{Environment, Out, Shared},
    log::{Level, Log},
    view::{
        diagnostic::{compact, diagnostic},
        finding,
        progress::Progress,
        style::Paint,
    },
};

/// How a command ended: Terraform's codes, and 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done; with `-detailed-exitcode`: there is nothing to do.
    Success,
    /// It failed.
    Failure,
    /// With `-detailed-exitcode`: there is something to do.
    Changes,
    /// `fmt`: a file could not be formatted.
    Refused,
    /// `fmt -check`: a file is not in the canonical layout.
    Unformatted,
    /// It stopped at a safe point with work left.
    Stopped,
}

impl Exit {
    /// The code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Changes | Self::Refused => 2,
            Self::Unformatted => 3,
            Self::Stopped => 4,
        }
    }
}

/// One run of the command.
pub(crate) struct Session {
    pub(crate) env: Environment,
    pub(crate) out: Out,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) paint: Paint,
    /// Are warnings written in short, where there are no errors?
    pub(crate) compact_warnings: bool,
    pub(crate) log: Log,
    /// The root module's directory.
    pub(crate) directory: PathBuf,
    /// Every source that a diagnostic may point into.
    pub(crate) sources: Sources,
    /// Where objects are written, for diagnostics without a span.
    pub(crate) places: BTreeMap<String, SourcePlace>,
    progress: Arc<Mutex<Progress<Shared>>>,
}

impl Session {
    pub(crate) fn new(env: Environment, out: Out, host: Arc<dyn Host>, paint: Paint, directory: PathBuf) -> Self {
        let progress = Progress::new(out.stdout.clone(), paint, out.terminal);
        let (log, wrong) = Log::new(&env, &out.stderr, &host);
        let session = Self {
            env,
            log,
            compact_warnings: false,
            host,
            paint,
            directory,
            sources: Sources::new(),
            places: BTreeMap::new(),
            progress: Arc::new(Mutex::new(progress)),
            out,
        };
        if let Some(why) = wrong {
            let warning = Diagnostic::warning("Cannot write the log", why).hint("It goes to standard error instead.");
            session.report(&warning.into());
        }
        session
    }

    /// Does a program read what is told, that needs no advice what to run next (`TF_IN_AUTOMATION`)?
    pub(crate) fn in_automation(&self) -> bool {
        self.env.variables.get("TF_IN_AUTOMATION").is_some_and(|value| !value.is_empty())
    }

    /// Where modules are installed, from the root module's directory: `TF_DATA_DIR`, or `.terraform`.
    pub(crate) fn data_directory(&self) -> &str {
        let given = self.env.variables.get("TF_DATA_DIR").filter(|name| !name.is_empty());
        given.map_or(".terraform", String::as_str)
    }

    /// Writes to standard output. That nobody reads it any more is no reason to stop half way.
    pub(crate) fn print(&self, text: &str) {
        self.with_progress(Progress::clear);
        let mut out = self.out.stdout.clone();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }

    /// Writes diagnostics to standard error.
    pub(crate) fn report(&self, diagnostics: &Diagnostics) {
        self.report_in(diagnostics, &self.sources);
    }

    /// Writes diagnostics about other sources than the configuration's.
    pub(crate) fn report_in(&self, diagnostics: &Diagnostics, sources: &Sources) {
        self.with_progress(Progress::clear);
        let mut err = self.out.stderr.clone();
        for one in diagnostics.iter() {
            let level = if one.is_error() { Level::Error } else { Level::Warn };
            self.log.write(level, format_args!("{}", one.summary));
        }
        if self.compact_warnings && !diagnostics.is_empty() && !diagnostics.has_errors() {
            let _ = err.write_all(compact(diagnostics, sources).as_bytes());
            let _ = err.flush();
            return;
        }
        for one in diagnostics.iter() {
            let place = one.address.as_ref().and_then(|address| self.places.get(address));
            let text = diagnostic(one, sources, place, self.paint);
            let _ = err.write_all(format!("{text}\n").as_bytes());
        }
        let _ = err.flush();
    }

    /// Writes what the review of a plan has found.
    pub(crate) fn report_findings(&self, plan: &Plan) {
        self.report(&finding::diagnostics(&plan.review.findings, &self.sources));
    }

    /// Writes one diagnostic and says that the command failed.
    pub(crate) fn fail(&self, diagnostic: impl Into<Diagnostics>) -> Exit {
        self.report(&diagnostic.into());
        Exit::Failure
    }

    /// Where plan and apply tell what happens.
    pub(crate) fn events(&self) -> Arc<dyn Fn(Event) + Send + Sync> {
        let progress = self.progress.clone();
        Arc::new(move |event| lock(&progress).tell(&event))
    }

    /// From here on operations are called what the plan calls them.
    pub(crate) fn follow(&self, plan: &Plan) {
        self.with_progress(|progress| progress.follow(plan));
    }

    fn with_progress(&self, act: impl FnOnce(&mut Progress<Shared>)) {
        act(&mut lock(&self.progress));
    }

    /// Asks, and says whether the answer was `yes`. Nobody there to answer is a no, and so is an interrupt.
    pub(crate) async fn confirm(&mut self, question: &str) -> bool {
        self.print(&format!("{question}\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: "));
        let mut input = std::mem::replace(&mut self.env.input, Box::new(std::io::empty()));
        let (answered, answer) = tokio::sync::oneshot::channel();
        // On a thread of its own, which the end of the program does not wait for: reading cannot be interrupted.
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = input.read_line(&mut text);
            let _ = answered.send(read.is_ok() && text.trim() == "yes");
        });
        let yes = tokio::select! {
            biased;
            () = self.env.interrupt.cancelled() => false,
            answer = answer => answer.unwrap_or(false),
        };
        self.print("\n");
        yes
    }
}

fn lock(progress: &Mutex<Progress<Shared>>) -> std::sync::MutexGuard<'_, Progress<Shared>> {
    progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An error of a library with everything that caused it, as a diagnostic.
pub(crate) fn failed(summary: &str, error: &(dyn std::error::Error + 'static)) -> Diagnostic {
    Diagnostic::error(summary, sentence(&chain(error)))
}
