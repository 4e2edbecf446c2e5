//! Create, update, delete.

use engine_value::{Path, Value, diff::diff};
use providers_api::{Applied, ApplyRequest, Call, Outcome, ProviderError};
use serde_json::Value as Json;

use super::{
    config::Config,
    read::{key_of, observed, with_object},
};
use crate::{
    cluster::Cluster,
    resource::settle::{self, Desired, Expected},
};

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
    let is_now = before.clone().map(|object| Applied { object, private: Vec::new() });
    let config = Config::of(&change.after);
    let (Some(body), Some(key)) = (&config.body, config.key()) else {
        return Outcome::failed(is_now, ProviderError::permanent("parts of the manifest are still unknown"));
    };
    let unchanged = |live: &Json| match &before {
        Some(before) => as_planned_on(before, &change.after, live),
        None => Ok(()),
    };
    let uid = before.as_ref().and_then(uid);
    let expected = match &before {
        Some(_) => Expected::Object(uid.as_deref(), &unchanged),
        None => Expected::Nothing,
    };
    let desired = Desired { key, body, manager: &config.manager };
    let live = match settle::apply(cluster, &desired, &expected, call).await {
        Ok(live) => live,
        Err(error) => return Outcome::failed(is_now, error),
    };
    let applied = Applied { object: with_object(&change.after, observed(&config, &live)), private: Vec::new() };
    let timeout = if before.is_some() { config.update_timeout } else { config.create_timeout };
    match settle::ready(cluster, &desired.key, &config.wait, timeout, call).await {
        Ok(()) => Outcome::done(applied),
        Err(error) => Outcome::failed(Some(applied), error),
    }
}

async fn delete(cluster: &Cluster, before: Value, call: Call<'_>) -> Outcome<Applied> {
    let Some(key) = key_of(&before) else { return Outcome::gone() };
    call.working(format!("deleting {key}"));
    let timeout = Config::of(&before).delete_timeout;
    match settle::delete(cluster, &key, uid(&before).as_deref(), timeout, call).await {
        Ok(()) => Outcome::gone(),
        Err(error) => Outcome::failed(Some(Applied { object: before, private: Vec::new() }), error),
    }
}

/// Is the live object what the plan was made on, or already what it is to become? Else what differs.
fn as_planned_on(before: &Value, after: &Value, live: &Json) -> Result<(), String> {
    let is = |wanted: &Value| {
        let now = observed(&Config::of(wanted), live).unmark_deep().0;
        let wanted = wanted.get("object").cloned().map(|object| object.unmark_deep().0);
        match wanted {
            Some(wanted) if !wanted.is_null() => diff(Some(&wanted), Some(&now)).changed_paths(),
            _ => Vec::new(),
        }
    };
    let changed = is(before);
    let knows_after = after.get("object").is_some_and(Value::is_wholly_known);
    if changed.is_empty() || (knows_after && is(after).is_empty()) {
        return Ok(());
    }
    Err(changed.iter().map(Path::to_string).collect::<Vec<_>>().join(", "))
}

fn uid(object: &Value) -> Option<String> {
    let uid = Path::root().attr("object").attr("metadata").attr("uid").get(object)?;
    uid.as_str().map(str::to_owned)
}
