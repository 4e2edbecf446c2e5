//! One file per command.

pub(crate) mod apply;
pub(crate) mod console;
pub(crate) mod fmt;
pub(crate) mod get;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod metadata;
pub(crate) mod modules;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod providers;
pub(crate) mod sandbox;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod validate;
pub(crate) mod version;

use ::state::{Loaded, Snapshot};
use engine_diag::Diagnostics;

use crate::{session::failed, view::plan::output_values};

/// The state with what the journal says since.
pub(crate) fn folded(loaded: &Loaded) -> Result<Option<Snapshot>, Diagnostics> {
    loaded.fold().map_err(|error| failed("The journal does not belong to the state", &error).into())
}

/// The outputs of the root module under their heading; empty where there are none.
pub(crate) fn outputs(snapshot: &Snapshot) -> String {
    let decoded: Vec<_> = snapshot
        .outputs
        .iter()
        .filter_map(|(name, output)| Some((&**name, output.decoded().ok()?, output.sensitive)))
        .collect();
    if decoded.is_empty() {
        return String::new();
    }
    let values = decoded.iter().map(|(name, value, sensitive)| (*name, value, *sensitive));
    format!("\nOutputs:\n\n{}", output_values(values))
}
