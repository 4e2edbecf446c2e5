//! Objects of the state that the configuration no longer has, and whole states that are to be destroyed.

use std::collections::BTreeSet;

use engine_diag::Diagnostic;
use engine_model::{
    address::{Mode, ProviderConfigAddr, ResourceAddr},
    change::{Action, ResourceChange},
    plan::PlanMode,
    reason::{Orphan, Reason},
};
use engine_value::{Type, Value};
use providers_api::{Issue, PlanRequest};

use super::{
    Planner,
    calls::{Job, Made},
};
use crate::{evaluation::Key, stored::stored_value, worklist::Id};

/// What the configuration makes of an object of the state.
enum Belongs {
    /// It is not known yet which instances there are.
    NotYet,
    /// It has an instance of it.
    Yes,
    /// It has none, and why.
    No(Orphan),
}

impl Planner<'_> {
    /// Plans the destruction of what nothing in the configuration belongs to, as far as that is known. True: there is
    /// something to do now.
    pub(super) fn plan_orphans(&mut self) -> bool {
        if self.phase != super::Phase::Planning || self.input.mode == PlanMode::Destroy {
            return false;
        }
        let open: Vec<ResourceAddr> = self
            .snapshot
            .resources()
            .keys()
            .filter(|addr| !self.decided.contains(*addr) && self.is_targeted(addr))
            .cloned()
            .collect();
        let wanted = self.evaluation.wanted();
        let mut any = false;
        for addr in open {
            match self.belongs(&addr) {
                Belongs::NotYet => {}
                // Its own key plans it, or says why that cannot be.
                Belongs::Yes => {}
                Belongs::No(orphan) => {
                    self.decided.insert(addr.clone());
                    any |= self.orphan(&addr, orphan);
                }
            }
        }
        any || self.evaluation.wanted() > wanted
    }

    fn belongs(&mut self, addr: &ResourceAddr) -> Belongs {
        let program = self.program();
        let mut module = engine_model::address::ModuleAddr::root();
        for step in addr.module.0.iter() {
            // Without its call the module's blocks are gone; Terraform says it so too.
            if program.module(&module).is_none_or(|config| !config.calls.contains_key(&step.name)) {
                return Belongs::No(Orphan::NoResourceConfig);
            }
            let calls = Key::Calls(module.clone(), step.name.clone());
            self.evaluation.want(&calls);
            match self.evaluation.expansion(&calls) {
                None => return Belongs::NotYet,
                Some(expansion) if expansion.orphan(step.key.as_ref()).is_some() => {
                    return Belongs::No(Orphan::NoModule);
                }
                Some(_) => module = module.child(step.name.clone(), step.key.clone()),
            }
        }
        if program.resource(addr).is_none() {
            return Belongs::No(Orphan::NoResourceConfig);
        }
        let instances = Key::Instances(addr.with_key(None));
        self.evaluation.want(&instances);
        match self.evaluation.expansion(&instances) {
            None => Belongs::NotYet,
            Some(expansion) => expansion.orphan(addr.key.as_ref()).map_or(Belongs::Yes, Belongs::No),
        }
    }

    /// True: a call is to be made.
    fn orphan(&mut self, addr: &ResourceAddr, orphan: Orphan) -> bool {
        if addr.mode != Mode::Managed {
            // Data has no life of its own: the state just no longer has it.
            let provider = self.snapshot.resources().get(addr).map(|resource| resource.provider.clone());
            if let Some(provider) = provider {
                let change = self.unchanged(addr, &provider, Value::null(Type::Dynamic), 0);
                self.insert(change);
                self.state_only.insert(addr.clone());
            }
            return false;
        }
        if self.input.mode == PlanMode::RefreshOnly {
            if let Some(prior) = self.prior.get(addr).cloned() {
                let change = self.unchanged(addr, &prior.provider, prior.now, prior.schema_version);
                self.insert(change);
            }
            return false;
        }
        self.delete(addr, Reason::Orphan(orphan))
    }

    /// Plans the destruction of an object. True: a call is to be made.
    pub(super) fn delete(&mut self, addr: &ResourceAddr, reason: Reason) -> bool {
        let Some(prior) = self.prior.get(addr).cloned() else { return false };
        if !self.may_destroy(addr) {
            return false;
        }
        if prior.now.is_null() {
            // It is gone already: the state forgets it.
            let change = self.unchanged(addr, &prior.provider, Value::null(Type::Dynamic), prior.schema_version);
            self.insert(change);
            self.state_only.insert(addr.clone());
            return false;
        }
        let create_before_destroy = self.snapshot.current(addr).is_some_and(|object| object.create_before_destroy);
        let change = ResourceChange {
            action: Action::Delete,
            reason: Some(reason),
            after: Value::null(Type::Dynamic),
            create_before_destroy,
            ..self.unchanged(addr, &prior.provider, prior.now.clone(), prior.schema_version)
        };
        self.insert(change);
        let Some((instance, provider)) = self.implementation(addr, &prior.provider) else { return false };
        let bare = |value: &Value| value.clone().unmark_deep().0;
        let null = Value::null(Type::Dynamic);
        let request = PlanRequest {
            addr: addr.clone(),
            prior: bare(&prior.now),
            stored: bare(&prior.stored),
            private: prior.private.clone(),
            config: null.clone(),
            proposed: null,
            earlier: Default::default(),
            is_last: false,
        };
        // No key waits for it.
        self.jobs.push((Id(u32::MAX), Job::Plan { instance, provider, request: Box::new(request), forced: false }));
        true
    }

    /// Who destroys an object. `None`: nobody can, and that was told.
    fn implementation(
        &mut self,
        addr: &ResourceAddr,
        provider: &ProviderConfigAddr,
    ) -> Option<(std::sync::Arc<dyn providers_api::Instance>, std::sync::Arc<dyn providers_api::Provider>)> {
        if !self.is_configurable(provider) {
            let detail = format!(
                "To destroy {addr} its provider configuration {provider} is needed, and the configuration no longer has it."
            );
            let error = Diagnostic::error("Provider configuration not present", detail).about(addr);
            self.report(error.hint("Put the provider block back until the object is destroyed."));
            return None;
        }
        let instance = self.instances.get(provider)?.instance.clone();
        Some((instance, self.program().providers.get(&provider.provider)?.clone()))
    }

    pub(super) fn take_deletion(
        &mut self,
        addr: &ResourceAddr,
        request: &PlanRequest,
        result: Result<Made, Vec<Issue>>,
    ) {
        match result {
            Ok(made) => {
                let private = made.planned.private.clone();
                let unverified = made.planned.unverified.map(|why| self.secrets(addr).redact(&why));
                self.report_issues(addr, made.planned.issues);
                if let Some(change) = self.changes.get_mut(&(addr.clone(), None)) {
                    change.private = if private.is_empty() { request.private.clone() } else { private };
                    change.unverified = unverified;
                }
            }
            Err(issues) => {
                self.report_issues(addr, issues);
                self.changes.remove(&(addr.clone(), None));
            }
        }
    }

    /// Objects that were replaced and are still to be destroyed.
    pub(super) fn plan_deposed(&mut self) {
        if self.input.mode == PlanMode::RefreshOnly {
            return;
        }
        for (addr, resource) in self.snapshot.resources() {
            if !self.is_targeted(addr) {
                continue;
            }
            for (key, object) in &resource.deposed {
                match stored_value(&self.program().providers, addr, &resource.provider, object) {
                    Ok((before, version)) => {
                        if self.implementation(addr, &resource.provider).is_none() {
                            continue;
                        }
                        let change = ResourceChange {
                            deposed: Some(key.clone()),
                            action: Action::Delete,
                            // The first half of its replacement was done by an earlier apply.
                            reason: Some(Reason::Unfinished {
                                done: 1,
                                total: 2,
                                unit: "steps of a replacement".into(),
                            }),
                            after: Value::null(Type::Dynamic),
                            private: object.private.clone(),
                            ..self.unchanged(addr, &resource.provider, before, version)
                        };
                        self.insert(change);
                    }
                    Err(error) => self.report(*error),
                }
            }
        }
    }

    /// Plans the destruction of everything, or of what is targeted with everything that depends on it.
    pub(super) async fn destroy(&mut self) {
        let wanted = self.to_destroy();
        for provider in self.stored_providers() {
            if self.is_configurable(&provider) {
                self.evaluation.want(&Key::Configured(provider));
            }
        }
        self.drive().await;
        for addr in wanted {
            self.decided.insert(addr.clone());
            self.delete(&addr, Reason::Destroy);
        }
        self.run_jobs().await;
        self.plan_deposed();
        self.forget_data();
    }

    fn to_destroy(&self) -> Vec<ResourceAddr> {
        let mut found: BTreeSet<ResourceAddr> =
            self.prior.keys().filter(|addr| self.is_targeted(addr)).cloned().collect();
        let mut todo: Vec<ResourceAddr> = found.iter().cloned().collect();
        while let Some(addr) = todo.pop() {
            for dependant in self.snapshot.dependants(&addr) {
                if self.prior.contains_key(dependant) && found.insert(dependant.clone()) {
                    todo.push(dependant.clone());
                }
            }
        }
        found.into_iter().collect()
    }

    fn forget_data(&mut self) {
        let data: Vec<(ResourceAddr, ProviderConfigAddr)> = self
            .snapshot
            .resources()
            .iter()
            .filter(|(addr, _)| addr.mode != Mode::Managed && self.is_targeted(addr))
            .map(|(addr, resource)| (addr.clone(), resource.provider.clone()))
            .collect();
        for (addr, provider) in data {
            let change = self.unchanged(&addr, &provider, Value::null(Type::Dynamic), 0);
            self.insert(change);
            self.state_only.insert(addr);
        }
    }

    /// Objects whose types plan after others: their turn comes when nothing else can go on. True: there are some.
    pub(super) fn release_late(&mut self) -> bool {
        if self.late.is_empty() {
            return false;
        }
        let late = std::mem::take(&mut self.late);
        let waiting: BTreeSet<&str> = late.iter().map(|(_, addr)| &*addr.ty).collect();
        let is_next = |addr: &ResourceAddr| {
            let program = self.input.program.clone();
            let provider = program.resource(addr).and_then(|block| program.provider_of(addr, block).ok());
            let implementation = provider.and_then(|provider| program.providers.get(&provider.provider).cloned());
            implementation.is_none_or(|provider| !provider.plans_after(&addr.ty).iter().any(|ty| waiting.contains(ty)))
        };
        let next: BTreeSet<Id> = late.iter().filter(|(_, addr)| is_next(addr)).map(|(id, _)| *id).collect();
        // Types that plan after each other have no right order: then all of them go on.
        let all = next.is_empty();
        for (id, addr) in late {
            if all || next.contains(&id) {
                self.released.insert(addr.clone());
                self.object(id, &addr);
            } else {
                self.late.push((id, addr));
            }
        }
        true
    }
}
