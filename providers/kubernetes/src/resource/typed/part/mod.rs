//! Types that look after a part of an object that others have made: labels, annotations, data, taints. They never create
//! or delete it, and give back what they took when they are destroyed.

mod entries;
mod kind;
mod taints;

use engine_model::schema::Schema;
use engine_value::{Path, Value};
use providers_api::{Applied, ApplyRequest, Call, Issue, Outcome, PlanRequest, Planned, ReadObject};
use serde_json::Value as Json;

use super::{
    check,
    merge::{Differences, merged},
    schema,
};
use crate::{cluster::Cluster, object::key::ObjectKey};
use kind::Content;
pub(super) use kind::Part;

/// Every type with its schema.
pub(super) fn schemas() -> impl Iterator<Item = (&'static str, Schema)> {
    kind::PARTS
        .iter()
        .map(|part| (part.ty, Schema { version: 0, block: schema::block_with_id(part.fields, part.description) }))
}

/// The type of this name.
pub(super) fn of(ty: &str) -> Option<&'static Part> {
    kind::PARTS.iter().find(|part| part.ty == ty).copied()
}

/// What is wrong with a block. Unknown values are not checked.
pub(super) fn validate(part: &Part, config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    check::fields(part.fields, config, &Path::root(), &mut issues);
    if config.get("field_manager").and_then(Value::as_str).is_some_and(|name| name.trim().is_empty()) {
        issues.push(Issue::error(Path::root().attr("field_manager"), "Invalid field manager", "It must have a name."));
    }
    issues.extend((part.check)(config));
    issues
}

/// What names the object.
pub(super) fn key_of(part: &Part, block: &Value) -> Option<ObjectKey> {
    let text = |path: Path| path.get(block).and_then(|value| value.as_str().map(str::to_owned));
    let metadata = Path::root().attr("metadata").index(0);
    let namespace = metadata.clone().attr("namespace");
    if namespace.get(block).is_some_and(|namespace| !namespace.is_known()) {
        return None;
    }
    let (api_version, kind) = match part.object {
        Some((api_version, kind)) => (api_version.to_owned(), kind.to_owned()),
        None => (text(Path::root().attr("api_version"))?, text(Path::root().attr("kind"))?),
    };
    Some(ObjectKey {
        api_version,
        kind,
        namespace: text(namespace).filter(|text| !text.is_empty()),
        name: text(metadata.attr("name"))?,
    })
}

/// A part of the state as it is now.
pub(super) fn refreshed(part: &Part, stored: Value, live: &Json) -> ReadObject {
    let object = match part.content {
        Content::Entries(entries) => entries::observed(entries, &stored, live),
        Content::Taints => taints::observed(&stored, live),
    };
    ReadObject { object, private: Vec::new(), notes: Vec::new() }
}

/// Plans one part. See the crate's contract.
pub(super) async fn plan(
    cluster: &Cluster,
    part: &Part,
    request: PlanRequest,
    call: Call<'_>,
) -> Result<Planned, Vec<Issue>> {
    let PlanRequest { prior, config, .. } = request;
    let prior = (!prior.is_null()).then_some(prior);
    let mut differences = Differences::default();
    let mut object = merged(part.fields, &config, prior.as_ref(), &Path::root(), &mut differences);
    let replace = differences.replaced;
    let prior = prior.filter(|_| replace.is_empty());
    if prior.as_ref() == Some(&object) {
        return Ok(Planned::object(object));
    }
    object = Path::root().attr("id").set(&object, (part.id)(&object)).unwrap_or(object);
    let mut planned = Planned { replace, ..Planned::object(object) };
    if !planned.replace.is_empty() {
        return Ok(planned);
    }
    let Some(key) = key_of(part, &planned.object) else {
        planned.unverified = Some("what it belongs to is known only after apply".to_owned());
        return Ok(planned);
    };
    if !planned
        .object
        .map_parts(|step, given| match step == engine_value::Step::Attr("id".into()) {
            true => Value::null(given.type_of()),
            false => given.clone(),
        })
        .is_wholly_known()
    {
        planned.unverified = Some("parts of it are known only after apply".to_owned());
        return Ok(planned);
    }
    planned.unverified = match part.content {
        Content::Entries(entries) => {
            entries::ask(cluster, entries, &key, prior.as_ref(), &planned.object, call).await?
        }
        Content::Taints => taints::ask(cluster, &key, prior.as_ref(), &planned.object, call).await?,
    };
    Ok(planned)
}

/// Carries out one change. See the crate's contract.
pub(super) async fn apply(cluster: &Cluster, part: &Part, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
    let change = request.change;
    let applied = |object: Value| Applied { object, private: Vec::new() };
    let before = (!change.before.is_null()).then_some(change.before);
    let after = (!change.after.is_null()).then_some(change.after);
    let Some(key) = after.as_ref().or(before.as_ref()).and_then(|block| key_of(part, block)) else {
        return Outcome::gone();
    };
    let done = match part.content {
        Content::Entries(entries) => {
            entries::apply(cluster, entries, &key, before.as_ref(), after.as_ref(), call).await
        }
        Content::Taints => taints::apply(cluster, &key, before.as_ref(), after.as_ref(), call).await,
    };
    match (done, after) {
        (Ok(()), Some(after)) => {
            let id = (part.id)(&after);
            Outcome::done(applied(Path::root().attr("id").set(&after, id).unwrap_or(after)))
        }
        (Ok(()), None) => Outcome::gone(),
        (Err(error), _) => Outcome::failed(before.map(applied), error),
    }
}
