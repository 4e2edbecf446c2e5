//! Calls to providers: what a round has come to, made at once, answered in order.

use std::sync::Arc;

use engine_diag::{Diagnostic, Label, Severity, chain, sentence};
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    name::ClusterIdentity,
};
use engine_value::{Secrets, Type, Value};
use futures::{StreamExt, stream};
use providers_api::{
    Call, DataRequest, Instance, Issue, PlanRequest, Planned, Provider, ProviderError, ReadAnswer, ReadRequest,
};

use super::Planner;
use crate::{evaluation::Key, place, proposed::proposed, stored::mark_sensitive, worklist::Id};

/// A call to a provider.
pub(super) enum Job {
    /// Configures a provider, and asks for the cluster behind it.
    Configure { addr: ProviderConfigAddr, provider: Arc<dyn Provider>, config: Value },
    /// Plans an object.
    Plan { instance: Arc<dyn Instance>, provider: Arc<dyn Provider>, request: Box<PlanRequest>, forced: bool },
    /// Reads a data source.
    Data { instance: Arc<dyn Instance>, request: DataRequest },
    /// Reads objects of the state again.
    Read { instance: Arc<dyn Instance>, requests: Vec<ReadRequest> },
}

/// Its answer.
pub(super) enum Answer {
    Configured { addr: ProviderConfigAddr, config: Value, result: Result<Configured, ProviderError> },
    Planned { request: Box<PlanRequest>, result: Result<Made, Vec<Issue>> },
    Data { request: DataRequest, result: Result<Value, Vec<Issue>> },
    Read { addrs: Vec<ResourceAddr>, answers: Vec<ReadAnswer> },
}

/// A configured provider.
pub(super) struct Configured {
    pub(super) instance: Arc<dyn Instance>,
    pub(super) identity: Result<Option<ClusterIdentity>, ProviderError>,
}

/// A planned object.
pub(super) struct Made {
    /// As the provider plans it from what is there.
    pub(super) planned: Planned,
    /// As it plans it anew, where the object is replaced.
    pub(super) anew: Option<Box<Planned>>,
}

impl Job {
    async fn run(self, call: Call<'_>) -> Answer {
        match self {
            Self::Configure { addr, provider, config } => {
                let result = match provider.configure(&config, call).await {
                    Ok(instance) => {
                        // What is not known yet leads nowhere yet.
                        let identity = if config.is_wholly_known() { instance.identity(call).await } else { Ok(None) };
                        Ok(Configured { instance, identity })
                    }
                    Err(error) => Err(error),
                };
                Answer::Configured { addr, config, result }
            }
            Self::Plan { instance, provider, request, forced } => {
                let result = plan_object(&*instance, &*provider, &request, forced, call).await;
                Answer::Planned { request, result }
            }
            Self::Data { instance, request } => {
                let result = instance.data(request.clone(), call).await;
                Answer::Data { request, result }
            }
            Self::Read { instance, requests } => {
                let addrs = requests.iter().map(|request| request.addr.clone()).collect();
                let answers = instance.read(requests, call).await;
                Answer::Read { addrs, answers }
            }
        }
    }
}

/// Plans an object, and plans it again from nothing where it must be replaced.
async fn plan_object(
    instance: &dyn Instance,
    provider: &dyn Provider,
    request: &PlanRequest,
    forced: bool,
    call: Call<'_>,
) -> Result<Made, Vec<Issue>> {
    let planned = instance.plan(request.clone(), call).await?;
    let deletes = request.config.is_null();
    if deletes || request.prior.is_null() || (planned.replace.is_empty() && !forced) {
        return Ok(Made { planned, anew: None });
    }
    let nothing = Value::null(Type::Dynamic);
    let block = provider.schemas().get(request.addr.mode, &request.addr.ty).map(|schema| &schema.block);
    let fresh = PlanRequest {
        prior: nothing.clone(),
        stored: nothing.clone(),
        private: Vec::new(),
        proposed: block.map_or_else(|| request.config.clone(), |block| proposed(block, &nothing, &request.config)),
        ..request.clone()
    };
    let anew = instance.plan(fresh, call).await?;
    Ok(Made { planned, anew: Some(Box::new(anew)) })
}

