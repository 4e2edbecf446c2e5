//! Create, update, delete.

use engine_value::{Path, Value, diff::diff};
use providers_api::{Applied, ApplyRequest, Call, Outcome, ProviderError};
use serde_json::Value as Json;

use super::{
    body::{compared, desired, filled, settled},
    kind::Kind,
    name::{get, key_of, set},
    wait,
};
use crate::{
    cluster::{Cluster, FieldManager, Propagation},
    resource::{
        deletion::{self, Deletion},
        object::{
            Desired, UNVERIFIED,
            apply::{Had, take_over, verify_by_schema},
        },
        settle::{self, Expected},
    },
};

/// Carries out one change. See the crate's contract.
pub(super) async fn apply(cluster: &Cluster, kind: &Kind, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
    let change = request.change;
    let before = (!change.before.is_null()).then_some(change.before);
    if change.after.is_null() {
        return match before {
            Some(before) => delete(cluster, kind, before, call).await,
            None => Outcome::gone(),
        };
    }
    let is_now = before.clone().map(applied);
    let name = get(&change.after, "name").unwrap_or(Value::null(engine_value::Type::String));
    let wanted = desired(kind, &set(&change.config, "name", name));
    let unchanged = |live: &Json| match &before {
        Some(before) => as_planned_on(kind, before, &change.after, live),
        None => Ok(()),
    };
    let is_unverified = change.private == UNVERIFIED;
    if let Some(error) = ready(cluster, kind, &wanted, before.as_ref(), is_unverified, &unchanged, call).await.err() {
        return Outcome::failed(is_now, error);
    }
    let live = match send(cluster, &wanted, before.as_ref(), &unchanged, call).await {
        Ok(live) => live,
        Err(error) => return Outcome::failed(is_now, error),
    };
    let object = settled(kind, &change.after, &live);
    match wait::until_ready(cluster, kind, &object, before.is_none(), call).await {
        Ok(None) => Outcome::done(applied(object)),
        Ok(Some(live)) => Outcome::done(applied(settled(kind, &change.after, &live))),
        Err(error) => Outcome::failed(Some(applied(object)), error),
    }
}

fn applied(object: Value) -> Applied {
    Applied { object, private: Vec::new() }
}

async fn delete(cluster: &Cluster, kind: &Kind, before: Value, call: Call<'_>) -> Outcome<Applied> {
    let Some(key) = key_of(kind, &before) else { return Outcome::gone() };
    call.working(format!("deleting {key}"));
    let uid = get(&before, "uid").and_then(|uid| uid.as_str().filter(|uid| !uid.is_empty()).map(str::to_owned));
    let timeout = kind.timeout(&before, "delete");
    let deletion = Deletion { uid: uid.as_deref(), propagation: Propagation::default(), timeout };
    match deletion::delete(cluster, &key, deletion, call).await {
        Ok(()) => Outcome::gone(),
        Err(error) => Outcome::failed(Some(applied(before)), error),
    }
}

/// Does the live object mean what the plan was made on, or already what it is to become? Else what differs.
fn as_planned_on(kind: &Kind, before: &Value, after: &Value, live: &Json) -> Result<(), String> {
    let differs = |wanted: &Value| {
        let now = compared(kind, wanted, live);
        diff(Some(&filled(wanted, &now)), Some(&now)).changed_paths()
    };
    let changed = differs(before);
    if changed.is_empty() || differs(after).is_empty() {
        return Ok(());
    }
    Err(changed.iter().map(Path::to_string).collect::<Vec<_>>().join(", "))
}

/// What comes before the object is sent: what could not be asked when the plan was made is asked, and what the state has is
/// taken from managers that it went under before.
async fn ready(
    cluster: &Cluster,
    kind: &Kind,
    wanted: &Desired,
    before: Option<&Value>,
    is_unverified: bool,
    unchanged: &(dyn Fn(&Json) -> Result<(), String> + Sync),
    call: Call<'_>,
) -> Result<(), ProviderError> {
    if is_unverified {
        verify_by_schema(cluster, wanted, call).await?;
    }
    match before {
        Some(before) => {
            let uid = get(before, "uid").and_then(|uid| uid.as_str().filter(|uid| !uid.is_empty()).map(str::to_owned));
            let had = desired(kind, before);
            take_over(cluster, &Had { desired: &had, uid: uid.as_deref(), unchanged }, &wanted.manager, call).await
        }
        None => Ok(()),
    }
}

/// Sends what is wanted, where what is there is what was planned on.
async fn send(
    cluster: &Cluster,
    wanted: &Desired,
    before: Option<&Value>,
    unchanged: &(dyn Fn(&Json) -> Result<(), String> + Sync),
    call: Call<'_>,
) -> Result<Json, ProviderError> {
    let (Some(body), Some(key)) = (&wanted.json, wanted.key()) else {
        return Err(ProviderError::permanent("parts of it are still unknown"));
    };
    let uid = before.and_then(|before| get(before, "uid")).and_then(|uid| uid.as_str().map(str::to_owned));
    let expected = match before {
        Some(_) => Expected::Object(uid.as_deref().filter(|uid| !uid.is_empty()), unchanged),
        None => Expected::Nothing,
    };
    let manager = FieldManager { name: wanted.manager.clone(), force: true };
    settle::apply(cluster, &settle::Desired { key, body, manager: &manager }, &expected, call).await
}
