//! What would become of a manifest.

use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};

use super::{config::Config, read::with_object};
use crate::{
    cluster::Cluster,
    object::key::ObjectKey,
    resource::object::{
        self,
        plan::{Prior, Question},
    },
};

/// Plans one object. See the crate's contract.
///
/// `standing` is the object of this address that is destroyed first, where one half of a replacement is planned.
pub(crate) async fn plan(
    cluster: &Cluster,
    request: PlanRequest,
    standing: Option<ObjectKey>,
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
    let question = Question { desired: &config.desired, prior, standing: standing.as_ref(), places: &place };
    let verdict = object::plan::plan(cluster, &question, call).await?;
    let object = with_object(&request.proposed, verdict.object);
    Ok(Planned {
        replace: verdict.replace,
        unverified: verdict.unverified,
        issues: verdict.issues,
        ..Planned::object(object)
    })
}

/// A manifest is the body.
fn place(inside: &Path) -> Path {
    Path(Path::root().attr("manifest").0.into_iter().chain(inside.0.iter().cloned()).collect())
}
