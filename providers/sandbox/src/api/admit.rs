//! The built-in admission: the namespace is there and stays, pods get their priority, account and the amounts of limit
//! ranges, quotas hold, nobody gives away rights that they do not have.

use serde_json::{Value, json};

use super::controllers::quota;
use super::defaults;
use super::limits;
use super::object::{self, default_field, map_mut};
use super::rbac::escalation;
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use crate::store::{Key, Transaction};

/// Checks and completes a new object.
pub(super) fn create(
    request: &Request<'_>,
    store: &Transaction<'_>,
    resource: &Resource,
    new: &mut Value,
) -> Result<(), Failure> {
    if resource.namespaced {
        namespace(store, resource, new)?;
    }
    escalation::check(request, store, resource, None, new)?;
    if !resource.namespaced {
        return Ok(());
    }
    if resource.storage.as_ref() == "pods" {
        priority(store, new)?;
        account(store, new)?;
        tolerations(new);
        limits::admit(store, new)?;
        // Its class follows from amounts that limit ranges may have filled in.
        defaults::begin_pod(new);
    }
    quota::admit(store, resource, new)
}

/// Completes an object that changes, which is checked after that.
pub(super) fn complete_change(resource: &Resource, new: &mut Value) {
    if resource.storage.as_ref() == "pods" {
        tolerations(new);
    }
}

/// Checks an object that changes.
pub(super) fn change(
    request: &Request<'_>,
    store: &Transaction<'_>,
    resource: &Resource,
    old: &Value,
    new: &Value,
) -> Result<(), Failure> {
    escalation::check(request, store, resource, Some(old), new)
}

fn namespace(store: &Transaction<'_>, resource: &Resource, new: &Value) -> Result<(), Failure> {
    let name = object::namespace(new);
    let namespace = store.get(&Key::new("namespaces", "", name));
    let namespace = namespace.ok_or_else(|| Failure::not_found("", "namespaces", name))?;
    if object::is_terminating(namespace) {
        let why = format!("unable to create new content in namespace {name} because it is being terminated");
        let cause = Cause {
            reason: "NamespaceTerminating",
            message: format!("namespace {name} is being terminated"),
            field: "metadata.namespace".to_owned(),
        };
        let refusal = Failure::forbidden(&resource.group, &resource.plural, object::name(new), &why);
        return Err(refusal.with_causes(&[cause]));
    }
    Ok(())
}

fn priority(store: &Transaction<'_>, pod: &mut Value) -> Result<(), Failure> {
    let wanted = object::text(pod, "/spec/priorityClassName").to_owned();
    let class = if wanted.is_empty() {
        let is_default = |class: &&std::sync::Arc<Value>| class.get("globalDefault") == Some(&Value::Bool(true));
        store.list("priorityclasses.scheduling.k8s.io").map(|(_, class)| class).find(is_default)
    } else {
        let class = store.get(&Key::new("priorityclasses.scheduling.k8s.io", "", &wanted));
        if class.is_none() {
            let why = format!("no PriorityClass with name {wanted} was found");
            return Err(Failure::forbidden("", "pods", object::name(pod), &why));
        }
        class
    };
    let value = class.and_then(|class| class.get("value").cloned()).unwrap_or_else(|| 0.into());
    let preemption = class.map_or("PreemptLowerPriority", |class| object::text(class, "/preemptionPolicy"));
    let name = class.map(|class| object::name(class).to_owned());
    let preemption = preemption.to_owned();
    let spec = map_mut(pod, "spec");
    if let Some(name) = name {
        spec.insert("priorityClassName".to_owned(), name.into());
    }
    spec.insert("priority".to_owned(), value);
    default_field(spec, "preemptionPolicy", preemption);
    Ok(())
}

fn account(store: &Transaction<'_>, pod: &mut Value) -> Result<(), Failure> {
    let spec = map_mut(pod, "spec");
    default_field(spec, "serviceAccountName", "default");
    let account = spec["serviceAccountName"].as_str().unwrap_or_default().to_owned();
    default_field(spec, "serviceAccount", account.as_str());
    let namespace = object::namespace(pod);
    if store.get(&Key::new("serviceaccounts", namespace, &account)).is_none() {
        let why =
            format!("error looking up service account {namespace}/{account}: serviceaccount {account:?} not found");
        return Err(Failure::forbidden("", "pods", object::name(pod), &why));
    }
    Ok(())
}

/// Pods stay five minutes on a node that is not ready.
fn tolerations(pod: &mut Value) {
    let spec = map_mut(pod, "spec");
    let list = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(list) = list.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = list.iter().any(|toleration| {
            let (of, effect) = (object::text(toleration, "/key"), object::text(toleration, "/effect"));
            (of == key || of.is_empty()) && ["", "NoExecute"].contains(&effect)
        });
        if !tolerated {
            list.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
}
