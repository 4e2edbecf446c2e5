//! Taking an object that exists into the state. Changes nothing in the world, and nothing by itself: what it comes to are
//! effects for the state, and a configuration for a file.

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::address::ResourceAddr;
use providers_api::Call;
use state::Effect;

use crate::planner::{self, PlanInput};

/// What is imported, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// Its address: a managed resource, not yet in the state.
    pub addr: &'a ResourceAddr,
    /// What names it where it exists; the provider knows how to read it.
    pub id: &'a str,
    /// Is a configuration to be written for it? Then there must be none.
    pub generate: bool,
}

/// What an import comes to.
#[derive(Debug)]
pub struct ImportOutput {
    /// The object, where nothing stood against it.
    pub found: Option<Found>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// An object that was found.
#[derive(Debug)]
pub struct Found {
    /// What takes it into the state.
    pub effects: Vec<Effect>,
    /// The block that plans to no change, where one was asked for.
    pub configuration: Option<String>,
}

/// Finds an object and reads it. Of `input` the mode, targets and replacements are not looked at.
pub async fn import(input: PlanInput<'_>, import: Import<'_>, call: Call<'_>) -> ImportOutput {
    match refused(&input, &import) {
        Some(error) => ImportOutput { found: None, diagnostics: error.into() },
        None => planner::import(&input, &import, call).await,
    }
}

/// Why it cannot be imported there, as far as configuration and state tell.
fn refused(input: &PlanInput<'_>, import: &Import<'_>) -> Option<Diagnostic> {
    let Import { addr, generate, .. } = *import;
    let block = input.program.resource(addr);
    if input.snapshot.current(addr).is_some() {
        let detail = format!(
            "The state has an object for {addr} already. To import another one to this address, remove the first one from \
             the state."
        );
        return Some(
            Diagnostic::error("Resource already managed", detail).at_opt(block.map(|block| block.span)).about(addr),
        );
    }
    match (block, generate) {
        (Some(block), true) => {
            let detail = format!("{} is in the configuration, so that there is nothing to generate.", addr.config());
            let hint = "Leave -generate-config-out away to import the object.";
            Some(Diagnostic::error("Configuration is there already", detail).at(block.span).hint(hint).about(addr))
        }
        (None, true) if !addr.module.is_root() || addr.key.is_some() => {
            let detail = format!(
                "{addr} is in a module, or has a key. Configuration is generated for single resources of the root module."
            );
            Some(
                Diagnostic::error("Cannot generate configuration", detail)
                    .hint("Write the block, and import without it.")
                    .about(addr),
            )
        }
        (None, false) if input.program.module(&addr.module).is_none() => {
            let detail =
                format!("{} is not in the configuration. Only resources that are can be imported.", addr.module);
            Some(Diagnostic::error("Import to non-existent module", detail).about(addr))
        }
        (None, false) => {
            let detail = format!(
                "{addr} is not in the configuration. Before importing it, write its block there:\n\nresource \"{}\" \"{}\" {{\n  \
                 # (resource arguments)\n}}",
                addr.ty, addr.name
            );
            let hint = "Or let -generate-config-out=FILE write it.";
            Some(Diagnostic::error("Resource is not in the configuration", detail).hint(hint).about(addr))
        }
        _ => None,
    }
}
