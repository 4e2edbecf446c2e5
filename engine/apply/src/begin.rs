//! A step begins: what it calls, and what must be durable before that.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_graph::NodeId;
use engine_model::{
    address::{DeposedKey, ProviderConfigAddr, ResourceAddr},
    change::{Action, ReplaceOrder, ResourceChange},
    event::HeldNode,
    execution::{Step, Which},
    name::{NodeName, OperationId},
    operation::{Hold, OperationKind},
};
use engine_plan::Stopped;
use engine_value::Value;
use providers_api::{ApplyRequest, DataRequest, GateRequest, HoldRequest, Instance, OperateRequest, PlannedChange};
use state::{Effect, Intent, Slot, Work};

use crate::{call::Call, describe, run::Run, stored};

/// What became of a step at its beginning.
pub(crate) enum Begun {
    /// It called nobody, and is done.
    Done(Vec<Effect>),
    /// It cannot begin.
    Failed(Diagnostics),
    /// It calls a provider; the intent must be durable before. Without one nothing is changed.
    Call(Box<Call>, Option<Box<Intent>>),
}

impl From<Diagnostic> for Begun {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Failed(diagnostic.into())
    }
}

impl Run {
    pub(crate) fn begin(&mut self, id: NodeId) -> Begun {
        let step = self.dag.get(id).clone();
        let begun = match &step {
            Step::Group(_) => Ok(Begun::Done(Vec::new())),
            Step::Configure(provider) => self.begin_configure(provider),
            Step::Read(addr) => self.begin_read(addr),
            Step::Create(addr) | Step::Update(addr) => self.begin_change(&step, addr),
            Step::Delete(addr, which) => self.begin_delete(&step, addr, which),
            Step::Forget(addr) => Ok(Begun::Done(vec![Effect::Remove { addr: addr.clone(), slot: Slot::Current }])),
            Step::StateOnly(addr) => Ok(Begun::Done(self.state_only(addr))),
            Step::Open(addr) | Step::Close(addr) => Err(Diagnostic::error(
                "Ephemeral resources cannot be applied",
                format!("This release does not open {addr}."),
            )
            .about(addr)
            .into()),
            Step::Hold(provider, node) => self.begin_hold(&step, provider, node),
            Step::Operation(operation) => self.begin_operation(&step, operation),
            Step::Release(provider, node) => self.begin_release(&step, provider, node),
            Step::Gate(wave) => self.begin_gate(*wave),
        };
        begun.unwrap_or_else(Begun::Failed)
    }

    fn begin_configure(&mut self, addr: &ProviderConfigAddr) -> Result<Begun, Diagnostics> {
        let config = self.evaluation.provider(addr).map_err(|stopped| blocked(&addr.to_string(), stopped))?;
        let Some(provider) = self.request.providers.get(&addr.provider) else {
            return Err(Diagnostic::error("Unknown provider", format!("This release has no {}.", addr.provider)).into());
        };
        Ok(Begun::Call(Box::new(Call::Configure(provider.clone(), config)), None))
    }

    /// The instance of a provider configuration. Its `configure` step comes before every step that needs it.
    pub(crate) fn instance(&self, provider: &ProviderConfigAddr) -> Result<Arc<dyn Instance>, Diagnostics> {
        self.instances.get(provider).cloned().ok_or_else(|| {
            Diagnostic::error("Provider not configured", format!("{provider} was not configured before it was needed."))
                .into()
        })
    }

    fn begin_read(&mut self, addr: &ResourceAddr) -> Result<Begun, Diagnostics> {
        let provider = self.change(addr)?.provider.clone();
        let config = self.evaluation.arguments(addr).map_err(|stopped| blocked(&addr.to_string(), stopped))?;
        let request = DataRequest { addr: addr.clone(), config };
        Ok(Begun::Call(Box::new(Call::Data(self.instance(&provider)?, request)), None))
    }

    fn change(&self, addr: &ResourceAddr) -> Result<&ResourceChange, Diagnostics> {
        self.change_of(addr, None)
    }

    fn change_of(&self, addr: &ResourceAddr, deposed: Option<DeposedKey>) -> Result<&ResourceChange, Diagnostics> {
        let found = match deposed {
            Some(key) => self.of_deposed.get(&(addr.clone(), key)),
            None => self.changes.get(addr),
        };
        found.ok_or_else(|| {
            Diagnostic::error("Invalid plan", format!("The plan has a step for {addr} and no change."))
                .about(addr)
                .into()
        })
    }

