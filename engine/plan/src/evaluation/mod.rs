//! Configuration to values, on demand: one evaluator for plan and apply.
//!
//! The difference between the two is only which objects are there: while planning they are planned, while applying each
//! is there once its step is done ([`Evaluation::settle`]). Instances are those of the plan, and stay so.

mod apply;
mod condition;
mod depend;
mod ephemeral;
mod key;
mod look;
mod numbers;
mod provider;
mod spans;
mod values;
mod view;

use std::{collections::BTreeSet, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{Ancestor, ResourceAddr},
    plan::WaitsFor,
};
use engine_value::{Origin, Unknown, Value};
use rustc_hash::FxHashMap;

pub use apply::Stopped;
pub(crate) use key::Key;
pub use look::objects;
pub(crate) use values::declared;

use crate::{
    expand::Expansion,
    program::Program,
    worklist::{Id, Worklist},
};

/// What is there under a key.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Nothing yet.
    Empty,
    /// A value.
    Value(Value),
    /// Instances.
    Expansion(Arc<Expansion>),
    /// Nothing but that it is finished.
    Done,
    /// It failed, and why has been told.
    Failed,
}

/// What is known of a key.
#[derive(Debug)]
struct Node {
    slot: Slot,
    /// What it used.
    needs: Vec<Id>,
    /// Does anything hang on an object or a provider configuration? If not, nobody ever waits for it.
    inert: bool,
    /// Will something that `depends_on` names by it change?
    pending: bool,
    /// The nearest objects that it hangs on.
    ancestors: Arc<BTreeSet<Ancestor>>,
}

impl Default for Node {
    fn default() -> Self {
        Self { slot: Slot::Empty, needs: Vec::new(), inert: true, pending: false, ancestors: Arc::default() }
    }
}

/// Values of a configuration, evaluated on demand, each at most once.
pub struct Evaluation {
    program: Arc<Program>,
    list: Worklist<Key>,
    nodes: Vec<Node>,
    /// What unknown values wait for, by their origin's number.
    origins: Vec<WaitsFor>,
    diagnostics: Diagnostics,
    /// Is only what is written looked at, whatever instances there are?
    validating: bool,
    /// Objects that are there although nobody has asked for them yet; only while applying.
    settled: FxHashMap<ResourceAddr, Value>,
    /// The changes that are applied; empty while planning.
    changes: FxHashMap<ResourceAddr, engine_model::change::ResourceChange>,
}

impl Evaluation {
    /// Nothing is evaluated yet.
    pub(crate) fn new(program: Arc<Program>) -> Self {
        Self {
            program,
            list: Worklist::default(),
            nodes: Vec::new(),
            origins: Vec::new(),
            diagnostics: Diagnostics::new(),
            validating: false,
            settled: FxHashMap::default(),
            changes: FxHashMap::default(),
        }
    }

    /// For looking only at what is written: one instance stands for all.
    pub(crate) fn validating(program: Arc<Program>) -> Self {
        Self { validating: true, ..Self::new(program) }
    }

    /// Wants a key.
    pub(crate) fn want(&mut self, key: &Key) -> Id {
        let id = self.list.want(key);
        while self.nodes.len() < self.list.len() {
            self.nodes.push(Node::default());
        }
        id
    }

    /// Evaluates what can be evaluated, and hands out the next key whose value comes from outside. Whoever takes it
    /// calls [`Self::finish`] or [`Self::wait`] for it, now or later.
    pub(crate) fn advance(&mut self) -> Option<Id> {
        loop {
            let id = self.list.next()?;
            if self.list.key(id).is_outside() {
                return Some(id);
            }
            self.step(id);
        }
    }

    /// The key of that number.
    pub(crate) fn key(&self, id: Id) -> &Key {
        self.list.key(id)
    }

    /// What is there under a key; `None`: not finished.
    pub(crate) fn slot(&self, key: &Key) -> Option<&Slot> {
        let id = self.list.find(key).filter(|id| self.list.is_done(*id))?;
        Some(&self.nodes[id.0 as usize].slot)
    }

