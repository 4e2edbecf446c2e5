//! What would become of an object.

use engine_model::schema::Usage;
use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};

use super::{
    body::{content, desired, filled, place, with_id},
    kind::{Kind, Wait},
    merge::{Differences, merged},
    name::{get, made, set},
    read::observed,
};
use crate::{
    cluster::Cluster,
    resource::{
        object::{
            invalid::alone,
            plan::{Around, Prior, Question, plan as ask},
        },
        typed::kind::secret,
    },
};

/// What is wrong with a block by the schema of its kind that is compiled in.
pub(super) fn validate_alone(kind: &Kind, config: &Value) -> Vec<Issue> {
    alone(&desired(kind, config), &|field: &Path| place(kind.fields, config, field))
}

/// Plans one object. See the crate's contract.
pub(super) async fn plan(
    cluster: &Cluster,
    kind: &Kind,
    request: PlanRequest,
    around: &Around,
    call: Call<'_>,
) -> Result<Planned, Vec<Issue>> {
    let PlanRequest { prior, config, .. } = request;
    let prior = (!prior.is_null()).then_some(prior);
    let mut differences = Differences::default();
    let object = merged(kind.fields, &config, prior.as_ref(), &Path::root(), &mut differences);
    let mut object = secret::without_unstored(kind, &config, object);
    if let Some(prior) = &prior {
        for left in (kind.left_alone)(&config) {
            let path = Path::root().attr(*left);
            differences.changed.retain(|changed| !changed.starts_with(&path));
            object = path.get(prior).and_then(|part| path.set(&object, part)).unwrap_or(object);
        }
        let mut replace = differences.replaced;
        replace.extend((kind.replaced)(prior, &differences.changed));
        if !replace.is_empty() {
            return Ok(Planned { replace, ..Planned::object(anew(kind, &config, call)) });
        }
        if object == *prior || !differences.changed.iter().any(|path| is_sent(kind, path)) {
            return Ok(Planned::object(object));
        }
        object = set(&object, "resource_version", Value::unknown(Type::String));
    } else {
        object = anew(kind, &config, call);
    }
    let named = |block: &Value| match get(&object, "name") {
        Some(name) => set(block, "name", name),
        None => block.clone(),
    };
    let wanted = desired(kind, &named(&config));
    let before = prior.as_ref().map(|prior| (desired(kind, prior), get(prior, "uid")));
    let before = before.as_ref().map(|(desired, uid)| {
        let uid = uid.clone().unwrap_or_else(|| Value::unknown(Type::String));
        let object = Path::root().attr("metadata").attr("uid").set(&desired.body, uid).unwrap_or(desired.body.clone());
        Prior { desired, stored: object.clone(), object }
    });
    let places = |field: &Path| place(kind.fields, &config, field);
    let question = Question { desired: &wanted, prior: before, around, places: &places };
    let verdict = ask(cluster, &question, call).await?;
    if !verdict.replace.is_empty() {
        object = anew(kind, &config, call);
    } else if verdict.unverified.is_none()
        && let Some(found) = content(&verdict.object)
        && !(kind.wait == Wait::Token && secret::is_token(&config))
    {
        object = filled(&object, &observed(kind.fields, &object, &found));
    }
    Ok(verdict.planned(object))
}

/// The object where there is none yet.
fn anew(kind: &Kind, config: &Value, call: Call<'_>) -> Value {
    let object = merged(kind.fields, config, None, &Path::root(), &mut Differences::default());
    let object = secret::without_unstored(kind, config, object);
    let object = set(&object, "name", made(config, call.host));
    let mut object = Path::root().attr("id").set(&object, Value::unknown(Type::String)).unwrap_or(object);
    // What only older versions of Kubernetes gave is always empty.
    for field in kind.fields.iter().filter(|field| field.usage == Usage::Computed && field.json.is_empty()) {
        object = Path::root().attr(field.name).set(&object, "".into()).unwrap_or(object);
    }
    with_id(kind, object)
}

/// Is something sent for a change of this?
fn is_sent(kind: &Kind, path: &Path) -> bool {
    let first = path.0.first();
    let field = kind.fields.iter().find(|field| first == Some(&engine_value::Step::Attr(field.name.into())));
    field.is_some_and(|field| !field.is_local() && field.usage != Usage::Computed)
}
