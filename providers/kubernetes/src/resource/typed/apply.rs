//! Create, update, delete.

use engine_value::{Path, Value, diff::diff};
use providers_api::{Applied, ApplyRequest, Call, Outcome};
use serde_json::Value as Json;

use super::{
    body::{compared, desired, filled, settled},
    kind::Kind,
    name::{get, key_of, set},
    wait,
};
use crate::{
    cluster::{Cluster, Propagation},
    resource::{
        deletion::{self, Deletion},
        object::{
            self, UNVERIFIED,
            apply::{Change, Had, Shown},
        },
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
    let was = before.as_ref().map(|before| (desired(kind, before), uid(before)));
    let had =
        was.as_ref().map(|(desired, uid)| Had { desired, uid: uid.as_deref(), is_kept: false, unchanged: &unchanged });
    let unverified = (change.private == UNVERIFIED).then_some(Shown::Said);
    let live = match object::apply::apply(cluster, &Change { desired: &wanted, had, unverified }, call).await {
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
    let uid = uid(&before);
    let timeout = kind.timeout(&before, "delete");
    let deletion = Deletion { uid: uid.as_deref(), propagation: Propagation::default(), timeout };
    match deletion::delete(cluster, &key, deletion, call).await {
        Ok(()) => Outcome::gone(),
        Err(error) => Outcome::failed(Some(applied(before)), error),
    }
}

/// Which object it is; a state of old may not say it.
fn uid(object: &Value) -> Option<String> {
    get(object, "uid").and_then(|uid| uid.as_str().filter(|uid| !uid.is_empty()).map(str::to_owned))
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
