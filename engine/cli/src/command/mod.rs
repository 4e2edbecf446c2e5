//! One file per command.

pub(crate) mod apply;
pub(crate) mod init;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod sandbox;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod validate;
pub(crate) mod version;

use ::state::{Loaded, Snapshot};
use engine_diag::Diagnostics;

use crate::session::failed;

/// The state with what the journal says since.
pub(crate) fn folded(loaded: &Loaded) -> Result<Option<Snapshot>, Diagnostics> {
    loaded.fold().map_err(|error| failed("The journal does not belong to the state", &error).into())
}
