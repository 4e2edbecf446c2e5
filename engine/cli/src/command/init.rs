//! `init`: installs the modules that come from elsewhere, and writes down where all of them are. Local modules work
//! without it.

use engine_diag::Diagnostics;

use super::get::install;
use crate::{
    args::InitArgs,
    configuration,
    session::{Exit, Session},
};

pub(crate) async fn run(session: &mut Session, args: &InitArgs) -> Exit {
    match prepare(session, args).await {
        Ok(()) => {
            session.print(
                "The providers are compiled in; there is nothing to download.\n\nSliceform has been successfully \
                 initialized!\n",
            );
            Exit::Success
        }
        Err(diagnostics) => session.fail(diagnostics),
    }
}

async fn prepare(session: &mut Session, args: &InitArgs) -> Result<(), Diagnostics> {
    if args.get {
        let heading = if args.upgrade { "Upgrading modules...\n" } else { "Initializing modules...\n" };
        install(session, args.upgrade, heading).await?;
    }
    let (_, warnings) = configuration::load(session, &[])?;
    session.report(&warnings);
    Ok(())
}
