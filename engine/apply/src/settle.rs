//! A call has answered: what that does to the state, and what others may now know.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::ResourceChange,
    event::HeldNode,
    execution::{Step, Which},
    name::{ClusterIdentity, NodeName, OperationId},
};
use engine_value::Value;
use providers_api::{Applied, ErrorKind, Health, Instance, Outcome, ProviderError};
use state::{Effect, Ended, Object, Record, Slot, Status};

use crate::{
    begin::subject,
    call::{Answer, Finished},
    describe,
    run::Run,
    stored,
};

/// How a step ended, what that does to the state, and the identifier of its object.
pub(crate) type Settled = (Ended, Vec<Effect>, Option<(String, String)>);

impl Run {
    pub(crate) fn settle(&mut self, finished: Finished) -> Settled {
        let step = self.dag.get(finished.id).clone();
        match (finished.answer, &step) {
            (Answer::Configured(result), Step::Configure(provider)) => self.settle_configured(provider, result),
            (Answer::Applied(outcome), Step::Create(addr) | Step::Update(addr)) => {
                self.settle_made(&step, addr, outcome)
            }
            (Answer::Applied(outcome), Step::Delete(addr, which)) => self.settle_deleted(&step, addr, which, outcome),
            (Answer::Data(Ok(object)), Step::Read(addr)) => self.settle_read(addr, object),
            (Answer::Data(Err(issues)), Step::Read(addr)) => {
                let told = self.without_secrets(&step, issues.iter().map(|issue| describe::issue(addr, issue)));
                self.failed(told, Vec::new())
            }
            (Answer::Done(Ok(())), step) => (Ended::Done, self.node_effects(step), None),
            (Answer::Done(Err(error)), step) => self.settle_error(step, &error, Vec::new()),
            (Answer::Health(Ok(Health::Healthy)), _) => (Ended::Done, Vec::new(), None),
            (Answer::Health(Ok(Health::Unhealthy(nodes))), Step::Gate(wave)) => self.unhealthy(*wave, &nodes),
            (Answer::Health(Err(error)), step) => self.settle_error(step, &error, Vec::new()),
            (_, step) => {
                let detail = format!("The answer to {} is of another kind.", describe::step(step));
                self.failed(Diagnostic::error("Invalid plan", detail).into(), Vec::new())
            }
        }
    }

    fn failed(&mut self, diagnostics: Diagnostics, effects: Vec<Effect>) -> Settled {
        let why = describe::first(&diagnostics);
        self.diagnostics.extend(diagnostics);
        (Ended::Failed(why), effects, None)
    }

    fn settle_error(&mut self, step: &Step, error: &ProviderError, effects: Vec<Effect>) -> Settled {
        // Without an interrupt it is an error like any other: nobody else would tell it.
        if error.kind == ErrorKind::Cancelled && self.request.cancel.is_cancelled() {
            return (Ended::Interrupted, effects, None);
        }
        let (doing, about) = self.subject(step);
        let told = self.without_secrets(step, [describe::failure(&doing, about.as_ref(), error)]);
        self.failed(told, effects)
    }

    /// An operation is named by what it does and where, not by its identifier.
    fn subject(&self, step: &Step) -> (String, Option<ResourceAddr>) {
        match step {
            Step::Operation(id) => match self.operations.get(id) {
                Some(operation) => {
                    (format!("on {}: {}", operation.node, operation.summary), operation.owners.first().cloned())
                }
                None => subject(step),
            },
            _ => subject(step),
        }
    }

    /// The plan is bound to its cluster: another one behind the same configuration stops here, and the state is not bound
    /// to a cluster that was never reached.
    fn settle_configured(
        &mut self,
        provider: &ProviderConfigAddr,
        result: Result<(Arc<dyn Instance>, Option<ClusterIdentity>), ProviderError>,
    ) -> Settled {
        match result {
            Ok((instance, identity)) => {
                // One that could not be configured while planning is held to the cluster of the state.
                let known = self.snapshot.clusters.get(provider);
                let expected = self.request.plan.clusters.get(provider).or(known);
                if let Some(wrong) = crate::stale::other_cluster(provider, expected, identity.as_ref()) {
                    return self.failed(wrong.into(), Vec::new());
                }
                if let Some(cluster) = identity.filter(|cluster| known != Some(cluster)) {
                    self.record(Record::Effects(vec![Effect::Cluster(provider.clone(), cluster)]));
                }
                self.instances.insert(provider.clone(), instance);
                (Ended::Done, Vec::new(), None)
            }
            Err(error) => self.settle_error(&Step::Configure(provider.clone()), &error, Vec::new()),
        }
    }

