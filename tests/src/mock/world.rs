//! What there is: objects, nodes, values; who asked for what; what is to fail.
//!
//! A test edits it (drift), scripts failures, and asserts on the record of calls. Clones share one world;
//! [`World::copy`] makes another.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use engine_model::{
    name::{NodeName, PlanDigest},
    operation::{ExclusionReason, Victim},
};
use engine_value::Value;
use providers_api::ErrorKind;

use super::{
    call::{Call, Verb},
    fault::{Fault, How},
};

/// The world. Clones share it.
#[derive(Clone, Default)]
pub struct World(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    contents: Contents,
    calls: Vec<Call>,
    faults: Vec<Fault>,
    hooks: Vec<(Call, Hook)>,
    /// So many writes are still to come before one fails.
    write_fails: Option<(usize, How)>,
    most_held: usize,
}

type Hook = Box<dyn FnOnce(&World) + Send>;

/// What there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Objects by their identifier.
    pub objects: BTreeMap<String, Object>,
    /// How many were ever made for an address.
    pub made: BTreeMap<String, usize>,
    /// Nodes by name.
    pub nodes: BTreeMap<NodeName, Node>,
    /// What the data source `mock_value` reads, by key.
    pub values: BTreeMap<String, String>,
}

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The address that it was made for.
    pub address: String,
    /// Its arguments by name; nulls are left out.
    pub arguments: BTreeMap<String, Value>,
    /// Was it made half?
    pub broken: bool,
    /// Was it read back? Until then the same request again finds it, as a client token does.
    pub acknowledged: bool,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// What was set on it.
    pub settings: BTreeMap<String, String>,
    /// The pods on it, as a hold's envelope counts them.
    pub pods: Vec<Victim>,
    /// Its failure domain.
    pub domain: Option<String>,
    /// The plan that holds it.
    pub held_by: Option<PlanDigest>,
    /// What a gate finds wrong with it.
    pub ill: Option<String>,
    /// Why it is left alone.
    pub excluded: Option<ExclusionReason>,
    /// Is it unavailable for other reasons?
    pub unavailable: bool,
    /// The highest fence that it has obeyed.
    pub fence: u64,
}

impl World {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing is left half done where it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A world with these nodes and nothing else.
    pub fn with_nodes(names: &[&str]) -> Self {
        let world = Self::default();
        world.edit(|contents| {
            contents.nodes.extend(names.iter().map(|name| (NodeName::from(*name), Node::default())));
        });
        world
    }

    /// Another world with the same contents, which nobody has asked for anything yet, and in which nothing fails.
    #[must_use]
    pub fn copy(&self) -> Self {
        let contents = self.contents();
        Self(Arc::new(Mutex::new(Inner { contents, ..Inner::default() })))
    }

    /// What there is.
    pub fn contents(&self) -> Contents {
        self.inner().contents.clone()
    }

    /// Looks at what there is, or changes it: nobody but the test does it so.
    pub fn edit<T>(&self, edit: impl FnOnce(&mut Contents) -> T) -> T {
        edit(&mut self.inner().contents)
    }

    /// Somebody changes an argument of an object by hand.
    pub fn drift(&self, id: &str, argument: &str, value: impl Into<Value>) {
        self.edit(|contents| {
            let object = contents.objects.get_mut(id).expect("an object that exists");
            object.arguments.insert(argument.to_owned(), value.into());
        });
    }

    /// The next `times` calls like this one fail.
    pub fn fail(&self, verb: Verb, about: &str, how: How, times: usize) {
        self.inner().faults.push(Fault { verb, about: about.to_owned(), how, times });
    }

    /// Of all calls that change something, number `n` from now on fails, from 0.
    pub fn fail_write(&self, n: usize, how: How) {
        self.inner().write_fails = Some((n, how));
    }

    /// Every call like this one is refused for good.
    pub fn refuse(&self, verb: Verb, about: &str) {
        self.fail(verb, about, How::Refused(ErrorKind::Permanent), usize::MAX);
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        let mut inner = self.inner();
        inner.faults.clear();
        inner.write_fails = None;
        drop(inner);
        self.edit(|contents| contents.nodes.values_mut().for_each(|node| node.ill = None));
    }

    /// When the world is next asked so, this happens first.
    pub fn when(&self, verb: Verb, about: &str, hook: impl FnOnce(&World) + Send + 'static) {
        self.inner().hooks.push((Call { verb, about: about.to_owned() }, Box::new(hook)));
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.inner().calls.clone()
    }

    /// Every call so far that changed something, in words. The record is empty afterwards.
    pub fn take_writes(&self) -> Vec<String> {
        let calls = std::mem::take(&mut self.inner().calls);
        calls.iter().filter(|call| call.verb.is_write()).map(ToString::to_string).collect()
    }

    /// So many nodes were held at the same time, at most.
    pub fn most_held(&self) -> usize {
        self.inner().most_held
    }

    /// Records a call, and tells how it is to fail.
    pub(super) fn called(&self, verb: Verb, about: &str) -> Option<How> {
        let call = Call { verb, about: about.to_owned() };
        let mut inner = self.inner();
        inner.calls.push(call.clone());
        let hook = inner.hooks.iter().position(|(at, _)| *at == call).map(|at| inner.hooks.remove(at).1);
        drop(inner);
        if let Some(hook) = hook {
            hook(self);
        }
        let mut inner = self.inner();
        if verb.is_write()
            && let Some((left, how)) = inner.write_fails.take()
        {
            match left.checked_sub(1) {
                None => return Some(how),
                Some(left) => inner.write_fails = Some((left, how)),
            }
        }
        let fault =
            inner.faults.iter_mut().find(|fault| fault.verb == verb && fault.about == about && fault.times > 0)?;
        fault.times -= 1;
        Some(fault.how.clone())
    }

    /// Counts the nodes that are held now.
    pub(super) fn count_held(&self) {
        let mut inner = self.inner();
        let held = inner.contents.nodes.values().filter(|node| node.held_by.is_some()).count();
        inner.most_held = inner.most_held.max(held);
    }
}
