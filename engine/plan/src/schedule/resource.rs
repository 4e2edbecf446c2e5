//! Steps of changes, and their order by what the configuration and the state say.

use std::collections::{BTreeMap, BTreeSet};

use engine_graph::NodeId;
use engine_model::{
    address::{Mode, ResourceAddr},
    change::{Action, ReplaceOrder, ResourceChange},
    execution::{Step, Which},
};

use super::{Builder, Deletion, Item, Steps, Work};
use crate::depend::Subject;

impl Builder {
    /// One or two steps per change; a no-op gets a place that dependencies pass through.
    pub(super) fn add_changes(&mut self, work: &Work<'_>) {
        for change in work.changes {
            let steps = self.steps_of(change, work.state_only.contains(&change.addr));
            if change.deposed.is_none() {
                self.steps.insert(change.addr.clone(), steps);
            }
        }
    }

    fn steps_of(&mut self, change: &ResourceChange, state_only: bool) -> Steps {
        let addr = change.addr.clone();
        let provider = &change.provider;
        match change.action {
            Action::NoOp if state_only => {
                // Writing the state needs no provider, so it is not bound to its configuration.
                let id = self.dag.add(Item::Step(Step::StateOnly(addr)));
                Steps { makes: vec![id], made: Some(id), ..Steps::default() }
            }
            Action::NoOp => {
                let id = self.dag.add(Item::Through(addr.to_string()));
                Steps { makes: vec![id], made: Some(id), ..Steps::default() }
            }
            Action::Create => self.making(Step::Create(addr), change),
            Action::Update => self.making(Step::Update(addr), change),
            Action::Read => self.making(Step::Read(addr), change),
            Action::Forget => {
                let id = self.dag.add(Item::Step(Step::Forget(addr)));
                Steps { destroys: vec![id], destroyed: Some(id), ..Steps::default() }
            }
            Action::Delete => {
                let which = change.deposed.clone().map_or(Which::Current, Which::Deposed);
                let id = self.step(Step::Delete(addr, which), provider);
                Steps { destroys: vec![id], destroyed: Some(id), ..Steps::default() }
            }
            Action::Replace(ReplaceOrder::DestroyThenCreate) => {
                let delete = self.step(Step::Delete(addr.clone(), Which::Current), provider);
                let create = self.step(Step::Create(addr), provider);
                self.dag.edge(delete, create);
                Steps { makes: vec![create], made: Some(create), destroys: vec![delete], destroyed: Some(delete) }
            }
            Action::Replace(ReplaceOrder::CreateThenDestroy) => {
                let create = self.step(Step::Create(addr.clone()), provider);
                let delete = self.step(Step::Delete(addr, Which::Replaced), provider);
                self.dag.edge(create, delete);
                Steps { makes: vec![create], made: Some(create), destroys: vec![delete], destroyed: Some(delete) }
            }
        }
    }

    fn making(&mut self, step: Step, change: &ResourceChange) -> Steps {
        let id = self.step(step, &change.provider);
        Steps { makes: vec![id], made: Some(id), ..Steps::default() }
    }

    /// Everything is made after what its configuration refers to. Two resources with operations on one provider meet on
    /// their nodes instead (see `node.rs`).
    pub(super) fn add_configured(&mut self, work: &Work<'_>) {
        for subject in work.dependencies.configured.keys() {
            let needs = self.needs(work, subject);
            let (makes, made) = match subject {
                Subject::Instance(addr) => {
                    let Some(steps) = self.steps.get(addr) else { continue };
                    (steps.makes.clone(), steps.made)
                }
                Subject::Provider(provider) => (vec![self.configure(provider)], None),
                Subject::Group(name) => (vec![self.group(name)], None),
            };
            let mut before: Vec<NodeId> = Vec::new();
            for need in &needs {
                let ends = self.settled(need);
                match (subject, need) {
                    (Subject::Instance(addr), Subject::Instance(other)) if self.meet_on_nodes(addr, other) => {
                        self.precede((other, &ends), (addr, &makes, made));
                    }
                    _ => before.extend(ends),
                }
            }
            self.join(&before, &makes, || format!("what {} needs", subject_name(subject)));
        }
    }

