//! Resource quotas: what counts against them, the refusal of what would exceed them, and `status.used`.
//!
//! Counted: pods (`pods`, `requests.*`, `limits.*`, and extended resources as `requests.NAME`), and objects by
//! `count/RESOURCE.GROUP` and the old short names. Lowering a quota below what is used evicts nobody.

use std::collections::{BTreeMap, BTreeSet};

use providers_kubernetes::Quantity;
use serde_json::{Map, Value, json};

use super::super::object::{self, entries, items, text};
use super::super::resource::Resource;
use super::super::status::Failure;
use super::super::validate::is_extended;
use crate::store::Transaction;

type Amounts = BTreeMap<String, Quantity>;

/// Refuses an object that some quota of its namespace does not leave room for.
pub(in crate::api) fn admit(store: &Transaction<'_>, resource: &Resource, new: &Value) -> Result<(), Failure> {
    let forbid = |why: String| Failure::forbidden(&resource.group, &resource.plural, object::name(new), &why);
    let is_pod = resource.storage.as_ref() == "pods";
    let concerned: Vec<&Value> = store
        .list_namespace("resourcequotas", object::namespace(new))
        .map(|(_, quota)| quota.as_ref())
        .filter(|quota| if is_pod { in_scope(quota, new) } else { !is_scoped(quota) })
        .collect();
    if is_pod {
        for quota in &concerned {
            if let Some(missing) = missing_requests(quota, new) {
                return Err(forbid(format!("failed quota: {}: must specify {missing}", object::name(quota))));
            }
        }
    }
    if concerned.is_empty() {
        return Ok(());
    }
    let usage = usage_of(&resource.storage, new);
    for quota in concerned {
        let exceeded: Vec<(&str, Quantity, Quantity, Quantity)> = entries(quota, "/spec/hard")
            .filter_map(|(name, hard)| {
                let (wanted, hard) = (*usage.get(name)?, Quantity::parse(hard)?);
                let used = quota
                    .pointer("/status/used")
                    .and_then(|used| Quantity::parse(used.get(name)?))
                    .unwrap_or(Quantity::ZERO);
                (!wanted.is_zero() && used.plus(wanted) > hard).then_some((name.as_str(), wanted, used, hard))
            })
            .collect();
        if !exceeded.is_empty() {
            let list = |pick: fn(&(&str, Quantity, Quantity, Quantity)) -> Quantity| {
                let amounts: Vec<String> =
                    exceeded.iter().map(|entry| format!("{}={}", entry.0, pick(entry))).collect();
                amounts.join(",")
            };
            return Err(forbid(format!(
                "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                object::name(quota),
                list(|entry| entry.1),
                list(|entry| entry.2),
                list(|entry| entry.3)
            )));
        }
    }
    Ok(())
}

/// Whether a quota counts only some pods; then it counts nothing else.
fn is_scoped(quota: &Value) -> bool {
    items(quota, "/spec/scopes").next().is_some()
        || items(quota, "/spec/scopeSelector/matchExpressions").next().is_some()
}

/// Brings `status` of the namespace's quotas up to date.
pub(super) fn refresh(store: &mut Transaction<'_>, namespace: &str, time: &str) {
    let quotas: Vec<_> =
        store.list_namespace("resourcequotas", namespace).map(|(key, quota)| (key.clone(), quota.clone())).collect();
    for (key, quota) in quotas {
        let mut used: Amounts = BTreeMap::new();
        for (name, _) in entries(&quota, "/spec/hard") {
            used.insert(name.clone(), Quantity::ZERO);
        }
        for storage in counted(&used) {
            for (_, object) in store.list_namespace(&storage, namespace) {
                let counts = if storage == "pods" { in_scope(&quota, object) } else { !is_scoped(&quota) };
                if !counts {
                    continue;
                }
                for (name, amount) in usage_of(&storage, object) {
                    used.entry(name).and_modify(|sum| *sum = sum.plus(amount));
                }
            }
        }
        let used: Map<String, Value> = used.into_iter().map(|(name, sum)| (name, sum.to_string().into())).collect();
        let mut status = json!({"hard": quota.pointer("/spec/hard"), "used": used});
        if status["hard"].is_null() {
            status = json!({});
        }
        super::write_status(store, &key, &quota, status, time);
    }
}

