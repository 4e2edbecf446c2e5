//! `plan`: shows what apply would change, and why. Changes nothing but the file of `-out`.

use engine_diag::{Diagnostic, Diagnostics};

use crate::{
    args::PlanArgs,
    planning::{self, Made},
    sandbox::World,
    session::{Exit, Session, failed},
    view,
};

pub(crate) async fn run(session: &mut Session, world: Option<&World>, args: &PlanArgs) -> Exit {
    let mode = match planning::mode(&args.planning, args.destroy) {
        Ok(mode) => mode,
        Err(diagnostic) => return session.fail(*diagnostic),
    };
    let mut made = match planning::make(session, world, &args.planning, mode, "plan").await {
        Ok(made) => made,
        Err(diagnostics) => return session.fail(diagnostics),
    };
    let exit = shown(session, args, &made);
    made.storage.unlock(session).await;
    exit
}

fn shown(session: &Session, args: &PlanArgs, made: &Made) -> Exit {
    session.print(&view::plan::plan(&made.plan, session.paint));
    session.report_findings(&made.plan);
    if made.plan.errored {
        return session.fail(errored());
    }
    if let Some(path) = &args.out {
        if let Err(diagnostics) = save(session, path, made) {
            return session.fail(diagnostics);
        }
        session.print(&format!("\nSaved the plan to: {path}\n"));
        if !session.in_automation() {
            session.print(&format!("\nTo perform exactly these actions, run:\n    sliceform apply {path}\n"));
        }
    }
    if args.detailed_exitcode && made.plan.changes_anything() { Exit::Changes } else { Exit::Success }
}

/// What is said under a plan that failed.
pub(crate) fn errored() -> Diagnostic {
    let detail = "What is shown above is as far as it got. It is not saved, and nothing was changed.";
    Diagnostic::error("Planning failed", detail)
}

/// Holds values in clear, so nobody else may read it. Written beside and renamed: a reader never sees half of it.
fn save(session: &Session, path: &str, made: &Made) -> Result<(), Diagnostics> {
    use std::{fs, io::Write, os::unix::fs::OpenOptionsExt};
    let bytes = made.file()?.write().map_err(|error| Diagnostics::from(failed("Cannot save the plan", &error)))?;
    let target = session.directory.join(path);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // Nobody else's file, whose contents or readers this would take over.
    let beside = target.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, &target));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    };
    write().map_err(|error| failed(&format!("Cannot save the plan to {path}"), &error).into())
}
