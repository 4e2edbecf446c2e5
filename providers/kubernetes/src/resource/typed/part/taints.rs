//! Taints of a node.
//!
//! The list is one piece to server-side apply: whoever applies it takes everybody's. So it is read, changed and written
//! under the version that was read, and others' taints stay.

use engine_diag::sentence;
use engine_value::{Path, Value};
use providers_api::{Call, ErrorKind, Issue, ProviderError};
use serde_json::{Value as Json, json};

use super::entries::missing;
use crate::{
    cluster::{
        Cluster,
        discovery::{Kind, Lookup},
    },
    object::{
        key::ObjectKey,
        refusal::{Refusal, refusal},
        told::told,
    },
    resource::{issue::failed, settle::restless},
};

/// Tries against a node that keeps changing: kubelets write it every few seconds.
const TRIES: u32 = 10;

/// What tells a taint from others.
type Name = (String, String);

/// The block with the live values of its taints; those that are gone are left out.
pub(super) fn observed(stored: &Value, live: &Json) -> Value {
    let path = Path::root().attr("taint");
    let Some(taints) = path.get(stored) else { return stored.clone() };
    let now = taints.as_sequence().unwrap_or_default().iter().filter_map(|taint| {
        let found = of_node(live).find(|found| name(found) == name_of(taint))?;
        let value = found.get("value").and_then(Json::as_str).unwrap_or_default();
        Path::root().attr("value").set(taint, value.into())
    });
    let engine_value::Type::List(element) = taints.type_of() else { return stored.clone() };
    let now = Value::list(element.as_ref().clone(), now.collect());
    path.set(stored, now).unwrap_or_else(|| stored.clone())
}

/// Asks the server by a dry run; gives why it could not be asked.
pub(super) async fn ask(
    cluster: &Cluster,
    key: &ObjectKey,
    before: Option<&Value>,
    after: &Value,
    call: Call<'_>,
) -> Result<Option<String>, Vec<Issue>> {
    let unreachable = |error| vec![failed(Path::root(), &format!("Cannot plan {key}"), &error)];
    let Lookup::Served(kind) = cluster.kind(&key.api_version, &key.kind, call).await.map_err(unreachable)? else {
        return Ok(Some("the API server serves no nodes".to_owned()));
    };
    let Some(live) = cluster.get(&kind, key, call).await.map_err(unreachable)? else {
        return Ok(Some(format!("{key} does not exist yet")));
    };
    let wanted = wanted(&live, before, Some(after)).map_err(|(at, what)| {
        let detail = format!("{key} has {what}, which was not put on under this address.");
        let hint = "Leave it out, or take it with `force = true`.";
        vec![Issue::error(Path::root().attr("taint").index(at), "Taint of somebody else", detail).hint(hint)]
    })?;
    let sent = write(cluster, &kind, key, &live, &wanted, after, true, call).await.map_err(unreachable)?;
    let Err(status) = sent else { return Ok(None) };
    match refusal(&status) {
        Refusal::NotAllowed => Ok(Some(format!("this identity may not change {key}, not even for show"))),
        Refusal::Changed(_) => Ok(None),
        _ => {
            let at = Path::root().attr("taint");
            Err(vec![Issue::error(at, format!("{key} is refused"), sentence(&told(&status.message)))])
        }
    }
}

/// Puts them on, or takes them off where there is no `after`.
///
/// # Errors
/// The node is not there, or refuses it: nothing was changed.
pub(super) async fn apply(
    cluster: &Cluster,
    key: &ObjectKey,
    before: Option<&Value>,
    after: Option<&Value>,
    call: Call<'_>,
) -> Result<(), ProviderError> {
    let Some(block) = after.or(before) else { return Ok(()) };
    let gone = || match after {
        Some(_) => Err(missing(key)),
        None => Ok(()),
    };
    let Some(kind) = cluster.kind_of(key, call).await? else { return gone() };
    for _ in 0..TRIES {
        let Some(live) = cluster.get(&kind, key, call).await? else { return gone() };
        let wanted = wanted(&live, before, after).map_err(|(_, what)| {
            let what = format!("cannot change {key}: it has {what}, which was not put on under this address");
            ProviderError::new(ErrorKind::Conflict, what).hint("Plan again; `force = true` takes such taints.")
        })?;
        match write(cluster, &kind, key, &live, &wanted, block, false, call).await? {
            Ok(_) => return Ok(()),
            Err(status) if matches!(refusal(&status), Refusal::Changed(_)) => {}
            Err(status) => return Err(cluster.refused(&format!("cannot change {key}"), status)),
        }
    }
    Err(restless(key))
}

