//! One object of the configuration: what it will be, and what happens to it.

use std::sync::Arc;

use engine_diag::Diagnostic;
use engine_lang::config::Resource;
use engine_model::{
    address::{Mode, ProviderConfigAddr, ResourceAddr},
    change::{Action, ResourceChange},
    plan::{PlanMode, WaitsFor},
    reason::Reason,
    schema::Schema,
};
use engine_value::{Type, Value};
use providers_api::{Issue, PlanRequest, PlannedChange};

use super::{
    Phase, Planner,
    calls::{Job, Made, redacted},
};
use crate::{
    action::{Situation, decide},
    contract,
    evaluation::{Key, Slot},
    proposed::{proposed, storable},
    repeated::mark_repeated,
    stored::mark_sensitive,
    worklist::Id,
};

impl Planner<'_> {
    /// An object is asked for.
    pub(super) fn object(&mut self, id: Id, addr: &ResourceAddr) {
        if self.frozen {
            return;
        }
        let program = self.program();
        let Some(block) = program.resource(addr) else {
            self.evaluation.finish(id, Slot::Failed, &[], false);
            return;
        };
        let Ok((provider, schema)) = program.schema(addr, block) else {
            // The block's instances tell what is wrong with its type, once.
            if !self.evaluation.wait(id, &[Key::Instances(addr.with_key(None))]) {
                self.evaluation.finish(id, Slot::Failed, &[], false);
            }
            return;
        };
        match (addr.mode, self.phase, self.input.mode) {
            (Mode::Managed, Phase::Reading, _) | (Mode::Managed, Phase::Planning, PlanMode::Destroy) => {
                self.object_of_state(id, addr, schema);
            }
            (Mode::Managed, Phase::Planning, PlanMode::RefreshOnly) => self.object_as_read(id, addr, &provider, schema),
            (Mode::Managed, Phase::Planning, PlanMode::Normal) => self.plan_managed(id, addr, provider, schema),
            (Mode::Data | Mode::Ephemeral, _, _) => self.read_data(id, addr, provider, schema),
        }
    }

    /// Where only the state counts: an object that it does not have is not known.
    fn object_of_state(&mut self, id: Id, addr: &ResourceAddr, schema: &Schema) {
        let value = match self.prior.get(addr) {
            Some(prior) if !prior.now.is_null() => prior.now.clone(),
            _ => Value::unknown(schema.block.value_type()),
        };
        self.evaluation.finish(id, Slot::Value(value), &[], false);
    }

    /// Where nothing is planned: the object is what was read.
    fn object_as_read(&mut self, id: Id, addr: &ResourceAddr, provider: &ProviderConfigAddr, schema: &Schema) {
        if let Some(prior) = self.prior.get(addr) {
            let change = self.unchanged(addr, provider, prior.now.clone(), schema.version);
            self.insert(change);
            self.decided.insert(addr.clone());
        }
        self.object_of_state(id, addr, schema);
    }

    /// What an object hangs on: everything that must be there before it is planned.
    pub(super) fn needs(&self, addr: &ResourceAddr, provider: &ProviderConfigAddr) -> Vec<Key> {
        let program = self.program();
        let own = addr.with_key(None);
        let mut needs = vec![Key::Arguments(addr.clone()), Key::Configured(provider.clone())];
        if program.resource(addr).is_some_and(|block| !block.depends_on.is_empty()) {
            needs.push(Key::Needs(own));
        }
        let mut module = addr.module.clone();
        while let Some((caller, call)) = program.call(&module) {
            if !call.depends_on.is_empty() {
                needs.push(Key::Gate(caller.clone(), call.name.clone()));
            }
            module = caller;
        }
        needs
    }

    /// The arguments, once everything is there; `None`: it is not, or failed, and that is settled.
    pub(super) fn arguments(&mut self, id: Id, addr: &ResourceAddr, needs: &[Key]) -> Option<Value> {
        if self.evaluation.wait(id, needs) {
            return None;
        }
        let config = self.evaluation.value(&Key::Arguments(addr.clone())).cloned();
        match config {
            Some(config) if !needs.iter().any(|key| self.evaluation.has_failed(key)) => Some(config),
            _ => {
                self.evaluation.finish(id, Slot::Failed, needs, false);
                None
            }
        }
    }

    fn plan_managed(&mut self, id: Id, addr: &ResourceAddr, provider: ProviderConfigAddr, schema: &Schema) {
        let needs = self.needs(addr, &provider);
        let Some(config) = self.arguments(id, addr, &needs) else { return };
        let program = self.program();
        let Some(implementation) = program.providers.get(&provider.provider) else { return };
        let after = implementation.plans_after(&addr.ty);
        if !after.is_empty() && !self.released.contains(addr) {
            self.late.push((id, addr.clone()));
            return;
        }
        let Some(ready) = self.instances.get(&provider) else {
            self.evaluation.finish(id, Slot::Failed, &needs, false);
            return;
        };
        let instance = ready.instance.clone();
        let config = config.unmark_deep().0;
        let again = self.asked_again.contains(addr);
        if !again {
            let issues = implementation.validate(addr.mode, &addr.ty, &config);
            let wrong = issues.iter().any(|issue| issue.severity == engine_diag::Severity::Error);
            self.report_issues(addr, issues);
            if wrong {
                self.evaluation.finish(id, Slot::Failed, &needs, false);
                return;
            }
        }
        let earlier: Arc<[PlannedChange]> = match (after.is_empty(), again) {
            (true, true) => self.announced(&provider),
            (_, again) => {
                let announced = if again { self.announced(&provider) } else { Default::default() };
                self.earlier(&provider, after).into_iter().chain(announced.iter().cloned()).collect()
            }
        };
        let null = || Value::null(Type::Dynamic);
        let bare = |value: &Value| value.clone().unmark_deep().0;
        let prior = self.prior.get(addr);
        let now = prior.map_or_else(null, |prior| bare(&prior.now));
        let request = PlanRequest {
            addr: addr.clone(),
            stored: prior.map_or_else(null, |prior| bare(&prior.stored)),
            private: prior.filter(|_| !now.is_null()).map(|prior| prior.private.clone()).unwrap_or_default(),
            proposed: proposed(&schema.block, &now, &config),
            prior: now,
            config,
            earlier,
            is_last: again,
        };
        let forced = self.is_forced(addr);
        let provider = implementation.clone();
        self.jobs.push((id, Job::Plan { instance, provider, request: Box::new(request), forced }));
    }

    /// Is it to be replaced whatever the provider says?
    fn is_forced(&self, addr: &ResourceAddr) -> bool {
        self.input.replace.contains(addr) || self.prior.get(addr).is_some_and(|prior| prior.tainted)
    }

    /// Changes of the types that a type plans after, of the same provider configuration.
    fn earlier(&self, provider: &ProviderConfigAddr, types: &[&str]) -> Vec<PlannedChange> {
        if types.is_empty() {
            return Vec::new();
        }
        let earlier = self.changes.values().filter(|change| {
            change.provider == *provider && change.deposed.is_none() && types.contains(&&*change.addr.ty)
        });
        earlier.map(planned_change).collect()
    }

    /// What was announced so far under a provider configuration, in address order.
    fn announced(&mut self, provider: &ProviderConfigAddr) -> Arc<[PlannedChange]> {
        let Some(announced) = self.announced.get_mut(provider) else { return Default::default() };
        let changes = &self.changes;
        let shown = announced.shown.get_or_insert_with(|| {
            let found = announced.addrs.iter().filter_map(|addr| changes.get(&(addr.clone(), None)));
            found.map(planned_change).collect()
        });
        shown.clone()
    }

    /// Has a change come about that others may wait for?
    fn announce(&mut self, change: &ResourceChange) {
        let comes = !matches!(change.action, Action::NoOp | Action::Delete) && !change.after.is_null();
        let provider = self.program().providers.get(&change.provider.provider);
        if comes && provider.is_some_and(|provider| provider.announces(&change.addr.ty, &change.after)) {
            let announced = self.announced.entry(change.provider.clone()).or_default();
            announced.addrs.insert(change.addr.clone());
            announced.shown = None;
        }
    }

    /// Objects for which something was missing: now that nothing else can go on, nothing else will bring it. True: there
    /// are some.
    pub(super) fn ask_again(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.waiting);
        let any = !waiting.is_empty();
        for (id, addr) in waiting {
            self.asked_again.insert(addr.clone());
            self.object(id, &addr);
        }
        any
    }

    pub(super) fn take_planned(&mut self, id: Id, request: &PlanRequest, result: Result<Made, Vec<Issue>>) {
        let addr = &request.addr;
        if request.config.is_null() {
            self.take_deletion(addr, request, result);
            return;
        }
        let waits = result.as_ref().is_ok_and(|made| made.planned.waits || made.anew.as_ref().is_some_and(|a| a.waits));
        if waits && !self.asked_again.contains(addr) {
            self.waiting.push((id, addr.clone()));
            return;
        }
        let program = self.program();
        let Some(block) = program.resource(addr) else { return };
        let Ok((provider, schema)) = program.schema(addr, block) else { return };
        let needs = self.needs(addr, &provider);
        match self.change_of(&provider, schema, request, result) {
            Some(change) => {
                let pending = change.action != Action::NoOp;
                let value = change.after.clone();
                self.announce(&change);
                self.insert(change);
                self.decided.insert(addr.clone());
                self.evaluation.finish(id, Slot::Value(value), &needs, pending);
            }
            None => self.evaluation.finish(id, Slot::Failed, &needs, false),
        }
    }

    /// What a provider's answer comes to; `None`: it is wrong, and that was told.
    fn change_of(
        &mut self,
        provider: &ProviderConfigAddr,
        schema: &Schema,
        request: &PlanRequest,
        result: Result<Made, Vec<Issue>>,
    ) -> Option<ResourceChange> {
        let addr = &request.addr;
        let Made { planned, anew } = match result {
            Ok(made) => made,
            Err(issues) => {
                self.report_issues(addr, issues);
                return None;
            }
        };
        let (prior, last) = match &anew {
            Some(anew) => (Value::null(Type::Dynamic), &**anew),
            None => (request.prior.clone(), &planned),
        };
        let breaches = contract::planned(&schema.block, &prior, &request.config, &last.object);
        if !breaches.is_empty() {
            let error = contract::breach("Provider produced invalid plan", addr, provider, &breaches);
            self.report(redacted(&self.secrets(addr), error));
            return None;
        }
        let marked =
            self.evaluation.value(&Key::Arguments(addr.clone())).cloned().unwrap_or(Value::null(Type::Dynamic));
        let (_, marks) = marked.clone().unmark_deep();
        // Beside what the configuration and the schema say is sensitive, the provider may know better.
        let after = mark_repeated(&self.program().providers, &provider.provider, addr, last.object.clone(), marks);
        let after = mark_sensitive(&schema.block, after);
        let null = Value::null(Type::Dynamic);
        let stored = self.prior.get(addr);
        let before = stored.map_or(&null, |prior| &prior.now);
        let situation = Situation {
            block: &schema.block,
            stored: stored.map_or(&null, |prior| &prior.stored),
            prior: before,
            after: &after,
            replace: &planned.replace,
            reason: last.reason.as_ref(),
            pending: last.pending,
            tainted: stored.is_some_and(|prior| prior.tainted),
            requested: self.input.replace.contains(addr),
        };
        let (action, reason) = decide(&situation);
        let before = before.clone();
        if !last.after.is_empty() && action != Action::NoOp {
            self.implied.insert(addr.clone(), last.after.iter().cloned().collect());
        }
        // What stays as it is keeps what is stored beside it.
        let kept = stored.filter(|_| action == Action::NoOp).map(|prior| prior.private.clone());
        let (private, unverified) = (kept.unwrap_or_else(|| last.private.clone()), last.unverified.clone());
        let unverified = unverified.map(|why| self.secrets(addr).redact(&why));
        let unverified = unverified.or_else(|| self.prior.get(addr).and_then(|prior| prior.unreachable.clone()));
        let (replace_paths, issues) = (planned.replace.clone(), last.issues.clone());
        self.report_issues(addr, issues);
        if !self.is_allowed(addr, action, reason.as_ref()) {
            return None;
        }
        let own = WaitsFor::Change(addr.clone());
        let after = self.evaluation.originate(after, || own);
        let lifecycle = self.program().resource(addr).map(|block| &block.lifecycle);
        let create_before_destroy = lifecycle.and_then(|lifecycle| lifecycle.create_before_destroy) == Some(true);
        Some(ResourceChange {
            addr: addr.clone(),
            previous: None,
            deposed: None,
            provider: provider.clone(),
            action,
            reason,
            before,
            after,
            config: storable(&schema.block, &marked),
            private,
            replace_paths,
            schema_version: schema.version,
            unverified: unverified.filter(|_| action != Action::NoOp),
            create_before_destroy,
            dependencies: Vec::new(),
        })
    }

    /// Does nothing forbid it? What does is told.
    fn is_allowed(&mut self, addr: &ResourceAddr, action: Action, reason: Option<&Reason>) -> bool {
        let program = self.program();
        let Some(block) = program.resource(addr) else { return true };
        let has_operations = program.provider_of(addr, block).is_ok_and(|provider| {
            program.providers.get(&provider.provider).is_some_and(|p| p.has_operations(&addr.ty))
        });
        if let Some(error) = refuse_second(block, addr).filter(|_| has_operations) {
            self.report(error);
            return false;
        }
        if !action.is_replace() {
            return true;
        }
        if has_operations {
            let why = match reason {
                Some(Reason::Requested) => "-replace asks for it".to_owned(),
                Some(Reason::Immutable(paths)) => {
                    let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                    format!("{} cannot be changed in place", paths.join(", "))
                }
                _ => "it would have to be".to_owned(),
            };
            let detail = format!(
                "{addr} is carried out on nodes, node by node, so it is never destroyed and created anew; but {why}."
            );
            let error = Diagnostic::error("Resource cannot be replaced", detail).at(block.span).about(addr);
            self.report(error.hint("Change it in place, or destroy it first, in a plan of its own."));
            return false;
        }
        self.may_destroy(addr)
    }

    /// Is it an error to destroy it? Then that is told. Only a block that is still there can say so.
    pub(super) fn may_destroy(&mut self, addr: &ResourceAddr) -> bool {
        let Some(block) = self.program().resource(addr) else { return true };
        let Some(span) = block.lifecycle.prevent_destroy else { return true };
        let detail = format!("{addr} has prevent_destroy set, and this plan would destroy it.");
        let error = Diagnostic::error("Instance cannot be destroyed", detail).at(span).about(addr);
        self.report(error.hint("Remove prevent_destroy, or keep what forces the destruction as it is."));
        false
    }

    /// Nothing happens to an object.
    pub(super) fn unchanged(
        &self,
        addr: &ResourceAddr,
        provider: &ProviderConfigAddr,
        object: Value,
        schema_version: u64,
    ) -> ResourceChange {
        ResourceChange {
            addr: addr.clone(),
            previous: None,
            deposed: None,
            provider: provider.clone(),
            action: Action::NoOp,
            reason: None,
            before: object.clone(),
            after: object,
            config: Value::null(Type::Dynamic),
            private: self.prior.get(addr).map(|prior| prior.private.clone()).unwrap_or_default(),
            replace_paths: Vec::new(),
            schema_version,
            unverified: None,
            create_before_destroy: false,
            dependencies: Vec::new(),
        }
    }
}

/// Why a resource that is carried out on nodes is not created beside its predecessor.
pub(crate) fn refuse_second(block: &Resource, addr: &ResourceAddr) -> Option<Diagnostic> {
    (block.lifecycle.create_before_destroy == Some(true)).then(|| {
        let detail = format!("{addr} is carried out on nodes, so there is never a second one beside it.");
        let error = Diagnostic::error("Resource cannot be created before it is destroyed", detail).at(block.span);
        error.about(addr).hint("Remove create_before_destroy.")
    })
}

/// A change as other plans and `operations` see it: without marks.
pub(super) fn planned_change(change: &ResourceChange) -> PlannedChange {
    let bare = |value: &Value| value.clone().unmark_deep().0;
    PlannedChange {
        addr: change.addr.clone(),
        action: change.action,
        before: bare(&change.before),
        after: bare(&change.after),
        config: bare(&change.config),
        private: change.private.clone(),
    }
}
