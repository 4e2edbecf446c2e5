//! What is asked of a cluster: which kinds it serves, objects one by one and in lists, server-side apply, deletion.

pub(crate) mod access;
mod aggregated;
mod cache;
pub(crate) mod discovery;
mod document;
pub(crate) mod evidence;
mod leftover;
mod list;
mod openapi;
pub(crate) mod pods;
mod send;
pub(crate) mod watch;

use std::sync::Arc;

use engine_model::name::ClusterIdentity;
use kube::core::Status;
use providers_api::{
    Call, ErrorKind, ProviderError,
    retry::{again, retrying},
};
use serde_json::{Value as Json, json};
use tokio::sync::Semaphore;

use crate::{Connection, error::is_of_webhook, object::key::ObjectKey};
use cache::Cache;
use discovery::{Discovery, Kind, Lookup};
use send::{Query, Sent};

/// A cluster, as instances of this provider speak to it.
pub(crate) struct Cluster {
    connection: Arc<Connection>,
    discovery: Discovery,
    /// Reads under way.
    reading: Semaphore,
    schemas: openapi::Schemas,
}

/// Reads under way at a time: enough to hide the latency, few enough that a server's fairness does not queue them.
const READS: usize = 8;

/// How often a dry run meets a webhook that does not answer before the plan says so. The API server waits for one up to
/// 30 s each time, and nothing that a plan does brings it up; an apply, which may just have installed it, tries on.
const WEBHOOK_TRIES: u32 = 3;

/// Who applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldManager {
    /// The name under which fields are owned.
    pub(crate) name: String,
    /// Take fields from other managers.
    pub(crate) force: bool,
}

/// What becomes of the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted before it.
    #[default]
    Foreground,
    /// They are deleted after it.
    Background,
    /// They stay, without their owner.
    Orphan,
}

impl Propagation {
    /// By Kubernetes' name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Foreground, Self::Background, Self::Orphan].into_iter().find(|policy| policy.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Foreground => "Foreground",
            Self::Background => "Background",
            Self::Orphan => "Orphan",
        }
    }
}

/// The manager that we are where no other is named.
pub(crate) const DEFAULT_MANAGER: &str = "sliceform";

