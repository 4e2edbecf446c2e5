//! How a planned object is applied: only what was planned on.

use engine_value::{Path, Value, diff::diff};
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{Desired, read::observed};
use crate::{
    cluster::Cluster,
    resource::settle::{self, Expected},
};

/// A planned change of an object.
pub(crate) struct Change<'a> {
    /// As it is to become: wholly known.
    pub(crate) desired: &'a Desired,
    /// What the plan shows of it.
    pub(crate) planned: &'a Value,
    /// What the plan was made on; `None`: nothing was there.
    pub(crate) before: Option<Before<'a>>,
}

/// What a plan was made on.
pub(crate) struct Before<'a> {
    /// As it was wanted when it was last applied.
    pub(crate) desired: &'a Desired,
    /// Of the object what `desired` says.
    pub(crate) object: &'a Value,
    /// Which one it is.
    pub(crate) uid: Option<String>,
}

/// Applies an object where what is there is what was planned on, and gives what it is now.
///
/// # Errors
/// [`providers_api::ErrorKind::Conflict`] where something else is there: nothing was changed.
pub(crate) async fn apply(cluster: &Cluster, change: &Change<'_>, call: Call<'_>) -> Result<Json, ProviderError> {
    let (Some(body), Some(key)) = (&change.desired.json, change.desired.key()) else {
        return Err(ProviderError::permanent("parts of it are still unknown"));
    };
    let unchanged = |live: &Json| match &change.before {
        Some(before) => as_planned_on(before, change, live),
        None => Ok(()),
    };
    let expected = match &change.before {
        Some(before) => Expected::Object(before.uid.as_deref(), &unchanged),
        None => Expected::Nothing,
    };
    let manager = change.desired.manager();
    settle::apply(cluster, &settle::Desired { key, body, manager: &manager }, &expected, call).await
}

/// Is the live object what the plan was made on, or already what it is to become? Else what differs.
fn as_planned_on(before: &Before<'_>, change: &Change<'_>, live: &Json) -> Result<(), String> {
    let differs = |desired: &Desired, wanted: &Value| match observed(desired, live) {
        Some(now) if !wanted.is_null() => {
            let (wanted, now) = (without_uid(wanted), without_uid(&now));
            diff(Some(&wanted), Some(&now)).changed_paths()
        }
        _ => Vec::new(),
    };
    let changed = differs(before.desired, before.object);
    let knows_after = without_uid(change.planned).is_wholly_known();
    if changed.is_empty() || (knows_after && differs(change.desired, change.planned).is_empty()) {
        return Ok(());
    }
    Err(changed.iter().map(Path::to_string).collect::<Vec<_>>().join(", "))
}

/// Which object it is, is asked apart.
fn without_uid(object: &Value) -> Value {
    let object = object.clone().unmark_deep().0;
    let Some(Value { data: engine_value::Data::Object(metadata), .. }) = object.get("metadata") else { return object };
    let rest = metadata.iter().filter(|(name, _)| &***name != "uid");
    let rest = Value::object(rest.map(|(name, value)| (name.to_string(), value.clone())));
    Path::root().attr("metadata").set(&object, rest).unwrap_or(object)
}