    /// The value under a key, if it has one.
    pub(crate) fn value(&self, key: &Key) -> Option<&Value> {
        match self.slot(key)? {
            Slot::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The instances under a key, if they are known.
    pub(crate) fn expansion(&self, key: &Key) -> Option<&Arc<Expansion>> {
        match self.slot(key)? {
            Slot::Expansion(expansion) => Some(expansion),
            _ => None,
        }
    }

    /// Will anything that the key stands for change?
    pub(crate) fn is_pending(&self, key: &Key) -> bool {
        self.list.find(key).is_some_and(|id| self.nodes[id.0 as usize].pending)
    }

    /// Makes a key that was handed out wait for others, and be handed out again when all of them are finished. False: they
    /// are.
    pub(crate) fn wait(&mut self, id: Id, keys: &[Key]) -> bool {
        let ids: Vec<Id> = keys.iter().map(|key| self.want(key)).collect();
        if ids.iter().all(|other| self.list.is_done(*other)) {
            return false;
        }
        self.list.wait(id, &ids);
        true
    }

    /// A key that was handed out is finished. `pending`: will its object change?
    pub(crate) fn finish(&mut self, id: Id, slot: Slot, needs: &[Key], pending: bool) {
        let used: Vec<Id> = needs.iter().filter_map(|key| self.list.find(key)).collect();
        self.finish_with(id, slot, used, pending);
    }

    fn finish_with(&mut self, id: Id, slot: Slot, mut needs: Vec<Id>, pending: bool) {
        needs.sort_unstable();
        needs.dedup();
        needs.retain(|need| !self.nodes[need.0 as usize].inert || self.list.key(*need).is_outside());
        let outside = matches!(self.list.key(id), Key::Object(_));
        let ancestors = self.ancestors_of(id, &needs);
        let node = &mut self.nodes[id.0 as usize];
        node.slot = slot;
        node.inert = needs.is_empty() && !outside;
        node.needs = needs;
        node.pending = pending;
        node.ancestors = ancestors;
        self.list.finish(id);
    }

    /// Adds what is wrong.
    pub(crate) fn report(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
    }

    /// Everything that was wrong.
    pub(crate) fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// How many keys were ever wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.list.len()
    }

    /// How many times something was evaluated: counted work, for tests.
    pub(crate) fn work(&self) -> u64 {
        self.list.handed_out()
    }

    /// The table of origins.
    pub(crate) fn origins(&self) -> &[WaitsFor] {
        &self.origins
    }

    /// The value with an origin on every unknown part that has none yet.
    pub(crate) fn originate(&mut self, value: Value, waits_for: impl FnOnce() -> WaitsFor) -> Value {
        if value.is_wholly_known() {
            return value;
        }
        let origin = Origin(self.origins.len() as u32);
        let mut used = false;
        let value = value.transform(&mut |_, part| match part.as_unknown() {
            Some(unknown) if unknown.origin.is_none() => {
                used = true;
                let unknown = Unknown { origin: Some(origin), ..unknown.clone() };
                Value { data: engine_value::Data::Unknown(Arc::new(unknown)), marks: part.marks }
            }
            _ => part,
        });
        if used {
            self.origins.push(waits_for());
        }
        value
    }

    /// What an unknown value waits for, in words.
    fn waits_for(&self, value: &Value) -> Option<String> {
        let origin = value.first_unknown()?.origin?;
        Some(match self.origins.get(origin.0 as usize)? {
            WaitsFor::Change(addr) => format!("the planned change of {addr}"),
            WaitsFor::Read(addr) => format!("{addr}, which is read during apply"),
            WaitsFor::Ephemeral(name) => name.clone(),
        })
    }

    /// Reports a cycle, where there is one, and lets its keys fail, so that what hangs on them is not told again. False:
    /// nothing waits.
    pub(crate) fn break_cycle(&mut self) -> bool {
        let Some(cycle) = self.list.cycle() else { return false };
        let error = self.cycle_error(&cycle);
        self.report([error]);
        for id in cycle {
            self.finish_with(id, Slot::Failed, Vec::new(), false);
        }
        true
    }

    fn cycle_error(&self, cycle: &[Id]) -> Diagnostic {
        // Arguments and instances are steps of the evaluation, not of what the user wrote.
        let mut steps: Vec<&Key> = Vec::new();
        for id in cycle {
            let key = self.list.key(*id);
            let same = steps.last().is_some_and(|last| last.subject() == key.subject());
            if !same {
                steps.push(key);
            }
        }
        if steps.len() > 1 && steps.first().map(|key| key.subject()) == steps.last().map(|key| key.subject()) {
            steps.pop();
        }
        let names: Vec<String> = steps.iter().map(|key| spans::name(key)).collect();
        let first = names.first().cloned().unwrap_or_default();
        let detail = format!("These refer to each other: {} → {first}.", names.join(" → "));
        let mut error =
            Diagnostic::error("Cycle", detail).hint("Break the circle: one of them must not refer to the next.");
        for (i, key) in steps.iter().enumerate() {
            let next = &names[(i + 1) % names.len()];
            let Some(span) = spans::span(&self.program, key, steps[(i + 1) % steps.len()]) else { continue };
            error = match error.span {
                None => error.at(span),
                Some(_) => error.related(span, format!("{} refers to {next}", names[i])),
            };
        }
        error
    }
}
