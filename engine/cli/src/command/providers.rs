//! `providers`: which there are; `providers schema`: everything that they have schemas for, for editors.

use engine_diag::Diagnostic;
use engine_plan::{Providers, json::schema};

use crate::{
    args::{ProvidersArgs, ProvidersCommand},
    session::{Exit, Session},
};

pub(crate) fn run(session: &Session, providers: &Providers, args: &ProvidersArgs) -> Exit {
    match args.command {
        None => {
            let names: String = providers.iter().map(|provider| format!("- {}\n", provider.addr())).collect();
            session.print(&format!("\nProviders of this release:\n\n{names}\n"));
            Exit::Success
        }
        Some(ProvidersCommand::Schema { json: false }) => {
            let detail = "Schemas are written as JSON only.";
            session.fail(Diagnostic::error("Missing option -json", detail).hint("Give -json."))
        }
        Some(ProvidersCommand::Schema { json: true }) => {
            session.print(&format!("{}\n", schema::write(providers)));
            Exit::Success
        }
    }
}