    fn settle_made(&mut self, step: &Step, addr: &ResourceAddr, outcome: Outcome<Applied>) -> Settled {
        let has_operations = self.begun.contains(addr);
        self.settled.insert(addr.clone());
        let created = matches!(step, Step::Create(_));
        let Some(now) = outcome.now else { return self.nothing_made(step, addr, outcome.error) };
        let breaches = self.breaches(addr, &now.object);
        let failed = outcome.error.is_some() || !breaches.is_empty();
        let status = if failed && created && !has_operations { Status::Tainted } else { Status::Ready };
        let (effects, id) = match self.keep(addr, &now, status) {
            Ok(effects) => (effects, self.identifier(step, &now.object)),
            Err(diagnostic) => return self.failed((*diagnostic).into(), Vec::new()),
        };
        if let Some(error) = outcome.error {
            return self.settle_error(step, &error, effects);
        }
        if !breaches.is_empty() {
            let told = self.without_secrets(step, breaches);
            return self.failed(told, effects);
        }
        self.evaluation.settle(addr, now.object);
        (Ended::Done, effects, id)
    }

    /// Nothing exists: a deposed object becomes the current one again.
    fn nothing_made(&mut self, step: &Step, addr: &ResourceAddr, error: Option<ProviderError>) -> Settled {
        let mut effects = Vec::new();
        if matches!(step, Step::Create(_))
            && let Some(key) = self.deposed.remove(addr)
        {
            effects.push(Effect::Restore { addr: addr.clone(), key });
        }
        let error = error.unwrap_or_else(|| ProviderError::permanent("the provider returned no object"));
        self.settle_error(step, &error, effects)
    }

    pub(crate) fn keep(
        &self,
        addr: &ResourceAddr,
        now: &Applied,
        status: Status,
    ) -> Result<Vec<Effect>, Box<Diagnostic>> {
        let Some(change) = self.changes.get(addr) else { return Ok(Vec::new()) };
        let before = self.snapshot.resource(addr).and_then(|resource| resource.current.as_ref());
        let object = stored::object(&self.request.providers, change, &now.object, now.private.clone(), status)?;
        Ok(vec![Effect::object(addr.clone(), Slot::Current, change.provider.clone(), before, &object)])
    }

    /// A planned value that is not what came out: dependants were planned with it, so they must not go on.
    fn breaches(&self, addr: &ResourceAddr, object: &Value) -> Diagnostics {
        let Some(change) = self.changes.get(addr) else { return Diagnostics::new() };
        let Ok(schema) = self.request.providers.schema(&change.provider.provider, addr.mode, &addr.ty) else {
            return Diagnostics::new();
        };
        let breaches = engine_plan::contract::agrees(&schema.block, &change.after, object, true);
        if breaches.is_empty() {
            return Diagnostics::new();
        }
        let summary = "Provider produced inconsistent result after apply";
        engine_plan::contract::breach(summary, addr, &change.provider, &breaches).into()
    }

    fn settle_deleted(
        &mut self,
        step: &Step,
        addr: &ResourceAddr,
        which: &Which,
        outcome: Outcome<Applied>,
    ) -> Settled {
        self.settled.insert(addr.clone());
        let slot = self.slot(addr, which);
        match (outcome.now, outcome.error) {
            (None, None) => (Ended::Done, vec![Effect::Remove { addr: addr.clone(), slot }], None),
            (None, Some(error)) => {
                let effects = vec![Effect::Remove { addr: addr.clone(), slot }];
                self.settle_error(step, &error, effects)
            }
            (Some(left), error) => {
                let error = error.unwrap_or_else(|| ProviderError::permanent("the object still exists"));
                let effects = self.left(addr, which, slot, &left).into_iter().collect();
                self.settle_error(step, &error, effects)
            }
        }
    }

