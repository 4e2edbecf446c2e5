//! What is waited for after an object was applied, as HashiCorp's provider waits for it.

use std::time::Duration;

use engine_value::Value;
use kube::core::DynamicObject;
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{
    kind::{Kind, Wait, secret},
    name::key_of,
};
use crate::{
    cluster::{Cluster, discovery::Lookup, watch::Awaited},
    object::{key::ObjectKey, quantity::billionths, readiness::Readiness},
};

/// Long for a controller that only has to make one object: longer means that it does not run.
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits, and gives the object as it is then; `None`: nothing had to be waited for.
///
/// # Errors
/// It has not come about in time.
pub(super) async fn until_ready(
    cluster: &Cluster,
    kind: &Kind,
    object: &Value,
    is_new: bool,
    call: Call<'_>,
) -> Result<Option<Json>, ProviderError> {
    let asks = |name: &str| object.get(name).and_then(Value::as_bool).unwrap_or(false);
    let Some(key) = key_of(kind, object) else { return Ok(None) };
    match kind.wait {
        Wait::DefaultAccount if asks("wait_for_default_service_account") => {
            account(cluster, &key.name, call).await.map(|()| None)
        }
        Wait::Token if is_new && secret::is_token(object) && asks("wait_for_service_account_token") => {
            let look = |object: &DynamicObject| match object.data.pointer("/data/token") {
                Some(_) => Readiness::Ready,
                None => Readiness::NotYet("the controller manager has not made its token yet".to_owned()),
            };
            found(cluster, &key, kind.timeout(object, "create"), call, look).await.map(Some)
        }
        Wait::Counted => {
            let timeout = kind.timeout(object, if is_new { "create" } else { "update" });
            // The answer tells nothing that is not known; that the controller has seen the quota does.
            found(cluster, &key, timeout, call, counted).await.map(|_| None)
        }
        _ => Ok(None),
    }
}

async fn account(cluster: &Cluster, namespace: &str, call: Call<'_>) -> Result<(), ProviderError> {
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
    let what = key.to_string();
    cluster.wait_for(&kind, Awaited { key: &key, what: &what, timeout: ACCOUNT_TIMEOUT }, call, look).await
}

/// Waits for an object that is there, and reads it.
async fn found(
    cluster: &Cluster,
    key: &ObjectKey,
    timeout: Duration,
    call: Call<'_>,
    look: impl Fn(&DynamicObject) -> Readiness,
) -> Result<Json, ProviderError> {
    let gone = || ProviderError::permanent(format!("{key} was deleted while it was waited for"));
    let kind = cluster.kind_of(key, call).await?.ok_or_else(gone)?;
    let look = |object: Option<&DynamicObject>| match object {
        Some(object) => look(object),
        None => Readiness::Never("it was deleted".to_owned()),
    };
    let what = format!("{key} to be ready");
    cluster.wait_for(&kind, Awaited { key, what: &what, timeout }, call, look).await?;
    cluster.get(&kind, key, call).await?.ok_or_else(gone)
}

/// Has the controller taken over the limits of a quota?
fn counted(object: &DynamicObject) -> Readiness {
    let hard = |at: &str| object.data.pointer(at).and_then(Json::as_object);
    let amount = |value: &Json| value.as_str().and_then(billionths);
    let (wanted, taken) = (hard("/spec/hard"), hard("/status/hard"));
    let agrees = wanted.into_iter().flatten().all(|(name, wanted)| {
        taken.and_then(|taken| taken.get(name)).is_some_and(|taken| amount(taken) == amount(wanted))
    });
    if agrees {
        Readiness::Ready
    } else {
        Readiness::NotYet("the controller manager has not taken over its limits yet".to_owned())
    }
}
