//! What built-in kinds demand beyond their schema, and what of them cannot change.

use providers_kubernetes::Quantity;
use serde_json::Value;

use super::names::qualified_name_problem;
use super::object::{entries, items, text};
use super::status::Cause;

/// A field that cannot change once the object exists.
pub(super) struct Immutable {
    /// JSON pointer.
    pub(super) pointer: &'static str,
    /// The field as messages name it.
    pub(super) field: &'static str,
    /// When the rule holds.
    pub(super) when: When,
    /// `field is immutable`, …
    pub(super) why: &'static str,
}

/// When a field cannot change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Never.
    Always,
    /// Once the object is marked `immutable: true`.
    MarkedImmutable,
}

const fn always(pointer: &'static str, field: &'static str) -> Immutable {
    Immutable { pointer, field, when: When::Always, why: "field is immutable" }
}

const fn marked(pointer: &'static str, field: &'static str) -> Immutable {
    Immutable { pointer, field, when: When::MarkedImmutable, why: "field is immutable when `immutable` is set" }
}

pub(super) const CONFIG_MAP: &[Immutable] =
    &[marked("/data", "data"), marked("/binaryData", "binaryData"), marked("/immutable", "immutable")];
pub(super) const SECRET: &[Immutable] =
    &[marked("/data", "data"), marked("/immutable", "immutable"), always("/type", "type")];
pub(super) const SELECTOR: &[Immutable] = &[always("/spec/selector", "spec.selector")];
pub(super) const ROLE_REF: &[Immutable] =
    &[Immutable { pointer: "/roleRef", field: "roleRef", when: When::Always, why: "cannot change roleRef" }];
pub(super) const PRIORITY_CLASS: &[Immutable] = &[
    Immutable { pointer: "/value", field: "value", when: When::Always, why: "may not be changed in an update." },
    Immutable {
        pointer: "/preemptionPolicy",
        field: "preemptionPolicy",
        when: When::Always,
        why: "field is immutable",
    },
];
pub(super) const RESOURCE_QUOTA: &[Immutable] =
    &[always("/spec/scopes", "spec.scopes"), always("/spec/scopeSelector", "spec.scopeSelector")];
pub(super) const JOB: &[Immutable] = &[
    always("/spec/selector", "spec.selector"),
    always("/spec/template", "spec.template"),
    always("/spec/completionMode", "spec.completionMode"),
];
pub(super) const CUSTOM_RESOURCE_DEFINITION: &[Immutable] = &[
    always("/spec/group", "spec.group"),
    always("/spec/scope", "spec.scope"),
    always("/spec/names/plural", "spec.names.plural"),
    always("/spec/names/kind", "spec.names.kind"),
];

/// What of `rules` the change breaks.
pub(super) fn changed(rules: &[Immutable], old: &Value, new: &Value) -> Vec<Cause> {
    let marked = old.get("immutable") == Some(&Value::Bool(true));
    rules
        .iter()
        .filter(|rule| rule.when == When::Always || marked)
        .filter(|rule| old.pointer(rule.pointer) != new.pointer(rule.pointer))
        .map(|rule| match rule.why {
            "field is immutable" => {
                let value = new.pointer(rule.pointer).cloned().unwrap_or_default();
                Cause::invalid(rule.field, &value, rule.why)
            }
            why => Cause::forbidden(rule.field, why),
        })
        .collect()
}

/// For kinds without further rules.
pub(super) fn nothing(_: &Value) -> Vec<Cause> {
    Vec::new()
}

/// For kinds without rules of changes.
pub(super) fn no_change(_: &Value, _: &Value) -> Vec<Cause> {
    Vec::new()
}

const POD_WHY: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
                       `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
                       `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Of a pod only images, the deadline and further tolerations change.
pub(super) fn pod_change(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for list in ["containers", "initContainers"] {
        let pointer = format!("/spec/{list}");
        if items(old, &pointer).count() != items(new, &pointer).count() {
            causes.push(Cause::forbidden(format!("spec.{list}"), "pod updates may not add or remove containers"));
        }
    }
    if !causes.is_empty() {
        return causes;
    }
    // How long something is tolerated may change.
    let lasting = |toleration: &Value| {
        let mut toleration = toleration.clone();
        super::object::ensure_map(&mut toleration).remove("tolerationSeconds");
        toleration
    };
    let tolerated: Vec<Value> = items(new, "/spec/tolerations").map(lasting).collect();
    if !items(old, "/spec/tolerations").all(|toleration| tolerated.contains(&lasting(toleration))) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        causes.push(Cause::forbidden("spec.tolerations", why));
    }
    let fixed = |pod: &Value| {
        let mut spec = pod.get("spec").cloned().unwrap_or_default();
        let map = super::object::ensure_map(&mut spec);
        ["activeDeadlineSeconds", "tolerations"].iter().for_each(|field| drop(map.remove(*field)));
        for list in ["containers", "initContainers"] {
            for container in map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                super::object::ensure_map(container).remove("image");
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        causes.push(Cause::forbidden("spec", POD_WHY));
    }
    causes
}

