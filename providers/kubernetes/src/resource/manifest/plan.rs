//! What would become of a manifest.

use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};

use super::{config::Config, read::with_object};
use crate::{
    cluster::Cluster,
    resource::object::{
        self,
        plan::{Around, Prior, Question},
    },
};

/// Plans one object. See the crate's contract.
pub(crate) async fn plan(
    cluster: &Cluster,
    request: PlanRequest,
    around: &Around,
    call: Call<'_>,
) -> Result<Planned, Vec<Issue>> {
    if request.config.is_null() {
        return Ok(Planned::object(request.config));
    }
    let config = Config::of(&request.proposed);
    let before = (!request.prior.is_null()).then(|| Config::of(&request.prior));
    let part = |whole: &Value| whole.get("object").cloned().unwrap_or_else(|| Value::null(Type::Dynamic));
    let prior = before.as_ref().map(|before| Prior {
        desired: &before.desired,
        object: part(&request.prior),
        stored: part(&request.stored),
    });
    let question = Question { desired: &config.desired, prior, around, places: &place };
    let verdict = object::plan::plan(cluster, &question, call).await?;
    let object = with_object(&request.proposed, verdict.object.clone());
    let object = without_force(object, &request.prior);
    Ok(verdict.planned(object))
}

/// The object as it was, where nothing but `force_conflicts` is another: how fields are taken is no change of an object.
fn without_force(object: Value, prior: &Value) -> Value {
    let is_of = |whole: &Value| Config::of(whole).desired.manager;
    let Some(before) = prior.get("field_manager").filter(|_| is_of(prior) == is_of(&object)) else { return object };
    match Path::root().attr("field_manager").set(&object, before.clone()) {
        Some(same) if same.clone().unmark_deep().0 == prior.clone().unmark_deep().0 => same,
        _ => object,
    }
}

/// What is wrong with a manifest of a built-in kind, by the schema that is compiled in.
pub(crate) fn validate_alone(config: &Value) -> Vec<Issue> {
    object::invalid::alone(&Config::of(config).desired, &place)
}

/// A manifest is the body.
fn place(inside: &Path) -> Path {
    Path(Path::root().attr("manifest").0.into_iter().chain(inside.0.iter().cloned()).collect())
}
