//! Resources some of whose operations were done and others not: what each node is goes into the state, so that the next
//! plan says `unfinished` and does the rest.

use engine_diag::Diagnostic;
use engine_model::{address::ResourceAddr, change::Action, execution::Step};
use engine_value::Value;
use providers_api::{ApplyRequest, Outcome, PlannedChange};
use state::{Ended, Record, Status, StepResult};

use crate::{
    call::{self, Environment},
    run::Run,
};

impl Run {
    /// Settles every resource whose operations were begun and whose own step never came. Only reads the world.
    pub(crate) async fn settle_partial(&mut self) {
        let left: Vec<ResourceAddr> = self.begun.difference(&self.settled).cloned().collect();
        for addr in left {
            let (done, total) = self.progress(&addr);
            if let Some(diagnostic) = self.unfinished(&addr, done, total) {
                self.diagnostics.push(diagnostic);
            }
            self.settle_one(&addr).await;
        }
        self.flush().await;
    }

    fn unfinished(&self, addr: &ResourceAddr, done: usize, total: usize) -> Option<Diagnostic> {
        let held: Vec<&str> = self.snapshot.held.keys().map(|(_, node)| node.as_str()).collect();
        let held = match held.len() {
            0 => String::new(),
            1 => format!(" {} is still held.", held[0]),
            _ => format!(" These nodes are still held: {}.", held.join(", ")),
        };
        let detail = format!("{done} of {total} operations of {addr} are done.{held}");
        let hint = "Run plan: it shows what is left, and apply goes on.";
        (done < total).then(|| Diagnostic::warning("Unfinished", detail).hint(hint).about(addr))
    }

    async fn settle_one(&mut self, addr: &ResourceAddr) {
        let Some(change) = self.changes.get(addr).cloned() else { return };
        // A resource that is on its way out keeps what the state has: the next plan reads it.
        if matches!(change.action, Action::Delete | Action::Forget) {
            return;
        }
        let Some(instance) = self.instances.get(&change.provider).cloned() else { return };
        let bare = |value: &Value| value.clone().unmark_deep().0;
        let request = ApplyRequest {
            change: PlannedChange {
                addr: addr.clone(),
                action: change.action,
                before: bare(&change.before),
                after: bare(&change.after),
                config: bare(&change.config),
                private: change.private.clone(),
            },
            plan: self.request.digest.clone(),
        };
        let step = Step::Update(addr.clone());
        let env = Environment::afterwards(&self.request, step.clone(), self.secrets(&step));
        let Outcome { now, .. } = call::applied(&*instance, &request, env.as_call()).await;
        // Where even that fails, the state keeps the approved configuration from before the first operation.
        let Some(now) = now else { return };
        if let Ok(effects) = self.keep(addr, &now, Status::Ready) {
            let ended = Ended::Failed("operations are left".to_owned());
            self.record(Record::Result(StepResult { step, ended, effects }));
        }
    }
}
