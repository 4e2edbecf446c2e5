//! What is asked of a cluster: which kinds it serves, objects one by one and in lists, server-side apply, deletion.

pub(crate) mod discovery;
mod list;
mod send;
pub(crate) mod watch;

use std::sync::Arc;

use engine_model::name::ClusterIdentity;
use kube::core::Status;
use providers_api::{Call, ErrorKind, ProviderError, retry::retrying};
use serde_json::{Value as Json, json};

use crate::{Connection, object::key::ObjectKey};
use discovery::{Discovery, Kind, Lookup};
use send::{Query, Sent};

/// A cluster, as instances of this provider speak to it.
pub(crate) struct Cluster {
    connection: Arc<Connection>,
    discovery: Discovery,
}

/// Who applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldManager {
    /// The name under which fields are owned.
    pub(crate) name: String,
    /// Take fields from other managers.
    pub(crate) force: bool,
}

/// The manager that we are where no other is named.
pub(crate) const DEFAULT_MANAGER: &str = "sliceform";

impl Cluster {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, discovery: Discovery::default() }
    }

    /// The cluster's identity.
    pub(crate) async fn identity(&self) -> Result<ClusterIdentity, ProviderError> {
        self.connection.identity().await
    }

    /// Is the kind served? Asked once per group version.
    pub(crate) async fn kind(&self, api_version: &str, kind: &str, call: Call<'_>) -> Result<Lookup, ProviderError> {
        self.discovery.lookup(self, api_version, kind, false, call).await
    }

    /// The same, asked anew where it was not served before: a definition may have been applied meanwhile.
    pub(crate) async fn kind_now(
        &self,
        api_version: &str,
        kind: &str,
        call: Call<'_>,
    ) -> Result<Lookup, ProviderError> {
        self.discovery.lookup(self, api_version, kind, true, call).await
    }

    /// The kind of an object that exists, in whatever version its group is served now: after an upgrade of the cluster
    /// the version that the state names may be gone, and the object is not. `None`: no version has the kind.
    pub(crate) async fn kind_of(&self, key: &ObjectKey, call: Call<'_>) -> Result<Option<Arc<Kind>>, ProviderError> {
        let missing = match self.kind(&key.api_version, &key.kind, call).await? {
            Lookup::Served(kind) => return Ok(Some(kind)),
            Lookup::Missing(missing) => missing,
        };
        for version in &missing.other_versions {
            if let Lookup::Served(kind) = self.kind(version, &key.kind, call).await? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    /// An object; `None` where there is none.
    pub(crate) async fn get(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        call: Call<'_>,
    ) -> Result<Option<Json>, ProviderError> {
        let doing = format!("cannot read {key}");
        match self.ask(&kind.path_of(key), &[], &doing, call).await? {
            Ok(object) => Ok(Some(object)),
            Err(status) if status.code == 404 => Ok(None),
            Err(status) => Err(self.refused(&doing, status)),
        }
    }

    /// Applies an object for show: what would it be? `Err` holds the refusal.
    pub(crate) async fn dry_run(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &FieldManager,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let doing = format!("cannot plan {key}");
        retrying(call, || self.patch(kind, key, body, manager, true, &doing, call)).await.map_err(given_up)
    }

    /// Applies an object. Not repeated here: the caller looks at what happened first.
    pub(crate) async fn apply(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &FieldManager,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        self.patch(kind, key, body, manager, false, &format!("cannot apply {key}"), call).await
    }

    #[expect(clippy::too_many_arguments, reason = "one request, spelled out")]
    async fn patch(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &FieldManager,
        dry_run: bool,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let mut query = vec![
            ("fieldManager", manager.name.clone()),
            ("force", manager.force.to_string()),
            ("fieldValidation", "Strict".to_owned()),
        ];
        if dry_run {
            query.push(("dryRun", "All".to_owned()));
        }
        let body = serde_json::to_vec(body).expect("JSON can be written");
        self.send("PATCH", &kind.path_of(key), &query, Some(("application/apply-patch+yaml", body)), doing, call).await
    }

    /// Asks for an object's deletion, and of what it owns. `uid`: only if it is still that one. `false`: it is not there.
    pub(crate) async fn delete(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        uid: Option<&str>,
        call: Call<'_>,
    ) -> Result<bool, ProviderError> {
        let doing = format!("cannot delete {key}");
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground"});
        if let Some(uid) = uid {
            options["preconditions"] = json!({"uid": uid});
        }
        let body = serde_json::to_vec(&options).expect("JSON can be written");
        match self.send("DELETE", &kind.path_of(key), &[], Some(("application/json", body)), &doing, call).await? {
            Ok(_) => Ok(true),
            Err(status) if status.code == 404 => Ok(false),
            // The UID is another one: ours is gone, and somebody made a new one of that name.
            Err(status) if status.code == 409 && uid.is_some() => Ok(false),
            Err(status) => Err(self.refused(&doing, status)),
        }
    }

    /// Lists objects of a kind, of a namespace or of all.
    pub(crate) async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        query: Query<'_>,
        call: Call<'_>,
    ) -> Result<Result<Vec<Json>, Box<Status>>, ProviderError> {
        let place = namespace.map_or(String::new(), |namespace| format!(" in namespace {namespace}"));
        let doing = format!("cannot list {}{place}", kind.plural);
        let listed = self.ask(&kind.path(namespace), query, &doing, call).await?;
        Ok(listed.map(|list| match list.get("items") {
            Some(Json::Array(items)) => items.iter().map(|item| kind.named(item)).collect(),
            _ => Vec::new(),
        }))
    }

    /// Reads with repetition of what is transient.
    async fn ask(&self, path: &str, query: Query<'_>, doing: &str, call: Call<'_>) -> Result<Sent, ProviderError> {
        retrying(call, || self.send("GET", path, query, None, doing, call)).await.map_err(given_up)
    }

    /// The error that an answer means.
    pub(crate) fn refused(&self, doing: &str, status: Box<Status>) -> ProviderError {
        self.connection.error(doing, &kube::Error::Api(status))
    }
}

/// What was transient and did not pass is not tried again by the callers of this.
fn given_up(error: ProviderError) -> ProviderError {
    if error.is_transient() { ProviderError { kind: ErrorKind::Unreachable, ..error } } else { error }
}
