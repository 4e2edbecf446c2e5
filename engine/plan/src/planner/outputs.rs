//! Outputs of the root module: as the state has them, and as they will be.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostic;
use engine_model::{
    address::ModuleAddr,
    change::{Action, OutputChange},
    plan::PlanMode,
};
use engine_value::{Type, Value};

use super::Planner;
use crate::evaluation::Key;

impl Planner<'_> {
    /// Every output that there is or will be. One that could not be evaluated stays as it is.
    pub(super) fn output_changes(&mut self) -> BTreeMap<Arc<str>, OutputChange> {
        let mut changes = BTreeMap::new();
        let snapshot = self.snapshot;
        let declared = &self.program().config.root.outputs;
        let partial = !self.input.targets.is_empty();
        for name in snapshot.outputs.keys().chain(declared.keys()) {
            if changes.contains_key(name) {
                continue;
            }
            let before = match snapshot.outputs.get(name).map(state::Output::decoded) {
                Some(Ok(before)) => before.unmark_deep().0,
                None => Value::null(Type::Dynamic),
                Some(Err(error)) => {
                    let detail =
                        format!("The state holds a value for the output \"{name}\" that is not of its type: {error}.");
                    self.report(Diagnostic::error("Invalid output in the state", detail));
                    continue;
                }
            };
            let was_sensitive = snapshot.outputs.get(name).is_some_and(|output| output.sensitive);
            if before.is_null() && self.input.mode == PlanMode::Destroy {
                continue;
            }
            let output = declared.get(name).filter(|_| self.input.mode != PlanMode::Destroy);
            let Some(output) = output else {
                let action = if partial || before.is_null() { Action::NoOp } else { Action::Delete };
                let after = if partial { before.clone() } else { Value::null(Type::Dynamic) };
                changes.insert(name.clone(), OutputChange { action, before, after, sensitive: was_sensitive });
                continue;
            };
            let key = Key::Output(ModuleAddr::root(), name.clone());
            let after = self.evaluation.value(&key).cloned();
            let after = after.map_or_else(|| before.clone(), |after| after.unmark_deep().0);
            let sensitive = output.sensitive;
            let action = match (before.is_null(), after.is_null()) {
                (true, true) => Action::NoOp,
                (true, false) => Action::Create,
                (false, true) => Action::Delete,
                (false, false) if before == after && was_sensitive == sensitive => Action::NoOp,
                (false, false) => Action::Update,
            };
            changes.insert(name.clone(), OutputChange { action, before, after, sensitive });
        }
        changes
    }
}
