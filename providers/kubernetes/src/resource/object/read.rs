//! What has become of an object.

use engine_value::Value;
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::Desired;
use crate::{
    cluster::Cluster,
    object::{
        convert::from_json,
        key::ObjectKey,
        project::{project, without},
    },
};

/// What is said of an object that is not the one that the state knows.
pub(crate) const MADE_ANEW: &str = "it was deleted, and made anew by somebody else";

/// Of a live object what `desired` says, with the live values, and `metadata.uid`. `None`: parts of `desired` are unknown.
pub(crate) fn observed(desired: &Desired, live: &Json) -> Option<Value> {
    let body = without(desired.json.clone()?, &desired.left_out);
    let mut object = project(&body, live, &desired.manager);
    if let (Some(Json::Object(metadata)), Some(uid)) = (object.get_mut("metadata"), live.pointer("/metadata/uid")) {
        metadata.insert("uid".to_owned(), uid.clone());
    }
    Some(from_json(&object))
}

/// A live object, to be taken into the state.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) async fn existing(cluster: &Cluster, key: &ObjectKey, call: Call<'_>) -> Result<Json, ProviderError> {
    let kind = cluster.kind_of(key, call).await?;
    let kind = kind.ok_or_else(|| ProviderError::permanent(format!("the cluster has no kind {}", key.kind)))?;
    let live = cluster.get(&kind, key, call).await?;
    live.ok_or_else(|| ProviderError::permanent(format!("there is no {key}")))
}