/// Containers have names and images, extended resources whole and equal amounts.
pub(super) fn pod(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if items(object, "/spec/containers").next().is_none() {
        causes.push(Cause::required("spec.containers"));
    }
    for (pointer, field) in [("/spec/initContainers", "spec.initContainers"), ("/spec/containers", "spec.containers")] {
        for (index, container) in items(object, pointer).enumerate() {
            let field = format!("{field}[{index}]");
            for name in ["name", "image"] {
                if text(container, &format!("/{name}")).is_empty() {
                    causes.push(Cause::required(format!("{field}.{name}")));
                }
            }
            container_resources(container, &field, &mut causes);
        }
    }
    causes
}

fn container_resources(container: &Value, field: &str, causes: &mut Vec<Cause>) {
    for of in ["limits", "requests"] {
        for (name, value) in entries(container, &format!("/resources/{of}")) {
            let field = format!("{field}.resources.{of}[{name}]");
            let Some(amount) = Quantity::parse(value) else { continue };
            if amount.is_negative() {
                causes.push(Cause::invalid(field, value, "must be greater than or equal to 0"));
            } else if is_extended(name) {
                let is_whole =
                    amount.to_string().parse::<u64>().is_ok() || !amount.to_string().ends_with(['m', 'u', 'n']);
                if !is_whole {
                    causes.push(Cause::invalid(field, value, "must be an integer"));
                } else if container.pointer("/resources/limits").and_then(|limits| limits.get(name)) != Some(value) {
                    causes.push(Cause::invalid(field, value, &format!("must be equal to {name} limit")));
                }
            }
        }
    }
}

/// Whether a resource is one that nodes advertise beside Kubernetes' own.
pub(super) fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.starts_with("kubernetes.io/") && !name.starts_with("requests.")
}

/// A quota limits names that are standard or qualified, in amounts that are not negative.
pub(super) fn resource_quota(object: &Value) -> Vec<Cause> {
    const STANDARD: &[&str] = &[
        "cpu",
        "memory",
        "ephemeral-storage",
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
    ];
    let mut causes = Vec::new();
    for (name, value) in entries(object, "/spec/hard") {
        let field = format!("spec.hard[{name}]");
        if let Some(why) = qualified_name_problem(name) {
            causes.push(Cause::invalid(field.clone(), &name.as_str().into(), &why));
        } else if !name.contains('/') && !STANDARD.contains(&name.as_str()) {
            causes.push(Cause::invalid(field.clone(), &name.as_str().into(), "must be a standard resource for quota"));
        }
        match Quantity::parse(value) {
            Some(amount) if amount.is_negative() => {
                causes.push(Cause::invalid(field, value, "must be greater than or equal to 0"));
            }
            Some(amount) if name.contains('/') && amount.to_string().ends_with(['m', 'u', 'n']) => {
                causes.push(Cause::invalid(field, value, "must be an integer"));
            }
            _ => {}
        }
    }
    causes
}

/// Taints have a key and a known effect, and are distinct.
pub(super) fn node(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (index, taint) in items(object, "/spec/taints").enumerate() {
        let field = format!("spec.taints[{index}]");
        let (key, effect) = (text(taint, "/key"), text(taint, "/effect"));
        if let Some(why) = qualified_name_problem(key) {
            causes.push(Cause::invalid(format!("{field}.key"), &key.into(), &why));
        }
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if !effects.contains(&effect) {
            causes.push(Cause::unsupported(format!("{field}.effect"), &effect.into(), &effects.map(Value::from)));
        }
        if !seen.insert((key, effect)) {
            let message = format!("Duplicate value: {taint}");
            causes.push(Cause { reason: "FieldValueDuplicate", message, field });
        }
    }
    causes
}

/// A workload's selector matches its own pods.
pub(super) fn workload(object: &Value) -> Vec<Cause> {
    let selector = object.pointer("/spec/selector").cloned().unwrap_or_default();
    if !selector.is_object() {
        return vec![Cause::required("spec.selector")];
    }
    let template = object.pointer("/spec/template").cloned().unwrap_or_default();
    if !super::selectors::LabelSelector::from_json(&selector).matches(&template) {
        let labels = template.pointer("/metadata/labels").cloned().unwrap_or_default();
        let why = "`selector` does not match template `labels`";
        return vec![Cause::invalid("spec.template.metadata.labels", &labels, why)];
    }
    template_pod(object)
}

/// A job's pods end.
pub(super) fn job(object: &Value) -> Vec<Cause> {
    let mut causes = template_pod(object);
    let policy = text(object, "/spec/template/spec/restartPolicy");
    if !["OnFailure", "Never"].contains(&policy) {
        let allowed = ["OnFailure", "Never"].map(Value::from);
        causes.push(Cause::unsupported("spec.template.spec.restartPolicy", &policy.into(), &allowed));
    }
    causes
}

fn template_pod(object: &Value) -> Vec<Cause> {
    let causes = pod(object.pointer("/spec/template").unwrap_or(&Value::Null));
    causes.into_iter().map(|cause| Cause { field: format!("spec.template.{}", cause.field), ..cause }).collect()
}

/// Only the system's own classes are above a thousand million.
pub(super) fn priority_class(object: &Value) -> Vec<Cause> {
    const HIGHEST: i64 = 1_000_000_000;
    let value = object.get("value").and_then(Value::as_i64).unwrap_or_default();
    if value > HIGHEST && !super::object::name(object).starts_with("system-") {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        return vec![Cause::forbidden("value", &why)];
    }
    Vec::new()
}
