//! Data sources: read while planning, or during apply where that must wait.

use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    change::{Action, ResourceChange},
    plan::WaitsFor,
    reason::Reason,
    schema::Schema,
};
use engine_value::{Type, Value};
use providers_api::{DataRequest, Issue};

use super::{
    Phase, Planner,
    calls::{Job, redacted},
};
use crate::{
    contract,
    evaluation::{Key, Slot},
    proposed::proposed,
    stored::{mark_sensitive, stored_value},
    worklist::Id,
};

impl Planner<'_> {
    /// A data source is asked for.
    pub(super) fn read_data(&mut self, id: Id, addr: &ResourceAddr, provider: ProviderConfigAddr, schema: &Schema) {
        let needs = self.needs(addr, &provider);
        let Some(config) = self.arguments(id, addr, &needs) else { return };
        let Some(ready) = self.instances.get(&provider) else {
            self.evaluation.finish(id, Slot::Failed, &needs, false);
            return;
        };
        let bare = config.clone().unmark_deep().0;
        let is_pending =
            needs.iter().any(|key| matches!(key, Key::Needs(_) | Key::Gate(..)) && self.evaluation.is_pending(key));
        let reason = if bare.has_unknown() || ready.config.has_unknown() {
            Some(Reason::ReadUnknown)
        } else if is_pending {
            Some(Reason::ReadPending)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.defer(id, addr, &provider, schema, config, reason, &needs);
            return;
        }
        if let Some((from, object)) = self.data.get(addr)
            && *from == bare
        {
            let object = object.clone();
            self.keep_data(id, addr, &provider, schema, object, &needs);
            return;
        }
        let instance = ready.instance.clone();
        let request = DataRequest { addr: addr.clone(), config: bare };
        self.jobs.push((id, Job::Data { instance, request }));
    }

    /// A data source is read during apply.
    #[expect(clippy::too_many_arguments, reason = "everything that is known of the data source")]
    fn defer(
        &mut self,
        id: Id,
        addr: &ResourceAddr,
        provider: &ProviderConfigAddr,
        schema: &Schema,
        config: Value,
        reason: Reason,
        needs: &[Key],
    ) {
        let object = proposed(&schema.block, &Value::null(Type::Dynamic), &config);
        let own = WaitsFor::Read(addr.clone());
        let object = self.evaluation.originate(mark_sensitive(&schema.block, object), || own);
        if self.phase == Phase::Planning {
            let null = Value::null(Type::Dynamic);
            let change = ResourceChange {
                action: Action::Read,
                reason: Some(reason),
                before: null,
                config,
                ..self.unchanged(addr, provider, object.clone(), schema.version)
            };
            self.insert(change);
        }
        self.evaluation.finish(id, Slot::Value(object), needs, false);
    }

    pub(super) fn take_data(&mut self, id: Id, request: &DataRequest, result: Result<Value, Vec<Issue>>) {
        let addr = &request.addr;
        let program = self.program();
        let Some(block) = program.resource(addr) else { return };
        let Ok((provider, schema)) = program.schema(addr, block) else { return };
        let needs = self.needs(addr, &provider);
        let object = match result {
            Ok(object) => object,
            Err(issues) => {
                self.report_issues(addr, issues);
                self.evaluation.finish(id, Slot::Failed, &needs, false);
                return;
            }
        };
        let mut breaches = contract::planned(&schema.block, &Value::null(Type::Dynamic), &request.config, &object);
        if object.has_unknown() {
            breaches.push((engine_value::Path::root(), "is not wholly known".to_owned()));
        }
        if !breaches.is_empty() {
            let error = contract::breach("Provider produced invalid object", addr, &provider, &breaches);
            self.report(redacted(&self.secrets(addr), error));
            self.evaluation.finish(id, Slot::Failed, &needs, false);
            return;
        }
        self.data.insert(addr.clone(), (request.config.clone(), object.clone()));
        self.keep_data(id, addr, &provider, schema, object, &needs);
    }

    /// Does the state have exactly this of a data source?
    fn is_stored(&self, addr: &ResourceAddr, provider: &ProviderConfigAddr, object: &Value) -> bool {
        let stored = self.snapshot.current(addr);
        let stored = stored.and_then(|stored| stored_value(&self.program().providers, addr, provider, stored).ok());
        stored.is_some_and(|(stored, _)| stored == *object)
    }

    /// A data source was read.
    fn keep_data(
        &mut self,
        id: Id,
        addr: &ResourceAddr,
        provider: &ProviderConfigAddr,
        schema: &Schema,
        object: Value,
        needs: &[Key],
    ) {
        let config = self.evaluation.value(&Key::Arguments(addr.clone())).cloned();
        let marks = config.map(|config| config.unmark_deep().1).unwrap_or_default();
        let object = mark_sensitive(&schema.block, object.mark_paths(&marks));
        if self.phase == Phase::Planning {
            let change = self.unchanged(addr, provider, object.clone(), schema.version);
            self.insert(change);
            if !self.is_stored(addr, provider, &object) {
                self.state_only.insert(addr.clone());
            }
        }
        self.evaluation.finish(id, Slot::Value(object), needs, false);
    }
}
