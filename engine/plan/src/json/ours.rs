//! `sliceform`: what Terraform's plan JSON has no place for.

use engine_model::plan::Plan;
use engine_value::json::Json;
use serde::Serialize;

use super::{change, named, object, text};

/// The member `sliceform`.
pub(super) fn ours(plan: &Plan) -> Json {
    let reasons = plan
        .changes
        .iter()
        .filter_map(|change| Some((change.addr.to_string(), change::reason(change.reason.as_ref()?))));
    let unverified =
        plan.changes.iter().filter_map(|change| Some((change.addr.to_string(), text(change.unverified.as_deref()?))));
    let drift = plan.drift.iter().filter(|drift| !drift.notes.is_empty()).map(|drift| {
        let notes = drift.notes.iter().map(|note| text(&**note)).collect();
        (drift.addr.to_string(), Json::Array(notes))
    });
    let mut members = vec![
        ("reasons", named(reasons)),
        ("drift", named(drift)),
        ("unverified", named(unverified)),
        ("operations", Json::Array(plan.operations.iter().map(operation).collect())),
        ("holds", tree(&plan.holds)),
        ("waves", tree(&plan.waves)),
        ("given_back", tree(&plan.given_back)),
        ("excluded", tree(&plan.excluded)),
        ("findings", tree(&plan.review.findings)),
        ("capacity", tree(&plan.review.capacity)),
        ("clusters", named(plan.clusters.iter().map(|(addr, id)| (addr.to_string(), text(id.as_str()))))),
        ("sandbox", Json::Bool(plan.sandbox)),
    ];
    members.extend(plan.incomplete.as_ref().map(|incomplete| ("incomplete", text(&*incomplete.why))));
    object(members)
}

/// What a provider wants to see again is opaque, and stays in the plan.
fn operation(operation: &engine_model::operation::Operation) -> Json {
    let mut json = tree(operation);
    if let Json::Object(members) = &mut json {
        members.retain(|(name, _)| !matches!(&**name, "payload" | "undo"));
    }
    json
}

/// Types of the model are made of text, numbers, lists and maps by text: none fails to serialise.
fn tree(value: &impl Serialize) -> Json {
    serde_json::to_value(value).map_or(Json::Null, |json| Json::from(&json))
}
