//! Writes the ResourceQuota by server-side apply: of what others add to it, nothing is touched.

use engine_value::Value;
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use providers_api::{Applied, ErrorKind, Outcome, PlannedChange, ProviderError};
use providers_kubernetes::is_not_found;
use serde_json::{Map, json};

use super::hard::{Private, hard_of};
use crate::{
    attributes::text,
    cluster::{Cluster, FIELD_MANAGER},
};

/// Creates, changes or deletes a quota.
pub(crate) async fn apply(cluster: &Cluster, change: &PlannedChange) -> Outcome<Applied> {
    let now = |object: &Value| Applied { object: object.clone(), private: change.private.clone() };
    if change.after.is_null() {
        return match delete(cluster, &change.before).await {
            Ok(()) => Outcome::gone(),
            Err(error) => Outcome::failed(Some(now(&change.before)), error),
        };
    }
    match write(cluster, change).await {
        Ok(()) => Outcome::done(now(&change.after)),
        Err(error) => Outcome::failed((!change.before.is_null()).then(|| now(&change.before)), error),
    }
}

fn place(object: &Value) -> Result<(&str, &str), ProviderError> {
    let named = text(object, "namespace").zip(text(object, "name"));
    named.ok_or_else(|| ProviderError::permanent("namespace and name of the quota are not known"))
}

async fn write(cluster: &Cluster, change: &PlannedChange) -> Result<(), ProviderError> {
    let (namespace, name) = place(&change.after)?;
    let api = cluster.quotas(namespace).await?;
    let what = format!("ResourceQuota {namespace}/{name}");
    if change.before.is_null()
        && let Some(found) = cluster.find(&api, name, &what).await?
        && !is_ours(&found)
    {
        let what = format!("{what} exists already, and is not ours");
        let hint = "Give the quota another `name`, or delete that one.";
        return Err(ProviderError::new(ErrorKind::Conflict, what).hint(hint));
    }
    let hard = hard_of(&change.after, &Private::from_bytes(&change.private));
    let hard: Map<String, serde_json::Value> =
        hard.iter().map(|(name, amount)| (format!("requests.{name}"), amount.to_string().into())).collect();
    let patch = Patch::Apply(json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": { "namespace": namespace, "name": name },
        "spec": { "hard": hard },
    }));
    // By force: whoever took one of our names over has been shown as drift, and the plan says that it comes back.
    let params = PatchParams::apply(FIELD_MANAGER).force();
    // Applied twice is as applied once.
    cluster.repeated(&format!("cannot write {what}"), || api.patch(name, &params, &patch)).await.map(drop)
}

// An earlier try of the same creation left our mark on the fields.
fn is_ours(found: &ResourceQuota) -> bool {
    let managers = found.metadata.managed_fields.iter().flatten();
    managers.filter_map(|entry| entry.manager.as_deref()).any(|manager| manager == FIELD_MANAGER)
}

async fn delete(cluster: &Cluster, object: &Value) -> Result<(), ProviderError> {
    let (namespace, name) = place(object)?;
    let api = cluster.quotas(namespace).await?;
    let what = format!("ResourceQuota {namespace}/{name}");
    let Some(found) = cluster.find(&api, name, &what).await? else { return Ok(()) };
    // This very one: where the answer was lost, a second try must not meet one that somebody has made since.
    let only = Preconditions { uid: found.metadata.uid, resource_version: None };
    let params = DeleteParams::default().preconditions(only);
    let doing = format!("cannot delete {what}");
    let deleted = cluster.repeated(&doing, || async {
        match api.delete(name, &params).await {
            Ok(_) => Ok(()),
            Err(error) if is_not_found(&error) => Ok(()),
            Err(error) => Err(error),
        }
    });
    match deleted.await {
        Err(error) if error.kind == ErrorKind::Conflict => Ok(()),
        other => other,
    }
}
