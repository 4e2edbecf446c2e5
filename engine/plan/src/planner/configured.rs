//! Providers: configured once per configuration, and bound to the cluster that they lead to.

use engine_diag::Diagnostic;
use engine_model::{address::ProviderConfigAddr, name::ClusterIdentity};
use engine_value::Value;
use providers_api::{ErrorKind, ProviderError};

use super::{
    Planner, Ready,
    calls::{Configured, Job},
};
use crate::{
    evaluation::{Key, Slot},
    worklist::Id,
};

impl Planner<'_> {
    /// A provider configuration is asked for.
    pub(super) fn configure(&mut self, id: Id, addr: &ProviderConfigAddr) {
        let block = Key::Provider(addr.clone());
        if self.evaluation.wait(id, std::slice::from_ref(&block)) {
            return;
        }
        let config = self.evaluation.value(&block).cloned();
        let (Some(config), Some(provider)) = (config, self.program().providers.get(&addr.provider)) else {
            self.evaluation.finish(id, Slot::Failed, &[block], false);
            return;
        };
        let config = config.unmark_deep().0;
        if self.instances.get(addr).is_some_and(|ready| ready.config == config) {
            self.evaluation.finish(id, Slot::Done, &[block], false);
            return;
        }
        self.jobs.push((id, Job::Configure { addr: addr.clone(), provider: provider.clone(), config }));
    }

    pub(super) fn take_configured(
        &mut self,
        id: Id,
        addr: ProviderConfigAddr,
        config: Value,
        result: Result<Configured, ProviderError>,
    ) {
        let block = Key::Provider(addr.clone());
        let secrets = self.secrets_of_provider(&addr);
        let slot = match result.map_err(|error| ("Provider could not be configured", error)) {
            Ok(Configured { instance, identity }) => match identity {
                Ok(identity) => {
                    if let Some(error) = self.other_cluster(&addr, identity.as_ref()) {
                        self.report(error);
                        Slot::Failed
                    } else {
                        self.clusters.extend(identity.map(|identity| (addr.clone(), identity)));
                        self.instances.insert(addr, Ready { config, instance });
                        Slot::Done
                    }
                }
                Err(error) => {
                    let summary = match error.kind {
                        ErrorKind::Forbidden => "Cluster may not be read",
                        _ => "Cluster does not answer",
                    };
                    self.report_error(summary, &addr.to_string(), &error, &secrets);
                    Slot::Failed
                }
            },
            Err((summary, error)) => {
                self.report_error(summary, &addr.to_string(), &error, &secrets);
                Slot::Failed
            }
        };
        self.evaluation.finish(id, slot, &[block], false);
    }

    /// Is it another cluster than the one that the state knows?
    fn other_cluster(&self, addr: &ProviderConfigAddr, found: Option<&ClusterIdentity>) -> Option<Diagnostic> {
        let expected = self.snapshot.clusters.get(addr)?;
        let found = found.filter(|found| *found != expected)?;
        let detail = format!(
            "The state describes the cluster {expected} behind {addr}, and that leads to the cluster {found} now (the UID \
             of the namespace kube-system). Nothing was read, and nothing is planned for it."
        );
        let span = self.program().provider_block(addr).map(|block| block.span);
        let error = Diagnostic::error("Another cluster", detail).at_opt(span).about(addr);
        Some(error.hint(
            "Point the provider, or the context of the kubeconfig, at the cluster that the state describes; or use a state \
             of its own for this one.",
        ))
    }
}
