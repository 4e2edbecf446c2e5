//! `init`: writes down where modules are. Local modules work without it.

use engine_diag::Diagnostics;
use engine_modules::Manifest;

use crate::{
    configuration,
    session::{Exit, Session, failed},
};

pub(crate) fn run(session: &mut Session) -> Exit {
    match prepare(session) {
        Ok(modules) => {
            session.print(&format!("{modules}\nSliceform has been successfully initialized!\n"));
            Exit::Success
        }
        Err(diagnostics) => session.fail(diagnostics),
    }
}

fn prepare(session: &mut Session) -> Result<String, Diagnostics> {
    let (configuration, warnings) = configuration::load(session, &[])?;
    session.report(&warnings);
    let manifest = Manifest::of(&configuration.config);
    manifest
        .write(&session.data_directory())
        .map_err(|error| Diagnostics::from(failed("Cannot write the module manifest", &error)))?;
    let called = configuration.config.modules().len() - 1;
    let modules = match called {
        0 => String::new(),
        1 => "Initializing modules... 1 local module.\n".to_owned(),
        n => format!("Initializing modules... {n} local modules.\n"),
    };
    Ok(format!("{modules}The providers are compiled in; there is nothing to download.\n"))
}
