//! What became of what was begun and not seen to end.

use engine_diag::{Diagnostic, chain};
use engine_model::{name::PlanDigest, operation::Operation};
use providers_api::{Call, RecoverRequest, Recovery, Silent};
use state::{Found, Loaded, OpenIntent, Record, Recovered, Work};
use tokio_util::sync::CancellationToken;

use crate::run::Run;

impl Run {
    /// Asks what became of each intent of an earlier run that was not seen to end, once this one has done its work: what
    /// it did on nodes is settled then, and the answers are for the record.
    ///
    /// A change of an object needs no question: this run's plan has read the object, and the same change again finds what
    /// it did. A node that was being held or given back is in the state as held, and this run's plan went on with it.
    pub(crate) async fn recover(&mut self, loaded: &Loaded) {
        for OpenIntent { run, intent } in loaded.open_intents() {
            let found = match &intent.work {
                Work::Change(_) | Work::Hold(_) | Work::Release(_) => Some(Found::NotStarted),
                Work::Operation(operation) => self.ask(operation, &run.plan).await,
            };
            if let Some(found) = found {
                let (plan, step) = (run.plan.clone(), intent.step.clone());
                self.record(Record::Recovered(Recovered { plan, step, found, effects: Vec::new() }));
            }
        }
        self.flush().await;
    }

    async fn ask(&mut self, operation: &Operation, plan: &PlanDigest) -> Option<Found> {
        let instance = self.instances.get(&operation.provider)?.clone();
        // An interrupt has ended the walk; what is only asked is answered all the same.
        let cancel = CancellationToken::new();
        let call = Call { progress: &Silent, cancel: &cancel, host: &*self.request.host };
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
                    chain(&error)
                );
                self.diagnostics.push(Diagnostic::warning("An operation was cut off", detail));
                None
            }
        }
    }
}
