//! A configured provider: dispatches by type, and does nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use engine_model::{
    address::ResourceAddr,
    change::{Action, ResourceChange},
    finding::Review,
    name::ClusterIdentity,
};
use engine_value::{Path, Value};
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, ErrorKind, Imported, Instance, Issue, Outcome, PlanRequest, Planned,
    PlannedChange, ProviderError, ReadAnswer, ReadRequest, ReviewRequest,
};

use crate::{
    Connection, Environment, chart,
    cluster::Cluster,
    data,
    object::key::ObjectKey,
    resource::{
        ending,
        issue::without,
        manifest,
        object::{
            Desired,
            announced::{Announced, announces},
            plan::Around,
        },
        typed::{self, Typed},
    },
    review::review,
};

/// One configuration of the provider.
pub(crate) struct KubernetesInstance {
    cluster: Cluster,
    /// Where programs are looked for.
    environment: Environment,
    /// The objects that were planned on: a second plan of such an address, from nothing, is one half of a replacement.
    standing: Mutex<BTreeMap<ResourceAddr, ObjectKey>>,
    /// Everything that was planned here: an instance does not know what the configuration calls it.
    planned: Mutex<BTreeSet<ResourceAddr>>,
    /// What was announced last, as it was given and as it is looked up: many objects are given the same.
    announced: Mutex<Option<Lookups>>,
}

/// Announced changes, and what they bring.
type Lookups = (Arc<[PlannedChange]>, Arc<Announced>);

impl KubernetesInstance {
    pub(crate) fn new(connection: Arc<Connection>, environment: Environment) -> Self {
        Self {
            cluster: Cluster::new(connection),
            environment,
            standing: Mutex::default(),
            planned: Mutex::default(),
            announced: Mutex::default(),
        }
    }

    /// The object that the plan of this address destroys first, where it is a replacement.
    fn standing(&self, request: &PlanRequest) -> Option<ObjectKey> {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if request.prior.is_null() {
            return standing.get(&request.addr).cloned();
        }
        if let Some(key) = key_of(&request.addr, &request.prior) {
            standing.insert(request.addr.clone(), key);
        }
        None
    }
}

impl KubernetesInstance {
    /// What these changes bring.
    fn announced(&self, changes: &Arc<[PlannedChange]>) -> Arc<Announced> {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        match announced.as_ref() {
            Some((given, known)) if Arc::ptr_eq(given, changes) => known.clone(),
            _ => {
                let told = changes.iter().filter_map(|change| {
                    Some((&change.addr, change.action, announced_by(&change.addr.ty, &change.after)?))
                });
                let found = Arc::new(Announced::of(told));
                *announced = Some((changes.clone(), found.clone()));
                found
            }
        }
    }
}

#[async_trait]
impl Instance for KubernetesInstance {
    async fn identity(&self, call: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        self.cluster.identity(call).await.map(Some)
    }

    async fn read(&self, requests: Vec<ReadRequest>, call: Call<'_>) -> Vec<ReadAnswer> {
        let keys: Vec<Option<ObjectKey>> =
            requests.iter().map(|request| key_of(&request.addr, &request.object)).collect();
        let known: Vec<ObjectKey> = keys.iter().flatten().cloned().collect();
        let mut found = self.cluster.read(&known, call).await.into_iter();
        let answers = requests.into_iter().zip(keys).map(|(request, key)| {
            let Some(key) = key else {
                let what = format!("the state of {} does not say which object it is", request.addr);
                return ReadAnswer::Failed(ProviderError::permanent(what));
            };
            match found.next().expect("there is an answer for every key") {
                Ok(None) => ReadAnswer::Gone,
                Ok(Some(live)) => ReadAnswer::Object(match Typed::of(&request.addr.ty) {
                    Some(typed) => typed.refreshed(request.object, &live),
                    None => manifest::refreshed(request.object, &live),
                }),
                Err(error) => unread(&key, &error),
            }
        });
        answers.collect()
    }

