//! The evaluation as apply uses it: objects are there once their steps are done.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::Action,
    plan::{Plan, PlanMode},
};
use engine_value::{Path, Secrets, Value};
use providers_api::PlannedChange;

use super::{Evaluation, Key, Slot, spans};
use crate::{contract, program::Program, proposed, repeated::mark_repeated, stored::mark_sensitive, worklist::Id};

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// These objects are not there yet: their steps are not done, or failed.
    Blocked(Vec<ResourceAddr>),
    /// The configuration is wrong, or contradicts what was planned; at least one of these is an error.
    Failed(Diagnostics),
}

impl Evaluation {
    /// For applying a plan: what the plan leaves as it is and what it has read is there from the start, everything else
    /// once it is settled.
    pub fn resume(program: Arc<Program>, plan: &Plan) -> Self {
        let mut evaluation = Self::new(program);
        for change in plan.changes.iter().filter(|change| change.deposed.is_none()) {
            let there = match plan.mode {
                // Providers are still configured from objects that are about to be destroyed.
                PlanMode::Destroy => Some(&change.before),
                _ if change.action == Action::NoOp => Some(&change.after),
                _ => None,
            };
            if let Some(there) = there {
                evaluation.settled.insert(change.addr.clone(), there.clone());
            }
            evaluation.changes.insert(change.addr.clone(), change.clone());
        }
        evaluation
    }

    /// The object at an address is there now, as its provider gave it. After that its value never changes. What its
    /// arguments and its schema say is sensitive stays so.
    pub fn settle(&mut self, addr: &ResourceAddr, object: Value) {
        let object = self.marked(addr, object);
        self.settled.insert(addr.clone(), object);
        let parked = self.list.find(&Key::Object(addr.clone())).filter(|id| !self.list.is_done(*id));
        if let Some(id) = parked {
            self.settle_parked(id, addr);
        }
    }

    fn marked(&self, addr: &ResourceAddr, object: Value) -> Value {
        let Some(change) = self.changes.get(addr) else { return object };
        let (_, mut marks) = change.after.clone().unmark_deep();
        if let Some(config) = self.value(&Key::Arguments(addr.clone())) {
            marks.extend(config.clone().unmark_deep().1);
        }
        let object = mark_repeated(&self.program.providers, &change.provider.provider, addr, object, marks);
        match self.program.providers.schema(&change.provider.provider, addr.mode, &addr.ty) {
            Ok(schema) => mark_sensitive(&schema.block, object),
            Err(_) => object,
        }
    }

    fn settle_parked(&mut self, id: Id, addr: &ResourceAddr) {
        if let Some(object) = self.settled.get(addr).cloned() {
            self.finish_with(id, Slot::Value(object), Vec::new(), false);
        }
    }