    fn begin_change(&mut self, step: &Step, addr: &ResourceAddr) -> Result<Begun, Diagnostics> {
        let change = self.change(addr)?;
        let (provider, action) = (change.provider.clone(), change.action);
        let instance = self.instance(&provider)?;
        let now = self.evaluation.change(addr).map_err(|stopped| blocked(&addr.to_string(), stopped))?;
        let mut effects = Vec::new();
        if action == Action::Replace(ReplaceOrder::CreateThenDestroy) && self.has_current(addr) {
            let key = self.new_key();
            self.deposed.insert(addr.clone(), key.clone());
            effects.push(Effect::Depose { addr: addr.clone(), key });
        }
        // Where the old object is gone, or deposed, the new one begins from nothing.
        let before = if action.is_replace() { Value::null(now.before.type_of()) } else { now.before.clone() };
        let request = ApplyRequest { change: PlannedChange { before, ..now }, plan: self.request.digest.clone() };
        let intent = Intent { step: step.clone(), work: Work::Change(action), effects };
        Ok(Begun::Call(Box::new(Call::Apply(instance, Box::new(request))), Some(Box::new(intent))))
    }

    fn has_current(&self, addr: &ResourceAddr) -> bool {
        self.snapshot.resource(addr).is_some_and(|resource| resource.current.is_some())
    }

    fn new_key(&self) -> DeposedKey {
        let mut bytes = [0; 4];
        self.request.host.random(&mut bytes);
        DeposedKey(format!("{:08x}", u32::from_be_bytes(bytes)).into())
    }

    /// Which object of the state a deletion means.
    pub(crate) fn slot(&self, addr: &ResourceAddr, which: &Which) -> Slot {
        match which {
            Which::Current => Slot::Current,
            Which::Deposed(key) => Slot::Deposed(key.clone()),
            Which::Replaced => self.deposed.get(addr).map_or(Slot::Current, |key| Slot::Deposed(key.clone())),
        }
    }

    fn begin_delete(&mut self, step: &Step, addr: &ResourceAddr, which: &Which) -> Result<Begun, Diagnostics> {
        let change = match which {
            Which::Deposed(key) => self.change_of(addr, Some(key.clone()))?,
            Which::Current | Which::Replaced => self.change(addr)?,
        };
        let slot = self.slot(addr, which);
        let Some(object) = self.snapshot.resource(addr).and_then(|resource| resource.object(&slot)) else {
            // It went away with an earlier run: nothing is left to destroy.
            return Ok(Begun::Done(Vec::new()));
        };
        let instance = self.instance(&change.provider)?;
        let change = PlannedChange {
            addr: addr.clone(),
            action: Action::Delete,
            before: change.before.clone(),
            after: Value::null(change.before.type_of()),
            config: Value::null(change.before.type_of()),
            private: object.private.clone(),
        };
        let request = ApplyRequest { change, plan: self.request.digest.clone() };
        let intent = Intent { step: step.clone(), work: Work::Change(Action::Delete), effects: Vec::new() };
        Ok(Begun::Call(Box::new(Call::Apply(instance, Box::new(request))), Some(Box::new(intent))))
    }

    /// What was read.
    fn state_only(&mut self, addr: &ResourceAddr) -> Vec<Effect> {
        let Some(change) = self.changes.get(addr) else { return Vec::new() };
        if change.after.is_null() {
            return vec![Effect::Remove { addr: addr.clone(), slot: Slot::Current }];
        }
        let mut effects = Vec::new();
        let stored = self.snapshot.resource(addr).and_then(|r| r.current.clone());
        match stored::refreshed(&self.request.providers, change, stored.as_ref()) {
            Ok(object) => effects.push(Effect::object(
                addr.clone(),
                Slot::Current,
                change.provider.clone(),
                stored.as_ref(),
                &object,
            )),
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
        }
        effects
    }

    fn hold_request(&self, hold: &Hold) -> HoldRequest {
        let operations = hold.operations.iter().filter_map(|id| self.operations.get(id).cloned()).collect();
        HoldRequest { hold: hold.clone(), operations, plan: self.request.digest.clone() }
    }

    fn begin_hold(
        &mut self,
        step: &Step,
        provider: &ProviderConfigAddr,
        node: &NodeName,
    ) -> Result<Begun, Diagnostics> {
        let Some(hold) = self.holds.get(&(provider.clone(), node.clone())).cloned() else {
            return Err(Diagnostic::error("Invalid plan", format!("The plan holds {node} without saying why.")).into());
        };
        let held = HeldNode { node: node.clone(), plan: self.request.digest.clone(), done: Vec::new() };
        let effects = vec![Effect::Held(provider.clone(), held)];
        let intent = Intent { step: step.clone(), work: Work::Hold(hold.clone()), effects };
        let request = Box::new(self.hold_request(&hold));
        Ok(Begun::Call(Box::new(Call::Hold(self.instance(provider)?, request)), Some(Box::new(intent))))
    }

