//! From changes to a plan: order of replacements, operations, waves, places, review.

use std::collections::BTreeMap;

use engine_diag::{Diagnostic, Severity};
use engine_lang::functions::rfc3339;
use engine_model::{
    address::{Mode, ProviderConfigAddr, ResourceAddr},
    change::{Action, ResourceChange},
    finding::Review,
    operation::{Excluded, Operation},
    plan::{Incomplete, Plan, PlanVariable},
};
use providers_api::{PlannedChange, ReviewRequest};
use state::Ancestor;

use super::{
    PlanOutput, Planner,
    calls::{provider_error, redacted},
    objects::planned_change,
};
use crate::{
    depend::{Dependencies, Subject},
    evaluation::Key,
    place,
    program::block_addr,
    replace_order,
    schedule::{ClusterWork, Schedule, Work, schedule},
};

impl Planner<'_> {
    /// Puts the plan together.
    pub(super) async fn finish(mut self) -> PlanOutput {
        let mut dependencies =
            Dependencies { configured: self.evaluation.configured(), stored: self.stored_dependencies() };
        // Of this plan only: the state does not keep them, since a later plan has nothing to see them by.
        for (addr, needs) in &self.implied {
            let configured = dependencies.configured.entry(Subject::Instance(addr.clone())).or_default();
            configured.extend(needs.iter().cloned().map(Subject::Instance));
        }
        for change in self.changes.values_mut().filter(|change| change.deposed.is_none()) {
            change.dependencies = self.evaluation.ancestors(&change.addr);
        }
        self.keep_dependencies();
        let mut changes: Vec<ResourceChange> = std::mem::take(&mut self.changes).into_values().collect();
        replace_order::settle(&mut changes, &dependencies.stored);
        let outputs = self.output_changes();

        let (clusters, excluded) = self.operations(&changes).await;
        self.check_policies(&clusters);
        let work = Work {
            changes: &changes,
            state_only: &self.state_only,
            dependencies: &dependencies,
            clusters: &clusters,
            held: &self.snapshot.held,
        };
        let scheduled = schedule(work).unwrap_or_else(|errors| {
            errors.into_iter().for_each(|error| self.report(error));
            Schedule::default()
        });

        let mut plan = Plan {
            mode: self.input.mode,
            snapshot: self.input.identity.clone(),
            clusters: self.clusters.clone(),
            sandbox: self.input.sandbox,
            timestamp: self.timestamp(),
            variables: self.variables(),
            changes,
            drift: std::mem::take(&mut self.drift),
            outputs,
            operations: clusters.into_iter().flat_map(|cluster| cluster.operations).collect(),
            holds: scheduled.holds,
            waves: scheduled.waves,
            given_back: scheduled.given_back,
            excluded,
            graph: scheduled.graph,
            review: Review::default(),
            origins: self.evaluation.origins().to_vec(),
            places: self.places(),
            incomplete: (!self.input.targets.is_empty()).then(|| Incomplete { why: "-target".to_owned() }),
            errored: false,
        };
        plan.drift.retain(|drift| self.is_targeted(&drift.addr));
        plan.review = self.review(&plan).await;
        plan.review.findings.extend(scheduled.findings);
        self.warn_of_targets();
        let work = self.evaluation.work();
        let found = plan.review.findings.iter().any(|finding| finding.severity == Severity::Error);
        let mut diagnostics = self.evaluation.into_diagnostics();
        diagnostics.extend(self.told);
        plan.errored = found || diagnostics.has_errors();
        PlanOutput { plan, diagnostics, work }
    }

    /// The time that `plantimestamp` gives.
    fn timestamp(&self) -> String {
        match &self.input.program.surroundings.plan_timestamp {
            Some(timestamp) => timestamp.to_string(),
            None => rfc3339(self.call.host.now()),
        }
    }

    fn warn_of_targets(&mut self) {
        if self.input.targets.is_empty() {
            return;
        }
        let detail = "The plan was made with -target, so it may leave out changes that the configuration asks for, and \
                      outputs may not be what they would be.";
        let hint = "Use it to get out of trouble, and make a whole plan afterwards.";
        self.report(Diagnostic::warning("Resource targeting is in effect", detail).hint(hint));
    }

    /// What destruction must respect: what each object of the state depended on, where either of the two goes or changes.
    fn stored_dependencies(&self) -> BTreeMap<ResourceAddr, Vec<ResourceAddr>> {
        let matters = |addr: &ResourceAddr| {
            self.changes
                .get(&(addr.clone(), None))
                .is_some_and(|change| matches!(change.action, Action::Delete | Action::Replace(_) | Action::Update))
        };
        let resources = self.snapshot.resources();
        let block = |addr: &ResourceAddr| {
            let first = addr.with_key(None);
            resources
                .range(first.clone()..)
                .map(|(addr, _)| addr)
                .take_while(move |other| other.with_key(None) == first)
        };
        let mut by_config: BTreeMap<_, Vec<&ResourceAddr>> = BTreeMap::new();
        resources.keys().for_each(|addr| by_config.entry(addr.config()).or_default().push(addr));
        let mut all = BTreeMap::new();
        for (addr, resource) in resources {
            let Some(object) = &resource.current else { continue };
            let mut needs: Vec<ResourceAddr> = match &object.dependencies {
                state::Dependencies::Nearest(ancestors) => ancestors
                    .iter()
                    .flat_map(|ancestor| match ancestor {
                        Ancestor::Instance(addr) => vec![addr.clone()],
                        Ancestor::Block(addr) => block(addr).cloned().collect(),
                    })
                    .collect(),
                state::Dependencies::Configured(blocks) => blocks
                    .iter()
                    .filter_map(|block| by_config.get(block))
                    .flatten()
                    .map(|addr| (*addr).clone())
                    .collect(),
            };
            needs.retain(|need| need != addr && matters(need));
            needs.sort();
            needs.dedup();
            if !needs.is_empty() {
                all.insert(addr.clone(), needs);
            }
        }
        all
    }

    /// Objects that stay as they are but now need something else: the state must know.
    fn keep_dependencies(&mut self) {
        for change in self.changes.values().filter(|change| change.action == Action::NoOp && !change.after.is_null()) {
            let stored = self.snapshot.current(&change.addr).map(|object| object.ancestors());
            if stored.is_some_and(|stored| stored != change.dependencies) {
                self.state_only.insert(change.addr.clone());
            }
        }
    }

    /// Asks every provider instance how its changes are carried out on nodes.
    async fn operations(&mut self, changes: &[ResourceChange]) -> (Vec<ClusterWork>, Vec<Excluded>) {
        let mut by_provider: BTreeMap<ProviderConfigAddr, Vec<PlannedChange>> = BTreeMap::new();
        let current = changes.iter().filter(|change| change.deposed.is_none() && change.addr.mode == Mode::Managed);
        for change in current {
            by_provider.entry(change.provider.clone()).or_default().push(planned_change(change));
        }
        let (mut works, mut excluded) = (Vec::new(), Vec::new());
        for (provider, changes) in by_provider {
            let Some(ready) = self.instances.get(&provider) else { continue };
            let instance = ready.instance.clone();
            match instance.operations(&changes, self.call).await {
                Ok(mut found) => {
                    // An instance does not know what the configuration calls it.
                    found.operations.iter_mut().for_each(|operation| operation.provider = provider.clone());
                    for (addr, issue) in found.issues {
                        self.report_issues(&addr, vec![issue]);
                    }
                    excluded.extend(found.excluded);
                    // An instance does not know under which alias it is configured.
                    let own = |operation| Operation { provider: provider.clone(), ..operation };
                    works.push(ClusterWork {
                        cluster: self.clusters.get(&provider).cloned(),
                        policy: instance.policy(),
                        operations: found.operations.into_iter().map(own).collect(),
                        managed: found.managed,
                        unavailable: found.unavailable,
                        provider,
                    });
                }
                Err(error) => {
                    let secrets = self.secrets_of_provider(&provider);
                    self.report_error("Nodes could not be read", &provider.to_string(), &error, &secrets);
                }
            }
        }
        excluded.sort();
        excluded.dedup();
        (works, excluded)
    }

    /// One policy per cluster.
    fn check_policies(&mut self, works: &[ClusterWork]) {
        let mut first: BTreeMap<_, &ClusterWork> = BTreeMap::new();
        let mut errors = Vec::new();
        for work in works {
            let Some(cluster) = &work.cluster else { continue };
            if !self.disrupts(&work.provider) {
                continue;
            }
            let Some(other) = first.get(cluster) else {
                first.insert(cluster, work);
                continue;
            };
            if other.policy != work.policy {
                let place = |addr| self.program().provider_block(addr).map(|block| block.span);
                let detail = format!(
                    "{} and {} lead to the same cluster {cluster} and set different disruption policies, so nobody could \
                     tell how many nodes may be taken out of use at a time.",
                    other.provider, work.provider
                );
                let mut error = Diagnostic::error("Two disruption policies for one cluster", detail);
                error =
                    error.at_opt(place(&work.provider)).hint("Set the same policy in both, or in only one of them.");
                if let Some(span) = place(&other.provider) {
                    error = error.related(span, "the other policy is here");
                }
                errors.push(error);
            }
        }
        errors.into_iter().for_each(|error| self.report(error));
    }

    /// Does any type of the provider come with operations on nodes? If not, it has nothing to say about disruption.
    fn disrupts(&self, provider: &ProviderConfigAddr) -> bool {
        let provider = self.program().providers.get(&provider.provider);
        provider.is_some_and(|provider| provider.schemas().resources.keys().any(|ty| provider.has_operations(ty)))
    }

    async fn review(&mut self, plan: &Plan) -> Review {
        let mut review = Review::default();
        let ready: Vec<_> = self.instances.iter().map(|(addr, ready)| (addr.clone(), ready.instance.clone())).collect();
        for (addr, instance) in ready {
            match instance.review(ReviewRequest { plan }, self.call).await {
                Ok(found) => {
                    review.findings.extend(found.findings);
                    review.capacity.extend(found.capacity);
                }
                Err(error) => {
                    let secrets = self.secrets_of_provider(&addr);
                    let mut warning =
                        redacted(&secrets, provider_error("Plan could not be reviewed", &error)).about(addr);
                    warning.severity = Severity::Warning;
                    self.report(warning);
                }
            }
        }
        place::locate(self.program(), self.input.sources, &mut review);
        review
    }

    /// Where each resource of the configuration is written: by the address of its block in each module instance that has
    /// a change, and by its address without keys.
    fn places(&self) -> BTreeMap<String, engine_model::finding::SourcePlace> {
        let mut places = BTreeMap::new();
        for (path, module) in self.program().config.modules() {
            let addr = path
                .0
                .iter()
                .fold(engine_model::address::ModuleAddr::root(), |addr, name| addr.child(name.clone(), None));
            for (name, block) in &module.resources {
                let place = place::source_place(self.input.sources, block.span);
                places.insert(block_addr(&addr, name).to_string(), place);
            }
        }
        places
    }

    fn variables(&self) -> BTreeMap<std::sync::Arc<str>, PlanVariable> {
        let root = engine_model::address::ModuleAddr::root();
        let declared = self.program().config.root.variables.iter();
        declared
            .filter_map(|(name, variable)| {
                let value = self.evaluation.value(&Key::Variable(root.clone(), name.clone()))?;
                let value = value.clone().unmark_deep().0;
                let variable = PlanVariable { value, sensitive: variable.sensitive, ephemeral: variable.ephemeral };
                Some((name.clone(), variable))
            })
            .collect()
    }
}