    async fn plan(&self, request: PlanRequest, call: Call<'_>) -> Result<Planned, Vec<Issue>> {
        self.planned.lock().unwrap_or_else(PoisonError::into_inner).insert(request.addr.clone());
        let around = Around {
            standing: self.standing(&request),
            announced: self.announced(&request.earlier),
            is_last: request.is_last,
        };
        let ends =
            if request.config.is_null() { key_of(&request.addr, &request.prior) } else { around.standing.clone() };
        // What is secret by its kind, the engine knows from the answer alone.
        let secrets = manifest::secrets(&request.config);
        let ends = ends.filter(|_| Typed::of(&request.addr.ty).is_none_or(Typed::makes_object));
        let planned = match (request.addr.ty.as_ref(), Typed::of(&request.addr.ty)) {
            (manifest::TYPE, _) => manifest::plan(&self.cluster, request, &around, call).await,
            (_, Some(typed)) => typed.plan(&self.cluster, request, &around, call).await,
            (other, None) => Err(unknown_type(other)),
        };
        let mut planned =
            planned.map_err(|issues| issues.into_iter().map(|issue| without(&secrets, issue)).collect::<Vec<_>>())?;
        if let Some(key) = ends {
            planned.issues.extend(ending::warning(&self.cluster, &key, call).await);
        }
        Ok(planned)
    }

    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        let ty = request.change.addr.ty.clone();
        match (ty.as_ref(), Typed::of(&ty)) {
            (manifest::TYPE, _) => manifest::apply(&self.cluster, request, call).await,
            (_, Some(typed)) => typed.apply(&self.cluster, request, call).await,
            (other, None) => {
                let before = Some(request.change.before).filter(|before| !before.is_null());
                let now = before.map(|object| Applied { object, private: request.change.private });
                Outcome::failed(now, ProviderError::permanent(format!("there is no resource type {other}")))
            }
        }
    }

    async fn import(&self, ty: &str, id: &str, call: Call<'_>) -> Result<Imported, ProviderError> {
        match (ty, Typed::of(ty)) {
            (manifest::TYPE, _) => manifest::import(&self.cluster, id, call).await,
            (_, Some(typed)) => typed.import(&self.cluster, ty, id, call).await,
            (other, None) => Err(ProviderError::permanent(format!("there is no resource type {other}"))),
        }
    }

    async fn review(&self, request: ReviewRequest<'_>, call: Call<'_>) -> Result<Review, ProviderError> {
        if self.cluster.is_to_come().is_some() {
            return Ok(Review::default());
        }
        let ours = self.planned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let changes = request.plan.changes.iter().filter(|change| ours.contains(&change.addr));
        let changes = changes.filter(|change| change.action != Action::NoOp).filter_map(|change| {
            let object = if change.after.is_null() { &change.before } else { &change.after };
            Some((change, key_of(&change.addr, object)?))
        });
        let changes: Vec<(&ResourceChange, ObjectKey)> = changes.collect();
        let announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let announced = announced.map(|(_, known)| known).unwrap_or_default();
        Ok(review(&self.cluster, &changes, &announced, call).await)
    }

    async fn data(&self, request: DataRequest, call: Call<'_>) -> Result<Value, Vec<Issue>> {
        match request.addr.ty.as_ref() {
            data::RESOURCE => data::resource(&self.cluster, request.config, call).await,
            chart::TEMPLATE => chart::template(&self.cluster, &self.environment, request.config, call).await,
            data::RESOURCES => data::resources(&self.cluster, request.config, call).await,
            ty if typed::data::has(ty) => typed::data::read(&self.cluster, ty, request.config, call).await,
            other => Err(unknown_type(other)),
        }
    }
}

/// The object that a change makes, where others may need it.
pub(crate) fn announced_by(ty: &str, object: &Value) -> Option<Desired> {
    let desired = match (ty, Typed::of(ty)) {
        (manifest::TYPE, _) => manifest::desired(object),
        (_, Some(typed)) => typed.desired(object)?,
        _ => return None,
    };
    announces(&desired).then_some(desired)
}

fn key_of(addr: &ResourceAddr, object: &Value) -> Option<ObjectKey> {
    match Typed::of(&addr.ty) {
        Some(typed) => typed.key_of(object),
        None => manifest::key_of(object),
    }
}

/// One error of a list is the error of each of its objects.
fn unread(key: &ObjectKey, error: &ProviderError) -> ReadAnswer {
    let mut own = ProviderError::new(error.kind, format!("{key} could not be read: {error}"));
    own.hint = error.hint.clone();
    if let Some(source) = &error.source {
        own = own.caused_by(source.to_string());
    }
    match error.kind {
        ErrorKind::Unreachable | ErrorKind::Transient { .. } | ErrorKind::Timeout | ErrorKind::Cancelled => {
            ReadAnswer::Unreachable(own)
        }
        ErrorKind::Forbidden | ErrorKind::Conflict | ErrorKind::Permanent => ReadAnswer::Failed(own),
    }
}

fn unknown_type(ty: &str) -> Vec<Issue> {
    vec![Issue::error(Path::root(), "Unknown type", format!("This provider has no {ty}."))]
}
