//! One call of a provider, on a task of its own.

use std::{
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use engine_graph::NodeId;
use engine_model::{
    event::{Doing, Event, Progress},
    execution::Step,
    host::Host,
};
use engine_value::{Secrets, Value};
use providers_api::{
    Applied, ApplyRequest, DataRequest, GateRequest, Health, HoldRequest, Instance, Issue, OperateRequest, Outcome,
    Provider, ProviderError, retry,
};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::run::Apply;

/// Providers tell what they wait for once, when it begins. It is said again in this rhythm while the call lasts, so that
/// a view can show how long it has been, and need not keep a clock of its own.
const PULSE: Duration = Duration::from_secs(1);

/// What is called, and with what.
pub(crate) enum Call {
    Configure(Arc<dyn Provider>, Value),
    Apply(Arc<dyn Instance>, Box<ApplyRequest>),
    Data(Arc<dyn Instance>, DataRequest),
    Hold(Arc<dyn Instance>, Box<HoldRequest>),
    Operate(Arc<dyn Instance>, Box<OperateRequest>),
    Release(Arc<dyn Instance>, Box<HoldRequest>),
    Gate(Arc<dyn Instance>, GateRequest),
}

/// What it answered.
pub(crate) enum Answer {
    Configured(Result<(Arc<dyn Instance>, Option<engine_model::name::ClusterIdentity>), ProviderError>),
    Applied(Outcome<Applied>),
    Data(Result<Value, Vec<Issue>>),
    Done(Result<(), ProviderError>),
    Health(Result<Health, ProviderError>),
}

pub(crate) struct Finished {
    pub(crate) id: NodeId,
    pub(crate) answer: Answer,
}

/// What a call needs beside its request.
pub(crate) struct Environment {
    progress: StepProgress,
    cancel: CancellationToken,
    host: Arc<dyn Host>,
}

struct StepProgress {
    step: Step,
    started: SystemTime,
    host: Arc<dyn Host>,
    events: Arc<dyn Fn(Event) + Send + Sync>,
    /// What a provider must not tell while it works.
    secrets: Secrets,
    last: Mutex<Option<Doing>>,
}

impl Progress for StepProgress {
    fn doing(&self, doing: Doing) {
        let doing = match doing {
            Doing::Working(what) => Doing::Working(self.secrets.redact(&what)),
            Doing::Waiting(what) => Doing::Waiting(self.secrets.redact(&what)),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(doing.clone());
        self.tell(doing);
    }
}

impl StepProgress {
    fn again(&self) {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(doing) = last {
            self.tell(doing);
        }
    }

    fn tell(&self, doing: Doing) {
        let elapsed = self.host.now().duration_since(self.started).unwrap_or_default();
        (self.events)(Event::StepProgress { step: self.step.clone(), elapsed, doing });
    }
}

impl Environment {
    pub(crate) fn new(request: &Apply, step: Step, started: SystemTime, secrets: Secrets) -> Self {
        let (host, events) = (request.host.clone(), request.events.clone());
        let progress = StepProgress { step, started, host, events, secrets, last: Mutex::default() };
        Self { progress, cancel: request.cancel.clone(), host: request.host.clone() }
    }

    /// For what is looked at after the walk: the first interrupt, which has ended that, does not end this.
    pub(crate) fn afterwards(request: &Apply, step: Step, secrets: Secrets) -> Self {
        Self { cancel: CancellationToken::new(), ..Self::new(request, step, request.host.now(), secrets) }
    }

    pub(crate) fn as_call(&self) -> providers_api::Call<'_> {
        providers_api::Call { progress: &self.progress, cancel: &self.cancel, host: &*self.host }
    }
}

impl Call {
    pub(crate) async fn run(self, env: Environment, id: NodeId) -> Finished {
        let mut answer = pin!(self.answer(&env));
        let mut pulse = interval_at(Instant::now() + PULSE, PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Finished { id, answer },
                _ = pulse.tick() => env.progress.again(),
            }
        }
    }

    async fn answer(self, env: &Environment) -> Answer {
        let call = env.as_call();
        match self {
            Self::Configure(provider, config) => Answer::Configured(configure(&*provider, &config, call).await),
            Self::Apply(instance, request) => Answer::Applied(applied(&*instance, &request, call).await),
            Self::Data(instance, request) => Answer::Data(instance.data(request, call).await),
            Self::Hold(instance, request) => {
                Answer::Done(retried(call, || instance.hold((*request).clone(), call)).await)
            }
            Self::Operate(instance, request) => {
                Answer::Done(retried(call, || instance.operate((*request).clone(), call)).await)
            }
            Self::Release(instance, request) => {
                Answer::Done(retried(call, || instance.release((*request).clone(), call)).await)
            }
            Self::Gate(instance, request) => {
                Answer::Health(retried(call, || instance.gate(request.clone(), call)).await)
            }
        }
    }
}

type Attempt<'a, T> = Pin<Box<dyn Future<Output = Result<T, ProviderError>> + Send + 'a>>;

/// What is transient is tried again, by the one policy. (On a task of its own an async closure would not do.)
async fn retried<'a, T>(
    call: providers_api::Call<'a>,
    mut attempt: impl FnMut() -> Attempt<'a, T>,
) -> Result<T, ProviderError> {
    let mut tried = 0;
    loop {
        let error = match attempt().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        tried += 1;
        if !retry::again(call, &error, tried).await {
            return Err(error);
        }
    }
}

async fn configure(
    provider: &dyn Provider,
    config: &Value,
    call: providers_api::Call<'_>,
) -> Result<(Arc<dyn Instance>, Option<engine_model::name::ClusterIdentity>), ProviderError> {
    let instance = provider.configure(config, call).await?;
    let identity = retried(call, || instance.identity(call)).await?;
    Ok((instance, identity))
}

/// The same change again finds what it did, so what is transient is tried again.
pub(crate) async fn applied(
    instance: &dyn Instance,
    request: &ApplyRequest,
    call: providers_api::Call<'_>,
) -> Outcome<Applied> {
    let mut tried = 0;
    loop {
        let outcome = instance.apply(request.clone(), call).await;
        tried += 1;
        match &outcome.error {
            Some(error) if retry::again(call, error, tried).await => {}
            _ => return outcome,
        }
    }
}
