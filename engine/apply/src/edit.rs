//! A change of the state alone, by a command: recorded as an apply is, so that a crash leaves all of it or nothing, and
//! plans that were made before are stale.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{host::Host, name::PlanDigest};
use state::{Begin, Effect, Fence, Lineage, Loaded, Record, Snapshot, Store};

use crate::run::cannot_write;

/// What is changed, by whom.
pub struct Edit<'a> {
    /// Where the state is.
    pub store: Arc<dyn Store>,
    /// The lock that is held.
    pub fence: Fence,
    /// What was asked for: "import".
    pub operation: &'a str,
    /// What exactly: a run is known by it, as others are by their plan.
    pub digest: PlanDigest,
    /// Who asked: "user@host".
    pub who: &'a str,
    /// The clock and randomness.
    pub host: &'a dyn Host,
    /// What is done.
    pub effects: Vec<Effect>,
}

/// Carries it out. Gives the state as it is now.
///
/// # Errors
/// The state cannot be written, or does not fit; what of it is durable, the next run folds.
pub async fn edit(edit: Edit<'_>, loaded: &Loaded) -> Result<Snapshot, Diagnostics> {
    let folded = loaded.fold().map_err(|error| {
        Diagnostics::from(Diagnostic::error("The journal does not belong to the state", format!("{error}.")))
    })?;
    let mut snapshot = folded.unwrap_or_else(|| Snapshot::new(Lineage::random(edit.host)));
    let begin = Record::Begin(Begin {
        base: snapshot.base(),
        plan: edit.digest,
        fence: edit.fence,
        operation: edit.operation.to_owned(),
        who: edit.who.to_owned(),
        at: state::timestamp(edit.host),
    });
    let records = [begin, Record::Effects(edit.effects)];
    for record in &records {
        snapshot.apply_record(record).map_err(|error| {
            Diagnostics::from(Diagnostic::error("The state cannot take in the change", format!("{error}.")))
        })?;
    }
    let unwritten = |error| Diagnostics::from(cannot_write(&error));
    edit.store.append(&records, edit.fence).await.map_err(unwritten)?;
    snapshot.serial = edit.store.commit(&snapshot, edit.fence).await.map_err(unwritten)?;
    Ok(snapshot)
}