#[expect(clippy::too_many_arguments, reason = "one request, spelled out")]
async fn write(
    cluster: &Cluster,
    kind: &Kind,
    key: &ObjectKey,
    live: &Json,
    taints: &[Json],
    block: &Value,
    dry_run: bool,
    call: Call<'_>,
) -> Result<Result<Json, Box<kube::core::Status>>, ProviderError> {
    let manager = block.get("field_manager").and_then(Value::as_str).unwrap_or("Terraform");
    let metadata = json!({"uid": live["metadata"]["uid"], "resourceVersion": live["metadata"]["resourceVersion"]});
    let body = json!({"metadata": metadata, "spec": {"taints": taints}});
    cluster.merge(kind, key, &body, manager, dry_run, call).await
}

/// All taints that the node is to have: others' where they are, then new ones of `after`. `Err`: the place in the block
/// of a taint that somebody else has put on with another value, and what it is.
fn wanted(live: &Json, before: Option<&Value>, after: Option<&Value>) -> Result<Vec<Json>, (usize, String)> {
    let of_block = |block: Option<&Value>| -> Vec<Value> {
        block.and_then(|block| block.get("taint")).and_then(Value::as_sequence).unwrap_or_default().to_vec()
    };
    let (ours, asked) = (of_block(before), of_block(after));
    let is_ours = |name: &Name| ours.iter().any(|taint| name_of(taint) == *name);
    let force = after.and_then(|after| after.get("force")).and_then(Value::as_bool).unwrap_or(false);
    let mut taints = Vec::new();
    for found in of_node(live) {
        let (name, found) = (name(found), found.clone());
        let value = found.get("value").and_then(Json::as_str).unwrap_or_default();
        match asked.iter().position(|taint| name_of(taint) == name) {
            Some(at) if value_of(&asked[at]) == value => taints.push(found),
            Some(at) if force || is_ours(&name) => taints.push(sent(&asked[at])),
            Some(at) => return Err((at, format!("the taint {}={value}:{}", name.0, name.1))),
            None if is_ours(&name) => {}
            None => taints.push(found),
        }
    }
    let is_there = |taint: &&Value| of_node(live).any(|found| name(found) == name_of(taint));
    taints.extend(asked.iter().filter(|taint| !is_there(taint)).map(sent));
    Ok(taints)
}

fn sent(taint: &Value) -> Json {
    let (key, effect) = name_of(taint);
    match value_of(taint) {
        "" => json!({"key": key, "effect": effect}),
        value => json!({"key": key, "value": value, "effect": effect}),
    }
}

fn of_node(live: &Json) -> impl Iterator<Item = &Json> {
    live.pointer("/spec/taints").and_then(Json::as_array).into_iter().flatten()
}

fn name(taint: &Json) -> Name {
    let text = |name: &str| taint.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    (text("key"), text("effect"))
}

fn name_of(taint: &Value) -> Name {
    let text = |name: &str| taint.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("key"), text("effect"))
}

fn value_of(taint: &Value) -> &str {
    taint.get("value").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(taints: &[(&str, &str)], force: bool) -> Value {
        let taint = |(key, value): &(&str, &str)| {
            Value::object([("effect", "NoSchedule".into()), ("key", (*key).into()), ("value", (*value).into())])
        };
        let ty = taint(&("", "")).type_of();
        Value::object([("force", force.into()), ("taint", Value::list(ty, taints.iter().map(taint).collect()))])
    }

    fn node(taints: &[(&str, &str)]) -> Json {
        let taint = |(key, value): &(&str, &str)| json!({"key": key, "value": value, "effect": "NoSchedule"});
        json!({"spec": {"taints": taints.iter().map(taint).collect::<Vec<_>>()}})
    }

    #[test]
    fn taints_of_others_stay() {
        let live = node(&[("other", "x"), ("ours", "1"), ("old", "2")]);
        let before = block(&[("ours", "1"), ("old", "2")], false);
        let names = |wanted: Result<Vec<Json>, (usize, String)>| -> Result<Vec<String>, (usize, String)> {
            Ok(wanted?.iter().map(|taint| format!("{}={}", name(taint).0, taint["value"].as_str().unwrap())).collect())
        };
        let after = block(&[("new", "3"), ("ours", "4")], false);
        let text = |list: &[&str]| Ok(list.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(names(wanted(&live, Some(&before), Some(&after))), text(&["other=x", "ours=4", "new=3"]));
        assert_eq!(names(wanted(&live, Some(&before), None)), text(&["other=x"]));
        let taken = block(&[("other", "y")], false);
        assert_eq!(wanted(&live, None, Some(&taken)), Err((0, "the taint other=x:NoSchedule".to_owned())));
        let forced = block(&[("other", "y")], true);
        assert_eq!(names(wanted(&live, None, Some(&forced))), text(&["other=y", "ours=1", "old=2"]));
        assert_eq!(observed(&before, &node(&[("ours", "9")])), block(&[("ours", "9")], false));
    }
}