/// The resources whose objects a quota has to look at.
fn counted(names: &Amounts) -> Vec<String> {
    let mut storages = BTreeSet::new();
    for name in names.keys() {
        match (name.strip_prefix("count/"), name.as_str()) {
            (Some(resource), _) => storages.insert(resource.to_owned()),
            (None, "configmaps" | "secrets" | "resourcequotas") => storages.insert(name.clone()),
            _ => storages.insert("pods".to_owned()),
        };
    }
    storages.into_iter().collect()
}

/// What one object counts for.
fn usage_of(storage: &str, object: &Value) -> Amounts {
    let one = Quantity::of(1);
    let mut usage = BTreeMap::from([(format!("count/{storage}"), one)]);
    match storage {
        "configmaps" | "secrets" | "resourcequotas" => drop(usage.insert(storage.to_owned(), one)),
        "pods" if ["Succeeded", "Failed"].contains(&text(object, "/status/phase")) => {}
        "pods" => {
            usage.insert("pods".to_owned(), one);
            for (name, amount) in pod_amounts(object, "requests") {
                usage.insert(format!("requests.{name}"), amount);
                if !is_extended(&name) {
                    usage.insert(name, amount);
                }
            }
            for (name, amount) in pod_amounts(object, "limits") {
                usage.insert(format!("limits.{name}"), amount);
            }
        }
        _ => {}
    }
    usage
}

/// What a pod asks for at once: its containers together, or its largest init container.
pub(in crate::api) fn pod_amounts(pod: &Value, of: &str) -> Amounts {
    let amounts = |container: &Value| -> Amounts {
        entries(container, &format!("/resources/{of}"))
            .filter_map(|(name, value)| Some((name.clone(), Quantity::parse(value)?)))
            .collect()
    };
    let mut total: Amounts = BTreeMap::new();
    for container in items(pod, "/spec/containers") {
        for (name, amount) in amounts(container) {
            let sum = total.entry(name).or_insert(Quantity::ZERO);
            *sum = sum.plus(amount);
        }
    }
    for container in items(pod, "/spec/initContainers") {
        for (name, amount) in amounts(container) {
            let sum = total.entry(name).or_insert(amount);
            if amount > *sum {
                *sum = amount;
            }
        }
    }
    total
}

/// Amounts of processor and memory that a quota counts must be said by every container.
fn missing_requests(quota: &Value, pod: &Value) -> Option<String> {
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, _) in entries(quota, "/spec/hard") {
        let (of, resource) = match name.split_once('.') {
            Some((of @ ("requests" | "limits"), resource @ ("cpu" | "memory"))) => (of, resource),
            None if ["cpu", "memory"].contains(&name.as_str()) => ("requests", name.as_str()),
            _ => continue,
        };
        let pointer = format!("/resources/{of}/{resource}");
        for container in items(pod, "/spec/containers").chain(items(pod, "/spec/initContainers")) {
            if container.pointer(&pointer).is_none() {
                missing.entry(name).or_default().insert(text(container, "/name"));
            }
        }
    }
    let lines: Vec<String> = missing
        .into_iter()
        .map(|(name, containers)| {
            let containers: Vec<&str> = containers.into_iter().collect();
            format!("{name} for: {}", containers.join(","))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Whether a quota's scopes include a pod.
fn in_scope(quota: &Value, pod: &Value) -> bool {
    let holds = |scope: &str| match scope {
        "Terminating" => pod.pointer("/spec/activeDeadlineSeconds").is_some(),
        "NotTerminating" => pod.pointer("/spec/activeDeadlineSeconds").is_none(),
        "BestEffort" => text(pod, "/status/qosClass") == "BestEffort",
        "NotBestEffort" => text(pod, "/status/qosClass") != "BestEffort",
        "PriorityClass" => !text(pod, "/spec/priorityClassName").is_empty(),
        _ => false,
    };
    let expression = |expression: &Value| {
        let class = text(pod, "/spec/priorityClassName");
        let named = items(expression, "/values").any(|value| value == class);
        match (text(expression, "/scopeName"), text(expression, "/operator")) {
            ("PriorityClass", "In") => named,
            ("PriorityClass", "NotIn") => !named,
            (scope, "DoesNotExist") => !holds(scope),
            (scope, _) => holds(scope),
        }
    };
    items(quota, "/spec/scopes").filter_map(Value::as_str).all(holds)
        && items(quota, "/spec/scopeSelector/matchExpressions").all(expression)
}
