//! A configured provider `gpu`. Only dispatches: each kind of work has a place of its own.

use std::sync::Arc;

use async_trait::async_trait;
use engine_diag::chain;
use engine_model::{address::ProviderAddr, finding::Review, name::ClusterIdentity, policy::DisruptionPolicy};
use engine_value::{Path, Value};
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, ErrorKind, GateRequest, Health, HoldRequest, Instance, Issue,
    OperateRequest, Operations, Outcome, PlanRequest, Planned, PlannedChange, ProviderError, ReadAnswer, ReadObject,
    ReadRequest, RecoverRequest, Recovery, ReviewRequest,
};
use tokio::sync::Mutex;

use crate::{
    cluster::Cluster,
    data, node, operations,
    pool::{self, Private},
    quota, review,
    world::{World, read_world},
};

pub(crate) struct GpuInstance {
    addr: ProviderAddr,
    cluster: Cluster,
    policy: DisruptionPolicy,
    // What plans are made from: read once, and forgotten by everything that changes the world.
    world: Mutex<Option<Arc<World>>>,
}

impl GpuInstance {
    pub(crate) fn new(addr: ProviderAddr, cluster: Cluster, policy: DisruptionPolicy) -> Self {
        Self { addr, cluster, policy, world: Mutex::new(None) }
    }

    async fn world(&self, call: Call<'_>) -> Result<Arc<World>, ProviderError> {
        let mut world = self.world.lock().await;
        if let Some(world) = world.as_ref() {
            return Ok(world.clone());
        }
        let read = Arc::new(read_world(&self.cluster, call).await?);
        *world = Some(read.clone());
        Ok(read)
    }

    async fn forget_world(&self) {
        *self.world.lock().await = None;
    }
}

fn unreadable(error: &ProviderError) -> Vec<Issue> {
    let detail = format!("The plan needs to see the cluster: {}.", chain(error));
    let issue = Issue::error(Path::root(), "The cluster cannot be read", detail);
    vec![match &error.hint {
        Some(hint) => issue.hint(hint.clone()),
        None => issue,
    }]
}

fn unknown_type(ty: &str) -> ProviderError {
    ProviderError::permanent(format!("provider gpu has no type {ty}"))
}

#[async_trait]
impl Instance for GpuInstance {
    async fn identity(&self, _: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        self.cluster.identity().await.map(Some)
    }

    fn policy(&self) -> DisruptionPolicy {
        self.policy.clone()
    }

    async fn read(&self, requests: Vec<ReadRequest>, call: Call<'_>) -> Vec<ReadAnswer> {
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            answers.push(match &*request.addr.ty {
                pool::TYPE => match self.world(call).await {
                    Ok(world) => {
                        let private = Private::from_bytes(&request.private);
                        let (object, notes) = pool::read(&request.object, &private, &world);
                        ReadAnswer::Object(ReadObject { object, private: request.private, notes })
                    }
                    Err(error) if no_answer(&error) => ReadAnswer::Unreachable(error),
                    Err(error) => ReadAnswer::Failed(error),
                },
                quota::TYPE => match self.world(call).await {
                    Ok(world) => quota::read(request, &world),
                    Err(error) if no_answer(&error) => ReadAnswer::Unreachable(error),
                    Err(error) => ReadAnswer::Failed(error),
                },
                other => ReadAnswer::Failed(unknown_type(other)),
            });
        }
        answers
    }

    async fn plan(&self, request: PlanRequest, call: Call<'_>) -> Result<Planned, Vec<Issue>> {
        let world = self.world(call).await.map_err(|error| unreadable(&error))?;
        match &*request.addr.ty {
            pool::TYPE => pool::propose(&request, &world, &self.policy),
            quota::TYPE => quota::propose(&request, &world),
            other => Err(unreadable(&unknown_type(other))),
        }
    }

    async fn operations(&self, changes: &[PlannedChange], call: Call<'_>) -> Result<Operations, ProviderError> {
        if !changes.iter().any(|change| &*change.addr.ty == pool::TYPE) {
            return Ok(Operations::default());
        }
        let world = self.world(call).await?;
        Ok(operations::operations(&self.addr, changes, &world, &self.policy))
    }

    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        self.forget_world().await;
        match &*request.change.addr.ty {
            pool::TYPE if request.change.after.is_null() => Outcome::gone(),
            pool::TYPE => match self.world(call).await {
                Ok(world) => pool::settle(&request.change, &world),
                Err(error) => Outcome::failed(None, error),
            },
            quota::TYPE => quota::apply(&self.cluster, &request.change).await,
            other => Outcome::failed(None, unknown_type(other)),
        }
    }

    async fn hold(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.forget_world().await;
        node::hold(&self.cluster, &self.policy, &request, call).await
    }

    async fn operate(&self, request: OperateRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.forget_world().await;
        node::operate(&self.cluster, &request, call).await
    }

    async fn release(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        self.forget_world().await;
        // No gate stands before the release of a node that this plan does nothing on.
        if request.operations.is_empty() {
            node::well(&self.cluster, &request.hold.node, call).await?;
        }
        node::release(&self.cluster, &request).await
    }

    async fn gate(&self, request: GateRequest, call: Call<'_>) -> Result<Health, ProviderError> {
        node::gate(&self.cluster, &request, call).await
    }

    async fn recover(&self, request: RecoverRequest, _: Call<'_>) -> Recovery {
        node::recover(&self.cluster, &request).await
    }

    async fn data(&self, request: DataRequest, call: Call<'_>) -> Result<Value, Vec<Issue>> {
        if let Some(value) = data::read_alone(&request) {
            return Ok(value);
        }
        let world = self.world(call).await.map_err(|error| unreadable(&error))?;
        data::read(&request, &world)
    }

    async fn review(&self, request: ReviewRequest<'_>, call: Call<'_>) -> Result<Review, ProviderError> {
        let world = self.world(call).await?;
        Ok(review::review(request.plan, &world))
    }
}

/// Can nobody tell what is there? A server that fails, and does not stop failing, is as one that is not reached.
fn no_answer(error: &ProviderError) -> bool {
    matches!(error.kind, ErrorKind::Unreachable | ErrorKind::Transient { .. } | ErrorKind::Timeout)
}
