//! `metadata functions`: what the language has, for editors.

use engine_diag::Diagnostic;
use engine_lang::functions;

use crate::{
    args::MetadataCommand,
    session::{Exit, Session},
};

pub(crate) fn run(session: &Session, command: &MetadataCommand) -> Exit {
    let MetadataCommand::Functions { json } = command;
    if !json {
        let detail = "The signatures of functions are written as JSON only.";
        return session.fail(Diagnostic::error("Missing option -json", detail).hint("Give -json."));
    }
    session.print(&format!("{}\n", functions::metadata()));
    Exit::Success
}