    /// With the first operation of a resource its approved configuration goes into the state: whatever happens then, the
    /// next plan knows what was begun.
    fn begin_operation(&mut self, step: &Step, id: &OperationId) -> Result<Begun, Diagnostics> {
        let Some(operation) = self.operations.get(id).cloned() else {
            return Err(Diagnostic::error("Invalid plan", format!("The plan has no operation {id}.")).into());
        };
        let instance = self.instance(&operation.provider)?;
        let mut effects = Vec::new();
        for owner in &operation.owners {
            if self.begun.insert(owner.clone()) {
                effects.extend(self.approved(owner)?);
            }
        }
        let intent = Intent { step: step.clone(), work: Work::Operation(operation.clone()), effects };
        let (plan, fence) = (self.request.digest.clone(), self.request.fence.0);
        let request = Box::new(OperateRequest { operation, plan, fence });
        Ok(Begun::Call(Box::new(Call::Operate(instance, request)), Some(Box::new(intent))))
    }

    fn approved(&self, owner: &ResourceAddr) -> Result<Option<Effect>, Diagnostics> {
        let change = self.change(owner)?;
        if change.after.is_null() {
            return Ok(None);
        }
        let before = self.snapshot.resource(owner).and_then(|resource| resource.current.as_ref());
        let object = stored::approved(&self.request.providers, change).map_err(|d| Diagnostics::from(*d))?;
        Ok(Some(Effect::object(owner.clone(), Slot::Current, change.provider.clone(), before, &object)))
    }

    fn begin_release(
        &mut self,
        step: &Step,
        provider: &ProviderConfigAddr,
        node: &NodeName,
    ) -> Result<Begun, Diagnostics> {
        let planned = self.holds.get(&(provider.clone(), node.clone())).cloned();
        let request = match planned {
            Some(hold) => self.hold_request(&hold),
            None => self.given_back(provider, node)?,
        };
        let intent = Intent { step: step.clone(), work: Work::Release(request.hold.clone()), effects: Vec::new() };
        Ok(Begun::Call(Box::new(Call::Release(self.instance(provider)?, Box::new(request))), Some(Box::new(intent))))
    }

    /// A node that an earlier run holds and that nothing more is to be done on.
    fn given_back(&self, provider: &ProviderConfigAddr, node: &NodeName) -> Result<HoldRequest, Diagnostics> {
        let back = self.request.plan.given_back.iter().find(|back| back.provider == *provider && back.node == *node);
        let Some(back) = back else {
            return Err(
                Diagnostic::error("Invalid plan", format!("The plan releases {node}, which nobody holds.")).into()
            );
        };
        let hold = Hold {
            node: node.clone(),
            provider: provider.clone(),
            kind: OperationKind::None,
            operations: Vec::new(),
            victims: Vec::new(),
            wave: 0,
            timeout: engine_model::policy::DisruptionPolicy::default().timeout,
            takes_over: Some(back.plan.clone()),
        };
        Ok(HoldRequest { hold, operations: Vec::new(), plan: back.plan.clone() })
    }

    fn begin_gate(&mut self, wave: usize) -> Result<Begun, Diagnostics> {
        let Some(described) = self.request.plan.waves.get(wave).cloned() else {
            return Err(Diagnostic::error("Invalid plan", format!("The plan has no wave {}.", wave + 1)).into());
        };
        let instance = self.instance(&described.provider)?;
        let in_wave = |operation: &&engine_model::operation::Operation| {
            operation.provider == described.provider && described.nodes.contains(&operation.node)
        };
        let operations = self.operations.values().filter(in_wave).cloned().collect();
        let request = GateRequest { wave: described, operations, plan: self.request.digest.clone() };
        Ok(Begun::Call(Box::new(Call::Gate(instance, request)), None))
    }

    /// What is done to the resource of a step, for those who watch.
    pub(crate) fn action(&self, step: &Step) -> Option<Action> {
        match step {
            Step::Create(_) => Some(Action::Create),
            Step::Update(_) => Some(Action::Update),
            Step::Delete(..) => Some(Action::Delete),
            Step::Read(_) => Some(Action::Read),
            _ => None,
        }
    }
}

fn blocked(what: &str, stopped: Stopped) -> Diagnostics {
    match stopped {
        Stopped::Failed(diagnostics) => diagnostics,
        Stopped::Blocked(on) => {
            let on: Vec<String> = on.iter().map(ToString::to_string).collect();
            let detail = format!("It needs {}, which is not there.", on.join(", "));
            Diagnostic::error(format!("Cannot go on with {what}"), detail).into()
        }
    }
}

/// The step in words, with the resource that it is about.
pub(crate) fn subject(step: &Step) -> (String, Option<ResourceAddr>) {
    let addr = match step {
        Step::Create(addr)
        | Step::Update(addr)
        | Step::Delete(addr, _)
        | Step::Read(addr)
        | Step::Forget(addr)
        | Step::StateOnly(addr)
        | Step::Open(addr)
        | Step::Close(addr) => Some(addr.clone()),
        _ => None,
    };
    (describe::step(step), addr)
}
