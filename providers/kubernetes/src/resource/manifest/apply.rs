//! Create, update, delete.

use engine_value::{Path, Type, Value};
use providers_api::{Applied, ApplyRequest, Call, Outcome};
use serde_json::Value as Json;

use super::{
    config::Config,
    read::{key_of, observed, with_object},
};
use crate::{
    cluster::Cluster,
    resource::{
        deletion::{self, Deletion},
        object::{
            self, UNVERIFIED,
            apply::{Change, Had, Shown, as_planned_on},
        },
        settle,
    },
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
    let was = before.as_ref().map(Config::of);
    let null = Value::null(Type::Dynamic);
    let object_of = |whole: &Value| whole.get("object").cloned().unwrap_or_else(|| null.clone());
    let (planned, found) = (object_of(&change.after), before.as_ref().map(object_of));
    let uid = before.as_ref().and_then(uid);
    let planned_on = was.as_ref().zip(found.as_ref()).map(|(was, found)| (&was.desired, found));
    let unchanged = |live: &Json| match planned_on {
        Some(planned_on) => as_planned_on(planned_on, (&config.desired, &planned), live),
        None => Ok(()),
    };
    let is_kept = found.as_ref() == Some(&planned);
    let had =
        was.as_ref().map(|was| Had { desired: &was.desired, uid: uid.as_deref(), is_kept, unchanged: &unchanged });
    let unverified = (change.private == UNVERIFIED).then_some(Shown::Object(&planned));
    let wanted = Change { desired: &config.desired, had, unverified };
    let live = match object::apply::apply(cluster, &wanted, call).await {
        Ok(live) => live,
        Err(error) => return Outcome::failed(is_now, error),
    };
    let applied = Applied { object: with_object(&change.after, observed(&config, &live)), private: Vec::new() };
    let Some(key) = config.desired.key() else { return Outcome::done(applied) };
    let timeout = if before.is_some() { config.update_timeout } else { config.create_timeout };
    match settle::ready(cluster, &key, &config.wait, timeout, call).await {
        Ok(()) => Outcome::done(applied),
        Err(error) => Outcome::failed(Some(applied), error),
    }
}

async fn delete(cluster: &Cluster, before: Value, call: Call<'_>) -> Outcome<Applied> {
    let Some(key) = key_of(&before) else { return Outcome::gone() };
    call.working(format!("deleting {key}"));
    let (config, uid) = (Config::of(&before), uid(&before));
    let deletion = Deletion { uid: uid.as_deref(), propagation: config.propagation, timeout: config.delete_timeout };
    match deletion::delete(cluster, &key, deletion, call).await {
        Ok(()) => Outcome::gone(),
        Err(error) => {
            let left = match cluster.read(std::slice::from_ref(&key), call).await.pop() {
                Some(Ok(Some(live))) => with_object(&before, observed(&config, &live)),
                _ => before,
            };
            Outcome::failed(Some(Applied { object: left, private: Vec::new() }), error)
        }
    }
}

fn uid(object: &Value) -> Option<String> {
    let uid = Path::root().attr("object").attr("metadata").attr("uid").get(object)?;
    uid.as_str().map(str::to_owned)
}
