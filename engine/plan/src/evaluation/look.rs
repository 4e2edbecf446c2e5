//! The evaluation as `console` uses it: expressions in the root module, beside the objects that there are.

use std::sync::Arc;

use engine_diag::Diagnostics;
use engine_lang::{eval::evaluate, syntax::Expr};
use engine_model::address::{ModuleAddr, ResourceAddr};
use engine_value::Value;
use state::Snapshot;

use super::{Evaluation, Key, Slot, view::failures};
use crate::{program::Program, stored::stored_value, worklist::Id};

/// The current objects of a state that are of their types, with what is wrong with the others.
pub fn objects(program: &Program, snapshot: &Snapshot) -> (Vec<(ResourceAddr, Value)>, Diagnostics) {
    let (mut objects, mut wrong) = (Vec::new(), Diagnostics::new());
    for (addr, resource) in snapshot.resources() {
        let Some(object) = &resource.current else { continue };
        match stored_value(&program.providers, addr, &resource.provider, object) {
            Ok((value, _)) => objects.push((addr.clone(), value)),
            Err(error) => wrong.push(*error),
        }
    }
    (objects, wrong)
}

impl Evaluation {
    /// For looking at values: these objects are there, and all others are not known.
    pub fn looking(program: Arc<Program>, objects: &[(ResourceAddr, Value)]) -> Self {
        let mut evaluation = Self::new(program);
        evaluation.settled.extend(objects.iter().cloned());
        evaluation
    }

    /// The value of an expression in the root module, with its marks.
    ///
    /// # Errors
    /// What is wrong with it, or with what it refers to.
    pub fn expression(&mut self, expr: &Expr) -> Result<Value, Diagnostics> {
        let program = self.program.clone();
        let root = ModuleAddr::root();
        loop {
            let view = self.view(&program, &root, &program.config.root);
            let made = evaluate(expr, &view).map_err(failures);
            let asked = view.asked.into_inner();
            if asked.missing.is_empty() {
                return if asked.failed { Err(self.diagnostics.clone()) } else { made };
            }
            for key in &asked.missing {
                self.want(key);
            }
            loop {
                while let Some(id) = self.advance() {
                    self.look_outside(&program, id);
                }
                if !self.break_cycle() {
                    break;
                }
            }
        }
    }

    fn look_outside(&mut self, program: &Program, id: Id) {
        let slot = match self.key(id) {
            Key::Object(addr) => {
                let unknown = || {
                    let block = program.resource(addr)?;
                    let (_, schema) = program.schema(addr, block).ok()?;
                    Some(Value::unknown(schema.block.value_type()))
                };
                self.settled.get(addr).cloned().or_else(unknown).map_or(Slot::Failed, Slot::Value)
            }
            _ => Slot::Done,
        };
        self.finish_with(id, slot, Vec::new(), false);
    }
}
