//! What became of what was begun and not seen to end.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostic;
use engine_model::{
    address::ProviderConfigAddr,
    event::{Event, HeldNode},
    execution::Step,
    host::Host,
    operation::Operation,
};
use providers_api::{Call, Instance, RecoverRequest, Recovery, Silent};
use state::{Effect, Found, Loaded, OpenIntent, Record, Recovered, Snapshot, Work};
use tokio_util::sync::CancellationToken;

/// Asks what became of each open intent. Only reads; the records are for whoever holds the lock to append (a plan
/// passes them by: it reads the world itself).
///
/// A change of an object needs no question: the next plan reads the object, and the same change again finds what it did.
/// A node that was being held or given back stays in the state as held, and the next plan goes on with it.
pub async fn recover(
    loaded: &Loaded,
    snapshot: &Snapshot,
    instances: &BTreeMap<ProviderConfigAddr, Arc<dyn Instance>>,
    host: &dyn Host,
    events: &(dyn Fn(Event) + Send + Sync),
) -> Vec<Record> {
    let mut records = Vec::new();
    for OpenIntent { run, intent } in loaded.open_intents() {
        let found = match &intent.work {
            Work::Change(_) | Work::Hold(_) | Work::Release(_) => Some(Found::NotStarted),
            Work::Operation(operation) => ask(operation, &run.plan, instances, host, events).await,
        };
        let Some(found) = found else { continue };
        let effects = effects(&intent.step, &intent.work, &found, snapshot);
        records.push(Record::Recovered(Recovered {
            plan: run.plan.clone(),
            step: intent.step.clone(),
            found,
            effects,
        }));
    }
    records
}

async fn ask(
    operation: &Operation,
    plan: &engine_model::name::PlanDigest,
    instances: &BTreeMap<ProviderConfigAddr, Arc<dyn Instance>>,
    host: &dyn Host,
    events: &(dyn Fn(Event) + Send + Sync),
) -> Option<Found> {
    let instance = instances.get(&operation.provider)?;
    let cancel = CancellationToken::new();
    let call = Call { progress: &Silent, cancel: &cancel, host };
    let request = RecoverRequest { operation: operation.clone(), plan: plan.clone() };
    match instance.recover(request, call).await {
        Recovery::NotStarted => Some(Found::NotStarted),
        Recovery::Partly(what) => Some(Found::Partly(what)),
        Recovery::Done => Some(Found::Done),
        Recovery::Unknown(error) => {
            let detail = format!(
                "An earlier run began on {} ({}) and was cut off; what became of it is not known: {}.",
                operation.node,
                operation.summary,
                crate::describe::chain(&error)
            );
            events(Event::Diagnostic(Diagnostic::warning("An operation was cut off", detail)));
            None
        }
    }
}

fn effects(step: &Step, work: &Work, found: &Found, snapshot: &Snapshot) -> Vec<Effect> {
    let (Step::Operation(id), Work::Operation(operation), Found::Done) = (step, work, found) else {
        return Vec::new();
    };
    let key = (operation.provider.clone(), operation.node.clone());
    let Some(held) = snapshot.held.get(&key).filter(|held| !held.done.contains(id)) else { return Vec::new() };
    let mut held: HeldNode = held.clone();
    held.done.push(id.clone());
    vec![Effect::Held(key.0, held)]
}
