//! `get`: installs the modules that come from elsewhere, and nothing else.

use engine_diag::{Diagnostic, Diagnostics, Sources};
use engine_modules::{Installation, Limits};

use crate::{
    args::GetArgs,
    session::{Exit, Session},
};

pub(crate) async fn run(session: &mut Session, args: &GetArgs) -> Exit {
    match install(session, args.update, "").await {
        Ok(()) => Exit::Success,
        Err(diagnostics) => session.fail(diagnostics),
    }
}

/// Installs the modules of the configuration; `heading` stands above what is told of them.
pub(super) async fn install(session: &mut Session, upgrade: bool, heading: &str) -> Result<(), Diagnostics> {
    let mut sources = Sources::new();
    let out = session.out.clone();
    let mut heading = Some(heading.to_owned());
    let mut tell = move |line: &str| {
        use std::io::Write;
        let mut stdout = out.stdout.clone();
        let heading = heading.take().unwrap_or_default();
        // That nobody reads it any more is no reason to stop half way.
        let _ = stdout.write_all(format!("{heading}{line}").as_bytes());
        let _ = stdout.flush();
    };
    let installation = Installation {
        root: &session.directory,
        data_directory: session.data_directory(),
        upgrade,
        variables: &session.env.variables,
        limits: Limits::default(),
    };
    let installed = tokio::select! {
        biased;
        () = session.env.interrupt.cancelled() => {
            let detail = "The modules were not installed. What was installed before is still there.";
            Err(Diagnostic::error("Interrupted", detail).into())
        }
        installed = engine_modules::install(&installation, &mut sources, &mut tell) => installed,
    };
    match installed {
        Ok(warnings) => {
            session.report_in(&warnings, &sources);
            Ok(())
        }
        Err(diagnostics) => {
            // They point into the files as they were read here.
            session.sources = sources;
            Err(diagnostics)
        }
    }
}
