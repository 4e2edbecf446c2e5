//! What a call is given that must not be told: providers and servers see values without marks, and may repeat them.

use engine_model::execution::{Step, Which};
use engine_plan::redacted;
use engine_value::Secrets;

use engine_diag::{Diagnostic, Diagnostics};

use crate::{begin::subject, run::Run};

impl Run {
    /// What the call of a step is given and must not be told.
    pub(crate) fn secrets(&self, step: &Step) -> Secrets {
        match step {
            Step::Configure(provider) => self.evaluation.secrets_of_provider(provider),
            Step::Delete(addr, Which::Deposed(key)) => {
                let change = self.of_deposed.get(&(addr.clone(), key.clone()));
                Secrets::of(change.map(|change| &change.before))
            }
            Step::Operation(id) => {
                let owner = self.operations.get(id).and_then(|operation| operation.owners.first());
                owner.map(|owner| self.evaluation.secrets(owner)).unwrap_or_default()
            }
            step => subject(step).1.map(|addr| self.evaluation.secrets(&addr)).unwrap_or_default(),
        }
    }

    /// Diagnostics in a provider's words, without what it must not tell.
    pub(crate) fn without_secrets(&self, step: &Step, found: impl IntoIterator<Item = Diagnostic>) -> Diagnostics {
        let secrets = self.secrets(step);
        Diagnostics(found.into_iter().map(|one| redacted(&secrets, one)).collect())
    }
}
