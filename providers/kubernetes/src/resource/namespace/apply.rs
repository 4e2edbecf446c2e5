//! Create, update, delete, import.

use std::time::Duration;

use engine_value::{Type, Value};
use kube::core::DynamicObject;
use providers_api::{Applied, ApplyRequest, Call, Imported, Outcome, ProviderError};
use serde_json::Value as Json;

use super::metadata::{MAPS, desired, get, key, key_of, set, settled};
use crate::{
    cluster::{Cluster, discovery::Lookup},
    object::{key::ObjectKey, readiness::Readiness},
    resource::{
        duration,
        object::{
            self,
            apply::{Before, Change},
            read,
        },
        settle,
    },
};

/// As long as HashiCorp's provider waits for one to go.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Long for a controller that only has to make one object: longer means that it does not run.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(60);

/// Carries out one change. See the crate's contract.
pub(crate) async fn apply(cluster: &Cluster, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
    let change = request.change;
    let before = (!change.before.is_null()).then_some(change.before);
    if change.after.is_null() {
        return match before {
            Some(before) => delete(cluster, before, call).await,
            None => Outcome::gone(),
        };
    }
    let is_now = before.clone().map(applied);
    let wanted = desired(&change.after);
    let was = before.as_ref().map(|before| (desired(before), uid(before)));
    let planned_on = was.as_ref().map(|(was, uid)| Before { desired: was, object: &was.body, uid: uid.clone() });
    let wanted = Change { desired: &wanted, planned: &wanted.body, before: planned_on };
    let live = match object::apply::apply(cluster, &wanted, call).await {
        Ok(live) => live,
        Err(error) => return Outcome::failed(is_now, error),
    };
    let now = applied(settled(&change.after, &live));
    let name = get(&now.object, "name");
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    let wait = change.after.get("wait_for_default_service_account").and_then(Value::as_bool).unwrap_or(false);
    if wait && let Err(error) = wait_for_account(cluster, name, call).await {
        return Outcome::failed(Some(now), error);
    }
    Outcome::done(now)
}

fn applied(object: Value) -> Applied {
    Applied { object, private: Vec::new() }
}

async fn delete(cluster: &Cluster, before: Value, call: Call<'_>) -> Outcome<Applied> {
    let Some(key) = key_of(&before) else { return Outcome::gone() };
    call.working(format!("deleting {key} and everything in it"));
    let timeout = duration::timeout(before.get("timeouts"), "delete", TIMEOUT);
    match settle::delete(cluster, &key, uid(&before).as_deref(), timeout, call).await {
        Ok(()) => Outcome::gone(),
        Err(error) => Outcome::failed(Some(applied(before)), error),
    }
}

async fn wait_for_account(cluster: &Cluster, namespace: &str, call: Call<'_>) -> Result<(), ProviderError> {
    let key = ObjectKey {
        api_version: "v1".to_owned(),
        kind: "ServiceAccount".to_owned(),
        namespace: Some(namespace.to_owned()),
        name: "default".to_owned(),
    };
    let Lookup::Served(kind) = cluster.kind("v1", "ServiceAccount", call).await? else {
        return Err(ProviderError::permanent("the API server does not serve service accounts"));
    };
    let look = |object: Option<&DynamicObject>| match object {
        Some(_) => Readiness::Ready,
        None => Readiness::NotYet("the controller manager has not made it yet".to_owned()),
    };
    cluster.wait_for(&kind, &key, &format!("{key}"), ACCOUNT_TIMEOUT, call, look).await
}

fn uid(object: &Value) -> Option<String> {
    get(object, "uid")?.as_str().map(str::to_owned)
}

/// Finds a namespace by its name.
pub(crate) async fn import(cluster: &Cluster, ty: &str, id: &str, call: Call<'_>) -> Result<Imported, ProviderError> {
    let key = key(id);
    let live = read::existing(cluster, &key, call).await?;
    let schema = super::schema().block;
    let metadata = &schema.blocks["metadata"].block;
    let nulls = metadata.attributes.iter().map(|(name, a)| (name.clone(), Value::null(a.value_type())));
    let metadata = Value::list(metadata.value_type(), vec![Value::object(nulls)]);
    let nulls = schema.attributes.iter().map(|(name, a)| (name.clone(), Value::null(a.value_type())));
    let timeouts = Value::null(schema.blocks["timeouts"].block.value_type());
    let mut object = Value::object(nulls.chain([("metadata".into(), metadata), ("timeouts".into(), timeouts)]));
    for field in MAPS {
        let entries = live.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Json::as_object);
        let entries = entries.into_iter().flatten().filter(|(name, _)| is_configurable(name));
        let entries: Vec<(&String, Value)> =
            entries.filter_map(|(name, value)| Some((name, Value::from(value.as_str()?)))).collect();
        if !entries.is_empty() {
            object = set(&object, field, Value::map(Type::String, entries));
        }
    }
    Ok(Imported::new(ty, settled(&object, &live), Vec::new()))
}

/// Labels and annotations that Kubernetes itself and kubectl write are in nobody's configuration.
fn is_configurable(name: &str) -> bool {
    !matches!(name, "kubernetes.io/metadata.name" | "kubectl.kubernetes.io/last-applied-configuration")
}
