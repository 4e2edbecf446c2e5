//! Limit ranges: what they fill into a new pod, and what they refuse. Kinds `Container` and `Pod`; volume claims are not
//! served.

use std::collections::BTreeMap;
use std::sync::Arc;

use providers_kubernetes::Quantity;
use serde_json::{Map, Value};

use super::controllers::quota::pod_amounts;
use super::object::{self, default_field, ensure_map, entries, items, map_mut, text};
use super::status::{Cause, Failure};
use crate::store::Transaction;

/// Where a pod tells what was filled in.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

fn ranges(store: &Transaction<'_>, pod: &Value) -> Vec<Arc<Value>> {
    store.list_namespace("limitranges", object::namespace(pod)).map(|(_, range)| range.clone()).collect()
}

/// Fills in and checks a new pod.
pub(super) fn admit(store: &Transaction<'_>, pod: &mut Value) -> Result<(), Failure> {
    let ranges = ranges(store, pod);
    for range in &ranges {
        fill_in(range, pod);
    }
    for range in &ranges {
        let mut refusals = refusals(range, pod);
        refusals.dedup();
        let why = match refusals.as_slice() {
            [] => continue,
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        return Err(Failure::forbidden("", "pods", object::name(pod), &why));
    }
    Ok(())
}

fn limits<'r>(range: &'r Value, kind: &'r str) -> impl Iterator<Item = &'r Value> {
    items(range, "/spec/limits").filter(move |limit| text(limit, "/type") == kind)
}

fn fill_in(range: &Value, pod: &mut Value) {
    let mut told = Vec::new();
    for (list, what) in [("initContainers", "init container"), ("containers", "container")] {
        let containers = pod.pointer_mut(&format!("/spec/{list}")).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let name = text(container, "/name").to_owned();
            let resources = map_mut(container, "resources");
            for (field, of, word) in [("requests", "/defaultRequest", "request"), ("limits", "/default", "limit")] {
                let added = merge(resources, field, limits(range, "Container").flat_map(|limit| entries(limit, of)));
                if !added.is_empty() {
                    told.push(format!("{} {word} for {what} {name}", added.join(", ")));
                }
            }
        }
    }
    if !told.is_empty() {
        let annotations = map_mut(pod, "metadata").entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        let text = format!("LimitRanger plugin set: {}", told.join("; "));
        ensure_map(annotations).insert(ANNOTATION.to_owned(), text.into());
    }
}

/// Adds amounts that are not there, and names them in order.
fn merge<'v>(
    resources: &mut Map<String, Value>,
    field: &str,
    amounts: impl Iterator<Item = (&'v String, &'v Value)>,
) -> Vec<String> {
    let amounts: BTreeMap<&String, &Value> = amounts.collect();
    let mut added = Vec::new();
    for (name, amount) in amounts {
        let known = ensure_map(resources.entry(field).or_insert_with(|| Value::Object(Map::new())));
        if !known.contains_key(name) {
            known.insert(name.clone(), amount.clone());
            added.push(name.clone());
        }
    }
    added
}

type Amounts = BTreeMap<String, Quantity>;

fn refusals(range: &Value, pod: &Value) -> Vec<String> {
    let mut refusals = Vec::new();
    for limit in limits(range, "Container") {
        for list in ["/spec/containers", "/spec/initContainers"] {
            for container in items(pod, list) {
                let amounts = |of: &str| -> Amounts {
                    entries(container, of)
                        .filter_map(|(name, value)| Some((name.clone(), Quantity::parse(value)?)))
                        .collect()
                };
                check(limit, &amounts("/resources/requests"), &amounts("/resources/limits"), &mut refusals);
            }
        }
    }
    for limit in limits(range, "Pod") {
        check(limit, &pod_amounts(pod, "requests"), &pod_amounts(pod, "limits"), &mut refusals);
    }
    refusals
}

