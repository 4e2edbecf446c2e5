//! Two subresources of pods that are verbs: binding one to a node, and evicting it as far as disruption budgets allow.

use serde_json::{Value, json};

use super::body::Body;
use super::controllers::disruption;
use super::delete;
use super::object::{self, ensure_map, items, map_mut, text};
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::write;

fn success() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

/// `POST` on `pods/NAME/eviction`.
pub(super) fn evict(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let eviction = body.object()?;
    let options = eviction.get("deleteOptions").cloned().unwrap_or_else(|| json!({}));
    request.options.dry_run |= items(&options, "/dryRun").any(|value| value == "All");
    let manner = delete::manner(request, &options)?;
    let mut store = request.begin();
    let pod = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    write::check_version(resource, &pod, &json!({"metadata": options.get("preconditions")}))?;
    write::review(request, resource, Some(&pod), None)?;
    let is_over =
        ["Succeeded", "Failed", "Pending"].contains(&text(&pod, "/status/phase")) || object::is_terminating(&pod);
    if !is_over {
        check_budgets(&disruption::budgets_of(&store, &pod), &pod)?;
    }
    delete::start(&mut store, resource, &pod, manner);
    write::finish(request, store)?;
    Ok(success())
}

fn check_budgets(budgets: &[(String, disruption::Budget, bool)], pod: &Value) -> Result<(), Failure> {
    let [(name, budget, evicts_unhealthy)] = budgets else {
        if budgets.is_empty() {
            return Ok(());
        }
        return Err(Failure::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    };
    let is_healthy = disruption::is_healthy(pod);
    // A pod that is not ready does not count; it may go when the budget is met without it, or always if the budget says.
    if !is_healthy && (*evicts_unhealthy || budget.healthy >= budget.desired) {
        return Ok(());
    }
    if budget.allowed() > 0 {
        return Ok(());
    }
    let message = format!(
        "The disruption budget {name} needs {} healthy pods and has {} currently",
        budget.desired, budget.healthy
    );
    let cause = Cause { reason: "DisruptionBudget", message, field: String::new() };
    Err(Failure::too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", &[cause]))
}

/// `POST` on `pods/NAME/binding`.
pub(super) fn bind(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let binding = body.object()?;
    let node = text(&binding, "/target/name").to_owned();
    if node.is_empty() {
        let cause = Cause::required("target.name");
        return Err(Failure::invalid("", "Binding", request.name(), &[cause]));
    }
    let mut store = request.begin();
    let key = request.key(resource);
    let pod = store.get(&key).cloned().ok_or_else(|| request.not_found(resource))?;
    let refuse = |why: String| Failure::conflict("", "pods/binding", request.name(), &why);
    if object::is_terminating(&pod) {
        return Err(refuse(format!("pod {} is being deleted, cannot be assigned to a host", request.name())));
    }
    let bound = text(&pod, "/spec/nodeName");
    if !bound.is_empty() {
        return Err(refuse(format!("pod {} is already assigned to node {bound:?}", request.name())));
    }
    let mut next = (*pod).clone();
    map_mut(&mut next, "spec").insert("nodeName".to_owned(), node.into());
    let condition = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": request.time()});
    let conditions = map_mut(&mut next, "status").entry("conditions").or_insert_with(|| json!([]));
    if let Some(list) = conditions.as_array_mut() {
        list.retain(|condition| text(condition, "/type") != "PodScheduled");
        list.push(condition);
    }
    ensure_map(&mut next);
    write::review(request, resource, Some(&pod), Some(&next))?;
    store.put(&key, next);
    write::finish(request, store)?;
    Ok(success())
}