    /// What a deletion that failed has left: the next run goes on from that.
    fn left(&self, addr: &ResourceAddr, which: &Which, slot: Slot, left: &Applied) -> Option<Effect> {
        let change = match which {
            Which::Deposed(key) => self.of_deposed.get(&(addr.clone(), key.clone())),
            Which::Current | Which::Replaced => self.changes.get(addr),
        }?;
        let stored = self.snapshot.resource(addr)?.object(&slot)?;
        // What was sensitive in it is so in what is left of it.
        let change = ResourceChange { after: change.before.clone(), ..change.clone() };
        let object =
            stored::object(&self.request.providers, &change, &left.object, left.private.clone(), stored.status);
        let object = Object {
            dependencies: stored.dependencies.clone(),
            create_before_destroy: stored.create_before_destroy,
            ..object.ok()?
        };
        (object != *stored).then(|| Effect::object(addr.clone(), slot, change.provider.clone(), Some(stored), &object))
    }

    fn settle_read(&mut self, addr: &ResourceAddr, object: Value) -> Settled {
        let applied = Applied { object: object.clone(), private: Vec::new() };
        match self.keep(addr, &applied, Status::Ready) {
            Ok(effects) => {
                let id = self.identifier(&Step::Read(addr.clone()), &object);
                self.evaluation.settle(addr, object);
                (Ended::Done, effects, id)
            }
            Err(diagnostic) => self.failed((*diagnostic).into(), Vec::new()),
        }
    }

    /// A node is held with what was done on it so far, until it is given back.
    fn node_effects(&self, step: &Step) -> Vec<Effect> {
        match step {
            Step::Operation(id) => {
                let Some(operation) = self.operations.get(id) else { return Vec::new() };
                let key = (operation.provider.clone(), operation.node.clone());
                let Some(held) = self.snapshot.held.get(&key) else { return Vec::new() };
                let mut held: HeldNode = held.clone();
                held.done.push(id.clone());
                vec![Effect::Held(key.0, held)]
            }
            Step::Release(provider, node) => vec![Effect::Released(provider.clone(), node.clone())],
            _ => Vec::new(),
        }
    }

    fn unhealthy(&mut self, wave: usize, nodes: &[(NodeName, String)]) -> Settled {
        let list: Vec<String> = nodes.iter().map(|(node, why)| format!("{node}: {why}")).collect();
        let left: usize = self.request.plan.waves.iter().skip(wave + 1).map(|wave| wave.nodes.len()).sum();
        let detail = format!(
            "{}. {} The nodes of this wave stay held.",
            list.join("; "),
            match left {
                0 => "It was the last wave.".to_owned(),
                1 => "The 1 node of the later wave was not touched.".to_owned(),
                n => format!("The {n} nodes of later waves were not touched."),
            }
        );
        let diagnostic = Diagnostic::error(format!("Wave {} is not healthy", wave + 1), detail)
            .hint("See to the nodes, then run apply again: it goes on from here.");
        self.failed(diagnostic.into(), Vec::new())
    }

    /// What people know an object by.
    fn identifier(&self, step: &Step, object: &Value) -> Option<(String, String)> {
        let id = object.get("id").filter(|id| !id.marks.sensitive)?.as_str()?;
        Some(("id".to_owned(), self.secrets(step).redact(id)))
    }

    /// Operations of a resource that were finished, of all that it has.
    pub(crate) fn progress(&self, owner: &ResourceAddr) -> (usize, usize) {
        let of_owner: Vec<&OperationId> =
            self.operations.values().filter(|o| o.owners.contains(owner)).map(|o| &o.id).collect();
        let done = self.finished_operations();
        (of_owner.iter().filter(|id| done.contains(id)).count(), of_owner.len())
    }

    fn finished_operations(&self) -> Vec<&OperationId> {
        let done = self.dag.nodes().filter(|(id, _)| self.ready.standing(*id) == engine_graph::Standing::Done);
        done.filter_map(|(_, step)| if let Step::Operation(id) = step { Some(id) } else { None }).collect()
    }
}