    /// Destruction goes against the dependencies that the state remembers.
    pub(super) fn add_stored(&mut self, work: &Work<'_>, deletion: Deletion) {
        let current = || work.changes.iter().filter(|change| change.deposed.is_none());
        let actions: BTreeMap<&ResourceAddr, Action> = current().map(|c| (&c.addr, c.action)).collect();
        let kept_until_replaced: BTreeSet<&ResourceAddr> =
            current().filter(|change| change.create_before_destroy).map(|change| &change.addr).collect();
        for (dependant, needs) in &work.dependencies.stored {
            let Some(upper) = self.steps.get(dependant).cloned() else { continue };
            for need in needs.iter().filter(|need| *need != dependant) {
                let Some(lower) = self.steps.get(need).cloned() else { continue };
                let Some(action) = actions.get(need) else { continue };
                // What depends on it goes first, or has let go of it, before it is destroyed or changed.
                let gone = upper.destroyed.filter(|_| actions.get(dependant) != Some(&Action::Forget));
                match action {
                    Action::Delete if deletion == Deletion::AfterDependants || kept_until_replaced.contains(need) => {
                        let before = gone.or(upper.made);
                        self.precede((dependant, before.as_slice()), (need, &lower.destroys, lower.destroyed));
                    }
                    Action::Delete => {
                        self.precede((dependant, gone.as_slice()), (need, &lower.destroys, lower.destroyed));
                        let is_made_later = !matches!(
                            actions.get(dependant),
                            None | Some(Action::NoOp | Action::Replace(ReplaceOrder::CreateThenDestroy))
                        );
                        if is_made_later {
                            self.precede((need, lower.destroyed.as_slice()), (dependant, &upper.makes, upper.made));
                        }
                    }
                    Action::Replace(ReplaceOrder::DestroyThenCreate) => {
                        self.join(gone.as_slice(), &lower.destroys, String::new);
                    }
                    Action::Replace(ReplaceOrder::CreateThenDestroy) => {
                        let before: Vec<NodeId> = gone.into_iter().chain(upper.made).collect();
                        self.join(&before, &lower.destroys, String::new);
                    }
                    // What is kept until it is replaced goes last, whatever else there is.
                    Action::Update
                        if deletion == Deletion::BeforeDependants && kept_until_replaced.contains(dependant) => {}
                    Action::Update if upper.made.is_none() => {
                        self.precede((dependant, gone.as_slice()), (need, &lower.makes, lower.made));
                    }
                    Action::Update | Action::NoOp | Action::Create | Action::Read | Action::Forget => {}
                }
            }
        }
        self.destroy_before_providers(work);
    }

    /// A provider that is configured from a resource must still work when its own objects are destroyed.
    fn destroy_before_providers(&mut self, work: &Work<'_>) {
        let mut destroyed: BTreeMap<_, Vec<NodeId>> = BTreeMap::new();
        for change in work.changes.iter().filter(|c| c.addr.mode == Mode::Managed && c.action == Action::Delete) {
            let ends = self.steps.get(&change.addr).and_then(|s| s.destroyed);
            destroyed.entry(&change.provider).or_default().extend(ends);
        }
        for (provider, ends) in destroyed {
            let Some(needs) = work.dependencies.configured.get(&Subject::Provider(provider.clone())) else { continue };
            for need in needs {
                let Subject::Instance(addr) = need else { continue };
                let destroys = self.steps.get(addr).map(|s| s.destroys.clone()).unwrap_or_default();
                self.join(&ends, &destroys, || format!("what {provider} manages"));
            }
        }
    }
}

fn subject_name(subject: &Subject) -> String {
    match subject {
        Subject::Instance(addr) => addr.to_string(),
        Subject::Provider(provider) => provider.to_string(),
        Subject::Group(name) => name.to_string(),
    }
}
