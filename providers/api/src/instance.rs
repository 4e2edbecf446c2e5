//! The half of a provider that speaks to the world.

use async_trait::async_trait;
use engine_model::{
    finding::Review,
    name::{ClusterIdentity, NodeName},
    policy::DisruptionPolicy,
};
use engine_value::Value;

use crate::{
    Applied, ApplyRequest, Call, DataRequest, GateRequest, Health, HoldRequest, Imported, Issue, OperateRequest,
    Operations, Outcome, PlanRequest, Planned, PlannedChange, ProviderError, ReadAnswer, ReadRequest, RecoverRequest,
    Recovery, Renewal, ReviewRequest,
};

/// A configured provider. Every method but `hold`, `operate`, `release` and `apply` only reads.
#[async_trait]
pub trait Instance: Send + Sync {
    /// The cluster behind it, asked before anything else; `None` where it has none.
    ///
    /// # Errors
    /// It does not answer: the run stops.
    async fn identity(&self, call: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        let _ = call;
        Ok(None)
    }

    /// How much it may disrupt at a time. Two instances of one cluster with different policies are a plan error.
    fn policy(&self) -> DisruptionPolicy {
        DisruptionPolicy::default()
    }

    /// Reads objects again: one answer per request, in their order. One list serves many objects.
    async fn read(&self, requests: Vec<ReadRequest>, call: Call<'_>) -> Vec<ReadAnswer>;

    /// Plans one object. Changes nothing (a server-side dry run is none).
    ///
    /// # Errors
    /// What is wrong with the configuration or the world, each with its path.
    async fn plan(&self, request: PlanRequest, call: Call<'_>) -> Result<Planned, Vec<Issue>>;

    /// How the planned changes (all of this instance, no-ops included, in address order) are carried out on nodes. Asked
    /// once per plan, so that two resources that meet on one card are seen together. Must be deterministic.
    ///
    /// # Errors
    /// The nodes cannot be read.
    async fn operations(&self, changes: &[PlannedChange], call: Call<'_>) -> Result<Operations, ProviderError> {
        let _ = (changes, call);
        Ok(Operations::default())
    }

    /// Carries out one change: create, update, or delete where `after` is null. For a resource with operations it comes
    /// last and only settles: reads again, returns what there is. Idempotent: the same request again after a crash
    /// finds what it did.
    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied>;

    /// Takes a node out of use: taints it with the plan's name, evicts exactly the victims, waits until they are gone.
    /// A pod outside the envelope is an error of kind conflict. Idempotent; a hold of the same plan is taken over.
    ///
    /// # Errors
    /// The node stays as far as it got, and the next call goes on.
    async fn hold(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        Err(unsupported(&request.hold.node, call))
    }

    /// Carries out one operation and waits for its end. Checks the precondition first. Idempotent by the operation's id.
    ///
    /// # Errors
    /// With the diagnosis: what the node is now.
    async fn operate(&self, request: OperateRequest, call: Call<'_>) -> Result<(), ProviderError> {
        Err(unsupported(&request.operation.node, call))
    }

    /// Gives a node back: removes our taint and nothing else. Idempotent. Without operations it is one that an earlier run
    /// left held and that this plan does nothing on: no gate came before, so it is given back only if it is healthy.
    ///
    /// # Errors
    /// The node stays held.
    async fn release(&self, request: HoldRequest, call: Call<'_>) -> Result<(), ProviderError> {
        Err(unsupported(&request.hold.node, call))
    }

    /// Is a wave healthy, so that the next may begin? Waits as long as it takes to tell.
    ///
    /// # Errors
    /// It cannot be told.
    async fn gate(&self, request: GateRequest, call: Call<'_>) -> Result<Health, ProviderError> {
        let _ = (request, call);
        Ok(Health::Healthy)
    }

    /// What became of an operation that was begun and not seen to finish. Only reads.
    async fn recover(&self, request: RecoverRequest, call: Call<'_>) -> Recovery {
        Recovery::Unknown(unsupported(&request.operation.node, call))
    }

    /// Finds an object that exists by its identifier.
    ///
    /// # Errors
    /// There is none, or the type cannot be imported.
    async fn import(&self, ty: &str, id: &str, call: Call<'_>) -> Result<Imported, ProviderError> {
        let _ = (id, call);
        Err(ProviderError::permanent(format!("{ty} cannot be imported")))
    }

    /// Reads a data source.
    ///
    /// # Errors
    /// With a path into its configuration, where it is to blame.
    async fn data(&self, request: DataRequest, call: Call<'_>) -> Result<Value, Vec<Issue>>;

    /// Opens an ephemeral resource.
    ///
    /// # Errors
    /// With a path into its configuration, where it is to blame.
    async fn open(&self, ty: &str, config: Value, call: Call<'_>) -> Result<Renewal, Vec<Issue>> {
        let _ = (config, call);
        Err(vec![Issue::error(
            engine_value::Path::root(),
            "Unsupported ephemeral resource",
            format!("This provider has no ephemeral resource {ty}."),
        )])
    }

    /// Keeps an ephemeral resource open.
    ///
    /// # Errors
    /// It is no longer open.
    async fn renew(&self, ty: &str, open: Renewal, call: Call<'_>) -> Result<Renewal, ProviderError> {
        let _ = (ty, call);
        Ok(open)
    }

    /// Closes an ephemeral resource.
    ///
    /// # Errors
    /// It stays open; reported as a warning.
    async fn close(&self, ty: &str, open: Renewal, call: Call<'_>) -> Result<(), ProviderError> {
        let _ = (ty, open, call);
        Ok(())
    }

    /// Reviews the whole plan, whoever's changes they are.
    ///
    /// # Errors
    /// The world cannot be read: reported as a warning, since the plan itself stands.
    async fn review(&self, request: ReviewRequest<'_>, call: Call<'_>) -> Result<Review, ProviderError> {
        let _ = (request, call);
        Ok(Review::default())
    }
}

fn unsupported(node: &NodeName, _: Call<'_>) -> ProviderError {
    ProviderError::permanent(format!("this provider has no operations on nodes, and was asked for one on {node}"))
}