    /// The arguments of a resource, data source or ephemeral resource: an object of its schema's type, without marks, as
    /// it goes to the provider.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn arguments(&mut self, addr: &ResourceAddr) -> Result<Value, Stopped> {
        Ok(self.get(&Key::Arguments(addr.clone()))?.unmark_deep().0)
    }

    /// A planned creation, update or replacement with what is now known: `config` is evaluated again, and stands in
    /// `after` wherever that was unknown. Where the two contradict the plan, both are told. Without marks, as it goes to
    /// the provider.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn change(&mut self, addr: &ResourceAddr) -> Result<PlannedChange, Stopped> {
        let config = self.arguments(addr)?;
        let program = self.program.clone();
        let Some(change) = self.changes.get(addr) else {
            let detail = format!("The plan has no change of {addr}.");
            return Err(Stopped::Failed(Diagnostic::error("Invalid plan", detail).about(addr).into()));
        };
        let schema = program
            .providers
            .schema(&change.provider.provider, addr.mode, &addr.ty)
            .map_err(|error| Stopped::Failed(error.about(addr).into()))?;
        let bare = |value: &Value| value.clone().unmark_deep().0;
        let (before, planned) = (bare(&change.before), bare(&change.after));
        let after = proposed::settled(&schema.block, &planned, &config);
        let mut breaches = contract::planned(&schema.block, &before, &config, &after);
        breaches.extend(contract::agrees(&schema.block, &planned, &after, false));
        if !breaches.is_empty() {
            // What is secret in either must not be told.
            let marked = mark_sensitive(&schema.block, change.after.clone());
            let secret = |path: &Path| path.get(&marked).is_none_or(|part| part.contains_sensitive());
            breaches.iter_mut().filter(|(path, _)| secret(path)).for_each(|(_, what)| {
                *what = "is a sensitive value, and not the planned one".to_owned();
            });
            return Err(Stopped::Failed(contract::contradiction(addr, &breaches).into()));
        }
        Ok(PlannedChange {
            addr: addr.clone(),
            action: change.action,
            before,
            after,
            config,
            private: change.private.clone(),
        })
    }

    /// What a provider is given of an object and must not be told, whoever repeats it: of the plan, and of the arguments
    /// as far as they are known now.
    pub fn secrets(&self, addr: &ResourceAddr) -> Secrets {
        let change = self.changes.get(addr);
        let planned = change.into_iter().flat_map(|change| [&change.before, &change.after, &change.config]);
        let config = self.value(&Key::Arguments(addr.clone()));
        let schema = change.and_then(|change| {
            self.program
                .providers
                .schema(&change.provider.provider, addr.mode, &addr.ty)
                .ok()
                .map(|schema| &schema.block)
        });
        let values: Vec<Value> = planned
            .chain(config)
            .chain(self.settled.get(addr))
            .map(|value| match schema {
                Some(block) if !value.is_null() => mark_sensitive(block, value.clone()),
                _ => value.clone(),
            })
            .collect();
        Secrets::of(&values)
    }

    /// The same of a provider configuration.
    pub fn secrets_of_provider(&self, addr: &ProviderConfigAddr) -> Secrets {
        let config = self.value(&Key::Provider(addr.clone())).cloned();
        let schema = self.program.providers.get(&addr.provider).map(|provider| &provider.schemas().provider.block);
        let config = config.map(|config| match schema {
            Some(block) => mark_sensitive(block, config),
            None => config,
        });
        Secrets::of(&config)
    }

    /// The block of a provider configuration: an object of its schema's type, all null where there is no block;
    /// without marks, as it goes to the provider.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn provider(&mut self, addr: &ProviderConfigAddr) -> Result<Value, Stopped> {
        Ok(self.get(&Key::Provider(addr.clone()))?.unmark_deep().0)
    }

    /// An output of the root module, with its marks.
    ///
    /// # Errors
    /// [`Stopped`].
    pub fn output(&mut self, name: &str) -> Result<Value, Stopped> {
        self.get(&Key::Output(engine_model::address::ModuleAddr::root(), name.into()))
    }

    fn get(&mut self, key: &Key) -> Result<Value, Stopped> {
        let wanted = self.want(key);
        while let Some(id) = self.advance() {
            if let Key::Object(addr) = self.list.key(id).clone() {
                self.settle_parked(id, &addr);
            }
        }
        if !self.list.is_done(wanted) {
            return Err(Stopped::Blocked(self.blocked_by(wanted)));
        }
        match self.value(key) {
            Some(value) => Ok(value.clone()),
            None if self.diagnostics.has_errors() => Err(Stopped::Failed(self.diagnostics.clone())),
            None => {
                let what = spans::name(key);
                let detail = format!("{what} is in the plan, and from what is known now there would be none of it.");
                let error = Diagnostic::error("Configuration contradicts the plan", detail);
                Err(Stopped::Failed(error.about(what).hint("Make a new plan and review it.").into()))
            }
        }
    }

    /// The objects that a key waits for, however far away.
    fn blocked_by(&self, wanted: Id) -> Vec<ResourceAddr> {
        let mut seen = std::collections::BTreeSet::from([wanted]);
        let mut todo = vec![wanted];
        let mut found = Vec::new();
        while let Some(id) = todo.pop() {
            if let Key::Object(addr) = self.list.key(id) {
                found.push(addr.clone());
            }
            todo.extend(self.list.waits_for(id).iter().filter(|id| !self.list.is_done(**id) && seen.insert(**id)));
        }
        found.sort();
        found
    }
}
