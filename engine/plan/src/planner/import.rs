//! An object that exists is found: the provider is configured from what the state has, and asked for it.

use engine_diag::Diagnostic;
use engine_lang::config::ProviderName;
use engine_model::address::{ProviderConfigAddr, ResourceAddr};
use engine_value::{Secrets, Type, Value};
use providers_api::{Call, Imported, ProviderError, retry};
use state::{Effect, Object, Slot};

use super::{PlanInput, Planner};
use crate::{
    contract,
    evaluation::Key,
    generate,
    import::{Found, Import, ImportOutput},
    planner::moves,
    stored::mark_sensitive,
};

pub(crate) async fn import(input: &PlanInput<'_>, import: &Import<'_>, call: Call<'_>) -> ImportOutput {
    let (snapshot, moved) = moves::moved(&input.program, input.snapshot);
    let mut planner = Planner::new(input, &snapshot, moved, call);
    planner.program().unmet_requirements().into_iter().for_each(|error| planner.report(error));
    let found = planner.found(import).await;
    let mut diagnostics = planner.evaluation.into_diagnostics();
    diagnostics.extend(planner.told);
    ImportOutput { found: found.filter(|_| !diagnostics.has_errors()), diagnostics }
}

impl Planner<'_> {
    async fn found(&mut self, import: &Import<'_>) -> Option<Found> {
        let addr = import.addr;
        let provider = match self.provider_for(addr) {
            Ok(provider) => provider,
            Err(error) => {
                self.report(*error);
                return None;
            }
        };
        self.decode();
        self.want_variables();
        self.evaluation.want(&Key::Configured(provider.clone()));
        let block = addr.with_key(None);
        if !import.generate {
            self.evaluation.want(&Key::Instances(block.clone()));
        }
        self.drive().await;
        let instances = self.evaluation.expansion(&Key::Instances(block));
        if let Some(instances) = instances.filter(|instances| !instances.keys().contains(&addr.key)) {
            let known: Vec<String> =
                instances.keys().into_iter().map(|key| addr.with_key(key).to_string()).take(10).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let detail = format!("The configuration has no instance {addr}. It has: {known}.");
            self.report(Diagnostic::error("Resource is not in the configuration", detail).about(addr));
            return None;
        }
        let instance = self.instances.get(&provider)?.instance.clone();
        let mut tried = 0;
        let answer = loop {
            let answer = instance.import(&addr.ty, import.id, self.call).await;
            tried += 1;
            match answer {
                Err(error) if retry::again(self.call, &error, tried).await => {}
                answer => break answer,
            }
        };
        match answer {
            Ok(imported) => self.take_imported(import, &provider, imported),
            Err(error) => {
                let secrets = self.secrets_of_provider(&provider);
                self.report_error("Cannot import the object", &addr.to_string(), &error, &secrets);
                None
            }
        }
    }

    /// The provider configuration of the block, or of the one that is to be written.
    fn provider_for(&self, addr: &ResourceAddr) -> Result<ProviderConfigAddr, Box<Diagnostic>> {
        let program = self.program();
        if let Some(block) = program.resource(addr) {
            return program.schema(addr, block).map(|(provider, _)| provider);
        }
        let local = addr.ty.split('_').next().unwrap_or_default();
        let name = ProviderName { name: local.into(), alias: None };
        let resolved = program.config.provider(&addr.module.path(), &name).map(|resolved| resolved.addr);
        let provider = resolved.ok_or_else(|| {
            let detail = format!("There is no provider {local} for {addr}.");
            Box::new(Diagnostic::error("Unknown provider", detail).about(addr))
        })?;
        program
            .providers
            .schema(&provider.provider, addr.mode, &addr.ty)
            .map_err(|error| Box::new(error.about(addr)))?;
        Ok(provider)
    }

    fn take_imported(
        &mut self,
        import: &Import<'_>,
        provider: &ProviderConfigAddr,
        imported: Imported,
    ) -> Option<Found> {
        let addr = import.addr;
        let program = self.program();
        let schema = program.providers.schema(&provider.provider, addr.mode, &addr.ty).ok()?;
        if imported.ty != *addr.ty {
            let error = ProviderError::permanent(format!("{:?} is a {}", import.id, imported.ty));
            self.report_error("Cannot import the object", &addr.to_string(), &error, &Secrets::default());
            return None;
        }
        let breaches = contract::agrees(&schema.block, &Value::unknown(Type::Dynamic), &imported.object, true);
        if !breaches.is_empty() {
            // Only types are compared, so that no value is told.
            self.report(contract::breach("Provider produced invalid object", addr, provider, &breaches));
            return None;
        }
        let value = mark_sensitive(&schema.block, imported.object.clone());
        let object = match Object::of(value, &schema.block.value_type(), schema.version) {
            Ok(object) => Object { private: imported.private, ..object },
            Err(why) => {
                let detail = format!("What was read of {addr} cannot be kept: {why}.");
                self.report(Diagnostic::error("Provider returned invalid result object", detail).about(addr));
                return None;
            }
        };
        let mut effects = vec![Effect::object(addr.clone(), Slot::Current, provider.clone(), None, &object)];
        let cluster = self.clusters.get(provider).filter(|found| self.snapshot.clusters.get(provider) != Some(found));
        effects.extend(cluster.map(|cluster| Effect::Cluster(provider.clone(), cluster.clone())));
        let configuration = import.generate.then(|| {
            let config = imported.config.as_ref().unwrap_or(&imported.object);
            generate::resource(addr, &schema.block, config, &imported.notes)
        });
        match configuration.transpose() {
            Ok(configuration) => Some(Found { effects, configuration }),
            Err(argument) => {
                let detail = format!("{argument} of {addr} has a part that cannot be written down.");
                self.report(Diagnostic::error("Provider produced invalid configuration", detail).about(addr));
                None
            }
        }
    }
}
