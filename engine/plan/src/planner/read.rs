//! What the state remembers, and what of it is still there.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::{Diagnostic, chain};
use engine_model::{
    address::{Mode, ProviderConfigAddr, ResourceAddr},
    change::ResourceDrift,
    event::Event,
};
use engine_value::{Secrets, Type, Value};
use providers_api::{ErrorKind, ReadAnswer, ReadRequest};
use state::Status;

use super::{
    Phase, Planner, Prior,
    calls::{Job, redacted},
};
use crate::{
    contract,
    evaluation::{Evaluation, Key},
    stored::{mark_sensitive, stored_value},
    worklist::Id,
};

impl Planner<'_> {
    /// Decodes what the state has, configures the providers that look after it, and asks them what is still there.
    pub(super) async fn read(&mut self) {
        self.decode();
        let mut providers: Vec<ProviderConfigAddr> = self.stored_providers();
        providers.retain(|addr| self.is_configurable(addr));
        for addr in &providers {
            self.evaluation.want(&Key::Configured(addr.clone()));
        }
        self.drive().await;
        self.told_while_reading = self.told.0.len();
        if self.input.refresh && !self.interrupted {
            self.warn_of_unread(&providers);
            self.ask().await;
        }
        // What was evaluated from the state is evaluated again from the plan, which tells what is wrong with it.
        self.evaluation = Evaluation::new(self.input.program.clone());
        self.phase = Phase::Planning;
        self.find_drift();
    }

    pub(super) fn decode(&mut self) {
        for (addr, resource) in self.snapshot.resources() {
            let Some(object) = resource.current.as_ref().filter(|_| addr.mode == Mode::Managed) else { continue };
            match stored_value(&self.program().providers, addr, &resource.provider, object) {
                Ok((stored, schema_version)) => {
                    let provider = self.program().providers.get(&resource.provider.provider);
                    let has_operations = provider.is_some_and(|provider| provider.has_operations(&addr.ty));
                    let prior = Prior {
                        provider: resource.provider.clone(),
                        now: stored.clone(),
                        stored,
                        private: object.private.clone(),
                        schema_version,
                        tainted: object.status == Status::Tainted && !has_operations,
                        unreachable: None,
                    };
                    self.prior.insert(addr.clone(), prior);
                }
                Err(error) => {
                    self.report(*error);
                    self.decided.insert(addr.clone());
                }
            }
        }
    }

    /// Provider configurations that look after objects of the state.
    pub(super) fn stored_providers(&self) -> Vec<ProviderConfigAddr> {
        let managed = self.snapshot.resources().iter().filter(|(addr, _)| addr.mode == Mode::Managed);
        let mut found: Vec<ProviderConfigAddr> = managed.map(|(_, resource)| resource.provider.clone()).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Does the configuration still have it? A default configuration may be empty; any other must be declared.
    pub(super) fn is_configurable(&self, addr: &ProviderConfigAddr) -> bool {
        let program = self.program();
        program.config.module(&addr.module).is_some()
            && (addr.alias.is_none() || program.provider_block(addr).is_some())
    }

    /// Says so where a provider cannot be configured yet, so that its objects are not read.
    fn warn_of_unread(&mut self, providers: &[ProviderConfigAddr]) {
        for provider in providers {
            let is_told = self.told.iter().any(|told| told.address.as_deref() == Some(&provider.to_string()));
            if self.instances.contains_key(provider) || is_told {
                continue;
            }
            let detail = format!(
                "{provider} cannot be configured before this plan is applied, so the plan takes its objects to be as the \
                 state has them."
            );
            self.report(Diagnostic::warning("Objects were not read", detail).about(provider));
        }
    }

    async fn ask(&mut self) {
        let mut by_provider: BTreeMap<ProviderConfigAddr, Vec<ReadRequest>> = BTreeMap::new();
        for (addr, prior) in &self.prior {
            if self.instances.contains_key(&prior.provider) {
                let object = prior.stored.clone().unmark_deep().0;
                let request = ReadRequest { addr: addr.clone(), object, private: prior.private.clone() };
                by_provider.entry(prior.provider.clone()).or_default().push(request);
            }
        }
        for (provider, requests) in by_provider {
            let Some(ready) = self.instances.get(&provider) else { continue };
            requests.iter().for_each(|request| (self.input.events)(Event::RefreshStart(request.addr.clone())));
            let job = Job::Read { instance: ready.instance.clone(), requests };
            // No key waits for it: what was read is there before anything is planned.
            self.jobs.push((Id(u32::MAX), job));
        }
        self.run_jobs().await;
    }

    pub(super) fn take_read(&mut self, addrs: Vec<ResourceAddr>, answers: Vec<ReadAnswer>) {
        if addrs.len() != answers.len() {
            let detail = format!("It was asked for {} objects and answered for {}.", addrs.len(), answers.len());
            self.report(Diagnostic::error("Provider produced invalid answer", detail));
            return;
        }
        for (addr, answer) in addrs.into_iter().zip(answers) {
            match answer {
                ReadAnswer::Object(read) => self.take_object(&addr, read.object, read.private, read.notes),
                ReadAnswer::Gone => {
                    if let Some(prior) = self.prior.get_mut(&addr) {
                        prior.now = Value::null(Type::Dynamic);
                    }
                }
                ReadAnswer::Unreachable(error) => {
                    let secrets = self.secrets(&addr);
                    let why = secrets.redact(&chain(&error));
                    let detail =
                        format!("{addr} could not be read, so the plan takes it to be as the state has it: {why}.");
                    let mut warning = Diagnostic::warning("Object could not be read", detail).about(&addr);
                    warning.hint = error.hint;
                    self.report(redacted(&secrets, warning));
                    if let Some(prior) = self.prior.get_mut(&addr) {
                        prior.unreachable = Some(why);
                    }
                }
                ReadAnswer::Failed(error) => {
                    let summary = match error.kind {
                        ErrorKind::Forbidden => "Object may not be read",
                        _ => "Object could not be read",
                    };
                    let secrets = self.secrets(&addr);
                    self.report_error(summary, &addr.to_string(), &error, &secrets);
                }
            }
            (self.input.events)(Event::RefreshDone(addr));
        }
    }

    fn take_object(&mut self, addr: &ResourceAddr, object: Value, private: Vec<u8>, notes: Vec<String>) {
        let Some(prior) = self.prior.get_mut(addr) else { return };
        let schema = self.input.program.providers.schema(&prior.provider.provider, addr.mode, &addr.ty);
        let Ok(schema) = schema else { return };
        let breaches = contract::agrees(&schema.block, &Value::unknown(Type::Dynamic), &object, true);
        if !breaches.is_empty() {
            let error = contract::breach("Provider produced invalid object", addr, &prior.provider, &breaches);
            let error = redacted(&self.secrets(addr), error);
            self.report(error);
            return;
        }
        let (_, marks) = prior.stored.clone().unmark_deep();
        prior.now = mark_sensitive(&schema.block, object.mark_paths(&marks));
        prior.private = private;
        if !notes.is_empty() {
            let secrets = Secrets::of([&prior.stored, &prior.now]);
            let notes = notes.iter().map(|note| secrets.redact(note)).collect();
            let drift = ResourceDrift {
                addr: addr.clone(),
                provider: prior.provider.clone(),
                before: prior.stored.clone(),
                after: prior.now.clone(),
                notes,
            };
            self.drift.push(drift);
        }
    }

    /// Everything that is no longer as it was left, in address order.
    fn find_drift(&mut self) {
        let noted: BTreeSet<ResourceAddr> = self.drift.iter().map(|drift| drift.addr.clone()).collect();
        for (addr, prior) in &self.prior {
            if prior.now != prior.stored {
                self.state_only.insert(addr.clone());
                if !noted.contains(addr) {
                    let drift = ResourceDrift {
                        addr: addr.clone(),
                        provider: prior.provider.clone(),
                        before: prior.stored.clone(),
                        after: prior.now.clone(),
                        notes: Vec::new(),
                    };
                    self.drift.push(drift);
                }
            }
        }
        self.drift.sort_by(|a, b| a.addr.cmp(&b.addr));
    }
}