impl Cluster {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        let reading = Semaphore::new(READS);
        Self { connection, discovery: Discovery::default(), reading, schemas: openapi::Schemas::default() }
    }

    /// The cluster's identity.
    pub(crate) async fn identity(&self, call: Call<'_>) -> Result<ClusterIdentity, ProviderError> {
        retrying(call, || self.connection.identity()).await.map_err(given_up)
    }

    /// Why there is no cluster yet: arguments that are known only after apply. `None`: there is one.
    pub(crate) fn is_to_come(&self) -> Option<String> {
        let arguments = self.connection.unknown_arguments()?;
        Some(format!("the cluster is not known yet: {} is known only after apply", arguments.join(", ")))
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
        Ok(self.get_served(kind, key, call).await?.unwrap_or_default())
    }

    /// The same; `Err`: the kind is not served.
    async fn get_served(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        call: Call<'_>,
    ) -> Result<Result<Option<Json>, Box<Status>>, ProviderError> {
        let doing = format!("cannot read {key}");
        let is_named = |status: &Status| status.details.as_ref().is_some_and(|details| !details.name.is_empty());
        match self.ask(&kind.path_of(key), &[], &doing, call).await? {
            Ok(object) => Ok(Ok(Some(object))),
            Err(status) if status.code == 404 && is_named(&status) => Ok(Ok(None)),
            Err(status) if status.code == 404 => Ok(Err(status)),
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
        let mut left = WEBHOOK_TRIES;
        let mut tried = 0;
        loop {
            let error = match self.patch(kind, key, body, manager, true, &doing, call).await {
                Ok(sent) => return Ok(sent),
                Err(error) => error,
            };
            tried += 1;
            left = if is_of_webhook(&error) { left.saturating_sub(1) } else { WEBHOOK_TRIES };
            if left == 0 || !again(call, &error, tried).await {
                return Err(given_up(error));
            }
        }
    }

    /// Applies an object. What is transient is tried again: applying the same twice is as once. Where the answer to one
    /// that went through was lost, the next is refused, since the object has another version by now: that is told from
    /// somebody else's change by asking whether it would still change anything.
    pub(crate) async fn apply(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &FieldManager,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let doing = format!("cannot apply {key}");
        let mut tried = 0;
        loop {
            match self.patch(kind, key, body, manager, false, &doing, call).await {
                Ok(Err(status)) if tried > 0 && status.code == 409 => {
                    let went_through = self.went_through(kind, key, body, manager, call).await?;
                    return Ok(went_through.ok_or(status));
                }
                Ok(sent) => return Ok(sent),
                Err(error) => {
                    tried += 1;
                    if !again(call, &error, tried).await {
                        return Err(given_up(error));
                    }
                }
            }
        }
    }

    /// The object, where applying this to it would change nothing.
    async fn went_through(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &FieldManager,
        call: Call<'_>,
    ) -> Result<Option<Json>, ProviderError> {
        let Some(live) = self.get(kind, key, call).await? else { return Ok(None) };
        let mut body = body.clone();
        if let Some(Json::Object(metadata)) = body.get_mut("metadata") {
            metadata.remove("resourceVersion");
        }
        let would_be = self.dry_run(kind, key, &body, manager, call).await?;
        // An apply that changes nothing leaves the version as it is.
        let version = |object: &Json| object.pointer("/metadata/resourceVersion").cloned();
        Ok(would_be.ok().filter(|would_be| version(would_be) == version(&live)).map(|_| live))
    }

    /// Changes an object by a patch of RFC 6902, which says itself which version it holds for.
    pub(crate) async fn patch_version(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        patch: &Json,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let doing = format!("cannot change {key}");
        let body = serde_json::to_vec(patch).expect("JSON can be written");
        let path = kind.path_of(key);
        let send = || self.send("PATCH", &path, &[], Some(("application/json-patch+json", body.clone())), &doing, call);
        retrying(call, send).await.map_err(given_up)
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

    /// Merges fields into an object that is there; `dry_run`: for show. Not repeated here: the caller looks at what happened
    /// first.
    pub(crate) async fn merge(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        body: &Json,
        manager: &str,
        dry_run: bool,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let mut query = vec![("fieldManager", manager.to_owned()), ("fieldValidation", "Strict".to_owned())];
        if dry_run {
            query.push(("dryRun", "All".to_owned()));
        }
        let doing = format!("cannot change {key}");
        let body = serde_json::to_vec(body).expect("JSON can be written");
        self.send("PATCH", &kind.path_of(key), &query, Some(("application/merge-patch+json", body)), &doing, call).await
    }

    /// Asks for an object's deletion. `uid`: only if it is still that one; then it is safe to ask again, and what is
    /// transient is. `false`: it is not there.
    pub(crate) async fn delete(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        uid: Option<&str>,
        propagation: Propagation,
        call: Call<'_>,
    ) -> Result<bool, ProviderError> {
        let doing = format!("cannot delete {key}");
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation.name()});
        if let Some(uid) = uid {
            options["preconditions"] = json!({"uid": uid});
        }
        let body = serde_json::to_vec(&options).expect("JSON can be written");
        let attempt = || async {
            let path = kind.path_of(key);
            self.send("DELETE", &path, &[], Some(("application/json", body.clone())), &doing, call).await
        };
        // Without a UID a second try might meet a new object of that name.
        let sent = if uid.is_some() { retrying(call, attempt).await } else { attempt().await };
        let status = match sent.map_err(given_up)? {
            Ok(_) => return Ok(true),
            Err(status) if status.code == 404 => return Ok(false),
            Err(status) => status,
        };
        // A conflict is another UID (ours is gone, and somebody made a new one of that name), or a deletion that is under
        // way already; some API servers answer so for namespaces.
        if status.code == 409 {
            let text = |object: &Json, field: &str| object["metadata"][field].as_str().map(str::to_owned);
            return match self.get(kind, key, call).await? {
                None => Ok(false),
                Some(live) if uid.is_some() && text(&live, "uid").as_deref() != uid => Ok(false),
                Some(live) if text(&live, "deletionTimestamp").is_some() => Ok(true),
                Some(_) => Err(self.refused(&doing, status)),
            };
        }
        Err(self.refused(&doing, status))
    }

    /// Reads with repetition of what is transient.
    async fn ask(&self, path: &str, query: Query<'_>, doing: &str, call: Call<'_>) -> Result<Sent, ProviderError> {
        let attempt = || async {
            let _permit = self.reading.acquire().await;
            self.send("GET", path, query, None, doing, call).await
        };
        retrying(call, attempt).await.map_err(given_up)
    }

    /// What is kept on disk of this cluster.
    async fn cache(&self) -> Option<Cache> {
        let (folder, cluster) = self.connection.cache().await?;
        Some(Cache::new(&folder, &cluster))
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