fn check(limit: &Value, requests: &Amounts, limits: &Amounts, refusals: &mut Vec<String>) {
    let kind = text(limit, "/type");
    let bounds = |of: &str| -> Vec<(String, Quantity)> {
        entries(limit, of).filter_map(|(name, value)| Some((name.clone(), Quantity::parse(value)?))).collect()
    };
    for (name, least) in bounds("/min") {
        let usage = format!("minimum {name} usage per {kind} is {least}");
        match (requests.get(&name), limits.get(&name)) {
            (None, _) => refusals.push(format!("{usage}.  No request is specified")),
            (Some(request), _) if *request < least => refusals.push(format!("{usage}, but request is {request}")),
            (_, Some(limit)) if *limit < least => refusals.push(format!("{usage}, but limit is {limit}")),
            _ => {}
        }
    }
    for (name, most) in bounds("/max") {
        let usage = format!("maximum {name} usage per {kind} is {most}");
        match (requests.get(&name), limits.get(&name)) {
            (_, None) => refusals.push(format!("{usage}.  No limit is specified")),
            (_, Some(limit)) if *limit > most => refusals.push(format!("{usage}, but limit is {limit}")),
            (Some(request), _) if *request > most => refusals.push(format!("{usage}, but request is {request}")),
            _ => {}
        }
    }
    for (name, most) in bounds("/maxLimitRequestRatio") {
        let usage = format!("{name} max limit to request ratio per {kind} is {most}");
        let some = |amounts: &Amounts| amounts.get(&name).copied().filter(|amount| !amount.is_zero());
        match (some(requests), some(limits)) {
            (None, _) => refusals.push(format!("{usage}, but no request is specified or request is 0")),
            (_, None) => refusals.push(format!("{usage}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) if limit.ratio(request) > most.ratio(Quantity::of(1)) => {
                refusals.push(format!("{usage}, but provided ratio is {:.6}", limit.ratio(request)));
            }
            _ => {}
        }
    }
}

/// What follows from what in a limit range: the default limit from the maximum, the default request from the default
/// limit, else from the minimum.
pub(super) fn default(range: &mut Value) {
    let limits = range.pointer_mut("/spec/limits").and_then(Value::as_array_mut);
    for limit in limits.into_iter().flatten().filter(|limit| text(limit, "/type") == "Container") {
        for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
            let Some(amounts) = limit.get(from).and_then(Value::as_object).cloned() else { continue };
            let known = map_mut(limit, to);
            amounts.into_iter().for_each(|(name, amount)| default_field(known, &name, amount));
        }
    }
}

/// What contradicts itself in a limit range.
pub(super) fn validate(range: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, limit) in items(range, "/spec/limits").enumerate() {
        let field = |name: &str| format!("spec.limits[{index}].{name}");
        if text(limit, "/type") == "Pod" {
            for name in ["default", "defaultRequest"] {
                if entries(limit, &format!("/{name}")).next().is_some() {
                    causes.push(Cause::forbidden(field(name), "may not be specified when `type` is 'Pod'"));
                }
            }
        }
        // The first may not be greater than the second; the message is about the last of the three.
        let rules = [
            ("min", "min", "max", "max", "min"),
            ("min", "min", "defaultRequest", "default request", "defaultRequest"),
            ("min", "min", "default", "default", "default"),
            ("defaultRequest", "default request", "max", "max", "defaultRequest"),
            ("defaultRequest", "default request", "default", "default limit", "defaultRequest"),
            ("default", "default", "max", "max", "default"),
        ];
        for (small, small_word, large, large_word, about) in rules {
            for (name, value) in entries(limit, &format!("/{small}")) {
                let other = limit.get(large).and_then(|amounts| amounts.get(name)).and_then(Quantity::parse);
                let (Some(amount), Some(other)) = (Quantity::parse(value), other) else { continue };
                if amount > other {
                    let why = format!("{small_word} value {amount} is greater than {large_word} value {other}");
                    // The server shows the smaller one with the default limit, too.
                    let shown = if about == "defaultRequest" && small == "min" { other } else { amount };
                    let found = shown.to_string().into();
                    causes.push(Cause::invalid(format!("{}[{name}]", field(about)), &found, &why));
                }
            }
        }
        for (name, value) in entries(limit, "/maxLimitRequestRatio") {
            if let Some(ratio) = Quantity::parse(value).filter(|ratio| *ratio < Quantity::of(1)) {
                let found = ratio.to_string().into();
                let why = format!("ratio {ratio} is less than 1");
                causes.push(Cause::invalid(format!("{}[{name}]", field("maxLimitRequestRatio")), &found, &why));
            }
        }
    }
    causes
}
