//! Stops a run at any call of a provider, or at any file operation, as `kill -9` does: nothing runs after that moment,
//! and nobody is told.
//!
//! A wrapped call that the run is to end at never answers; [`Cut::run`] then drops the run's future. What the call did
//! before, the world keeps.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr},
    finding::Review,
    name::ClusterIdentity,
    policy::DisruptionPolicy,
    schema::ProviderSchemas,
};
use engine_value::Value;
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, GateRequest, Health, HoldRequest, Instance, Issue, OperateRequest,
    Operations, Outcome, PlanRequest, Planned, PlannedChange, Provider, ProviderError, ReadAnswer, ReadRequest,
    RecoverRequest, Recovery, ReviewRequest,
};
use state::{
    crashing::CrashingFiles,
    files::{Files, Held},
};
use tokio_util::sync::CancellationToken;

/// On which side of a call a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The call is not made.
    Before,
    /// The call is made, and its answer never arrives.
    After,
}

/// Where a run ends. Clones share one count.
#[derive(Clone, Debug)]
pub struct Cut {
    calls: Arc<AtomicUsize>,
    at: Option<(usize, Side)>,
    ended: CancellationToken,
}

impl Cut {
    /// At call number `n`, from 1.
    pub fn at(n: usize, side: Side) -> Self {
        Self { at: Some((n, side)), ..Self::never() }
    }

    /// At no call: at a file operation, or not at all.
    pub fn never() -> Self {
        Self { calls: Arc::default(), at: None, ended: CancellationToken::new() }
    }

    /// So many calls were made.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Runs until the end or the cut; `None`: it was cut off.
    pub async fn run<T>(&self, run: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.ended.cancelled() => None,
            done = run => Some(done),
        }
    }

    async fn pass<T>(&self, call: impl Future<Output = T>) -> T {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.at == Some((number, Side::Before)) {
            return self.end().await;
        }
        let answer = call.await;
        if self.at == Some((number, Side::After)) {
            return self.end().await;
        }
        answer
    }

    async fn end<T>(&self) -> T {
        self.ended.cancel();
        std::future::pending().await
    }
}

/// A provider whose instances end the run.
pub struct CrashingProvider {
    /// The provider itself.
    pub inner: Arc<dyn Provider>,
    /// Where the run ends.
    pub cut: Cut,
}

#[async_trait]
impl Provider for CrashingProvider {
    fn addr(&self) -> &ProviderAddr {
        self.inner.addr()
    }

    fn schemas(&self) -> &ProviderSchemas {
        self.inner.schemas()
    }

    fn validate_provider(&self, config: &Value) -> Vec<Issue> {
        self.inner.validate_provider(config)
    }

    fn validate(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        self.inner.validate(mode, ty, config)
    }

    fn plans_after(&self, ty: &str) -> &[&'static str] {
        self.inner.plans_after(ty)
    }

    fn has_operations(&self, ty: &str) -> bool {
        self.inner.has_operations(ty)
    }

    async fn configure(&self, config: &Value, call: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        let inner = self.inner.configure(config, call).await?;
        Ok(Arc::new(Crashing { inner, cut: self.cut.clone() }))
    }
}

/// An instance that ends the run.
pub struct Crashing {
    inner: Arc<dyn Instance>,
    cut: Cut,
}

#[async_trait]
impl Instance for Crashing {
    async fn identity(&self, call: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        self.cut.pass(self.inner.identity(call)).await
    }

    fn policy(&self) -> DisruptionPolicy {
        self.inner.policy()
    }

    async fn read(&self, requests: Vec<ReadRequest>, call: Call<'_>) -> Vec<ReadAnswer> {
        self.cut.pass(self.inner.read(requests, call)).await
    }

    async fn plan(&self, request: PlanRequest, call: Call<'_>) -> Result<Planned, Vec<Issue>> {
        self.cut.pass(self.inner.plan(request, call)).await
    }

    async fn operations(&self, changes: &[PlannedChange], call: Call<'_>) -> Result<Operations, ProviderError> {
        self.cut.pass(self.inner.operations(changes, call)).await
    }

    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        self.cut.pass(self.inner.apply(request, call)).await
    }

    async fn hold(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.cut.pass(self.inner.hold(request, call)).await
    }

    async fn operate(&self, request: OperateRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.cut.pass(self.inner.operate(request, call)).await
    }

    async fn release(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.cut.pass(self.inner.release(request, call)).await
    }

    async fn gate(&self, request: GateRequest, call: Call<'_>) -> Result<Health, ProviderError> {
        self.cut.pass(self.inner.gate(request, call)).await
    }

    async fn recover(&self, request: RecoverRequest, call: Call<'_>) -> Recovery {
        self.cut.pass(self.inner.recover(request, call)).await
    }

    async fn data(&self, request: DataRequest, call: Call<'_>) -> Result<Value, Vec<Issue>> {
        self.cut.pass(self.inner.data(request, call)).await
    }

    async fn review(&self, request: ReviewRequest<'_>, call: Call<'_>) -> Result<Review, ProviderError> {
        self.cut.pass(self.inner.review(request, call)).await
    }
}

/// Files of a machine that stops: the run ends with the first operation that fails.
#[derive(Clone, Debug)]
pub struct StoppingFiles {
    /// The files, told where to stop.
    pub files: CrashingFiles,
    /// What ends with them.
    pub cut: Cut,
}

impl StoppingFiles {
    fn pass<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.cut.ended.cancel();
        }
        result
    }
}

impl Files for StoppingFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.pass(self.files.read(path))
    }

    fn write(&self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<()> {
        self.pass(self.files.write(path, keep, bytes))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.pass(self.files.sync(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.pass(self.files.sync_dir(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(self.files.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.pass(self.files.remove(path))
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Held>> {
        self.pass(self.files.try_lock(path))
    }
}