impl Planner<'_> {
    /// Makes the calls of this round.
    pub(super) async fn run_jobs(&mut self) {
        let jobs = std::mem::take(&mut self.jobs);
        let call = self.call;
        let running = stream::iter(jobs.into_iter().map(|(id, job)| async move { (id, job.run(call).await) }));
        let answers: Vec<(Id, Answer)> = running.buffered(self.input.parallelism.max(1)).collect().await;
        for (id, answer) in answers {
            match answer {
                Answer::Configured { addr, config, result } => self.take_configured(id, addr, config, result),
                Answer::Planned { request, result } => self.take_planned(id, &request, result),
                Answer::Data { request, result } => self.take_data(id, &request, result),
                Answer::Read { addrs, answers } => self.take_read(addrs, answers),
            }
        }
    }

    /// Issues of a provider as diagnostics, each at its place.
    pub(super) fn report_issues(&mut self, addr: &ResourceAddr, issues: Vec<Issue>) {
        if issues.is_empty() {
            return;
        }
        let secrets = self.secrets(addr);
        let found: Vec<Diagnostic> = issues.into_iter().map(|issue| self.issue(addr, issue)).collect();
        found.into_iter().for_each(|one| self.report(redacted(&secrets, one)));
    }

    /// What a provider was given of an object and must not be told, whoever repeats it.
    pub(super) fn secrets(&self, addr: &ResourceAddr) -> Secrets {
        let prior = self.prior.get(addr);
        let prior = prior.into_iter().flat_map(|prior| [prior.stored.clone(), prior.now.clone()]);
        let config = self.evaluation.value(&Key::Arguments(addr.clone())).cloned();
        let program = self.program();
        let schema = program.resource(addr).and_then(|block| program.schema(addr, block).ok());
        let config = config.map(|config| match schema {
            Some((_, schema)) => mark_sensitive(&schema.block, config),
            None => config,
        });
        let values: Vec<Value> = prior.chain(config).collect();
        Secrets::of(&values)
    }

    /// The same of a provider configuration.
    pub(super) fn secrets_of_provider(&self, addr: &ProviderConfigAddr) -> Secrets {
        let config = self.evaluation.value(&Key::Provider(addr.clone())).cloned();
        let schema = self.program().providers.get(&addr.provider).map(|provider| &provider.schemas().provider.block);
        let config = config.map(|config| match schema {
            Some(block) => mark_sensitive(block, config),
            None => config,
        });
        Secrets::of(&config)
    }

    fn issue(&self, addr: &ResourceAddr, issue: Issue) -> Diagnostic {
        issue_at(self.program(), addr, issue)
    }

    /// An error of a provider about something.
    pub(super) fn report_error(&mut self, summary: &str, about: &str, error: &ProviderError, secrets: &Secrets) {
        let diagnostic = provider_error(summary, error).about(about);
        self.report(redacted(secrets, diagnostic));
    }
}

/// An issue of a provider as a diagnostic.
pub(crate) fn issue_at(program: &crate::Program, addr: &ResourceAddr, issue: Issue) -> Diagnostic {
    let span = match &issue.part {
        Some(bytes) => place::span_in_text(program, addr, &issue.path, bytes),
        None => place::span(program, addr, &issue.path),
    };
    let mut diagnostic = Diagnostic::new(issue.severity, issue.summary, issue.detail).at_opt(span).about(addr);
    diagnostic.hint = issue.hint;
    for (what, place) in issue.related {
        if let Some(span) = place::span(program, &place.addr, &place.path) {
            diagnostic = diagnostic.related(span, what);
        }
    }
    diagnostic
}

/// A diagnostic in a provider's words, without what must not be told.
pub fn redacted(secrets: &Secrets, diagnostic: Diagnostic) -> Diagnostic {
    if secrets.is_empty() {
        return diagnostic;
    }
    let related = diagnostic.related.into_iter().map(|label| Label { text: secrets.redact(&label.text), ..label });
    Diagnostic {
        summary: secrets.redact(&diagnostic.summary),
        detail: secrets.redact(&diagnostic.detail),
        hint: diagnostic.hint.map(|hint| secrets.redact(&hint)),
        related: related.collect(),
        ..diagnostic
    }
}

/// An error of a provider with everything that caused it.
pub(crate) fn provider_error(summary: &str, error: &ProviderError) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(Severity::Error, summary, sentence(&chain(error)));
    diagnostic.hint = error.hint.clone();
    diagnostic
}
