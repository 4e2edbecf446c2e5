//! Role-based access control: who may do what, by the roles and bindings in the store.
//!
//! The roles that every cluster has are in [`bootstrap`]; what a change of roles and bindings itself must satisfy is in
//! [`escalation`].

pub(super) mod bootstrap;
pub(super) mod escalation;
mod rule;
pub(super) mod validate;

use serde_json::Value;

pub(super) use rule::Rule;

use super::hooks::{Attributes, Authorizer, Decision, path_refusal, refusal};
use super::identity::{MASTERS, User};
use super::object::{self, items, text};
use crate::store::{Key, Transaction};

/// API group of roles and bindings.
pub(super) const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) const ROLES: &str = "roles.rbac.authorization.k8s.io";
pub(super) const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
const ROLE_BINDINGS: &str = "rolebindings.rbac.authorization.k8s.io";
const CLUSTER_ROLE_BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";

/// Members of `system:masters` may do everything, others what their roles allow.
pub struct Rbac;

impl Authorizer for Rbac {
    fn authorize(&self, store: &Transaction<'_>, user: &User, attributes: &Attributes<'_>) -> Decision {
        let Attributes { verb, group, resource, subresource, namespace, name } = *attributes;
        let found = search(store, user, namespace, |rule| rule.allows(verb, group, resource, subresource, name));
        found.map_or_else(|errors| Decision::Deny(with_errors(refusal(user, attributes), &errors)), |_| Decision::Allow)
    }

    fn authorize_path(&self, store: &Transaction<'_>, user: &User, verb: &str, path: &str) -> Decision {
        let found = search(store, user, "", |rule| rule.allows_path(verb, path));
        found.map_or_else(
            |errors| Decision::Deny(with_errors(path_refusal(user, verb, path), &errors)),
            |_| Decision::Allow,
        )
    }
}

/// Roles that could not be found may be why something is not allowed.
fn with_errors(refusal: String, errors: &[String]) -> String {
    match errors {
        [] => refusal,
        [error] => format!("{refusal}: RBAC: {error}"),
        errors => format!("{refusal}: RBAC: [{}]", errors.join(", ")),
    }
}

/// Why a review says that something is allowed: the binding; empty for those who may do everything.
pub(super) fn reason(store: &Transaction<'_>, user: &User, attributes: &Attributes<'_>) -> String {
    let Attributes { verb, group, resource, subresource, namespace, name } = *attributes;
    search(store, user, namespace, |rule| rule.allows(verb, group, resource, subresource, name)).unwrap_or_default()
}

/// The same of a path.
pub(super) fn path_reason(store: &Transaction<'_>, user: &User, verb: &str, path: &str) -> String {
    search(store, user, "", |rule| rule.allows_path(verb, path)).unwrap_or_default()
}

/// The first binding that gives the user a rule like that, or which roles were not found.
fn search(
    store: &Transaction<'_>,
    user: &User,
    namespace: &str,
    matches: impl Fn(&Rule) -> bool,
) -> Result<String, Vec<String>> {
    if user.is_in(MASTERS) {
        return Ok(String::new());
    }
    let mut errors = Vec::new();
    for bound in bindings(store, user, namespace) {
        match role_rules(store, &bound.role, namespace) {
            Ok(rules) if rules.iter().any(&matches) => return Ok(format!("RBAC: allowed by {}", bound.text)),
            Ok(_) => {}
            Err(error) => errors.push(error),
        }
    }
    Err(errors)
}

/// All rules that a user has in a namespace (empty: at the cluster scope), and the roles that were not found.
pub(super) fn rules_of(store: &Transaction<'_>, user: &User, namespace: &str) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    if user.is_in(MASTERS) {
        rules.extend(Rule::everything());
    }
    for bound in bindings(store, user, namespace) {
        match role_rules(store, &bound.role, namespace) {
            Ok(found) => rules.extend(found),
            Err(error) => errors.push(error),
        }
    }
    (rules, errors)
}

/// A binding that holds for a user.
struct Bound {
    /// Its `roleRef`.
    role: Value,
    /// For people.
    text: String,
}

fn bindings(store: &Transaction<'_>, user: &User, namespace: &str) -> Vec<Bound> {
    let mut all = Vec::new();
    for (_, binding) in store.list(CLUSTER_ROLE_BINDINGS) {
        all.extend(bound(binding, user, "", "ClusterRoleBinding"));
    }
    if !namespace.is_empty() {
        for (_, binding) in store.list_namespace(ROLE_BINDINGS, namespace) {
            all.extend(bound(binding, user, namespace, "RoleBinding"));
        }
    }
    all
}

fn bound(binding: &Value, user: &User, namespace: &str, kind: &str) -> Option<Bound> {
    let subject = items(binding, "/subjects").find(|subject| is_meant(user, subject, namespace))?;
    let role = binding.get("roleRef").cloned().unwrap_or_default();
    let mut name = object::name(binding).to_owned();
    if !namespace.is_empty() {
        name = format!("{name}/{namespace}");
    }
    let subject = match (text(subject, "/kind"), text(subject, "/name")) {
        (kind @ "ServiceAccount", of) => {
            let home = Some(text(subject, "/namespace")).filter(|home| !home.is_empty()).unwrap_or(namespace);
            format!("{kind} {:?}", format!("{of}/{home}"))
        }
        (kind, of) => format!("{kind} {of:?}"),
    };
    let text = format!("{kind} {name:?} of {} {:?} to {subject}", text(&role, "/kind"), text(&role, "/name"));
    Some(Bound { role, text })
}

fn is_meant(user: &User, subject: &Value, namespace: &str) -> bool {
    let name = text(subject, "/name");
    match text(subject, "/kind") {
        "User" => user.name == name,
        "Group" => user.is_in(name),
        "ServiceAccount" => {
            let home = Some(text(subject, "/namespace")).filter(|home| !home.is_empty()).unwrap_or(namespace);
            !home.is_empty() && user.name == format!("system:serviceaccount:{home}:{name}")
        }
        _ => false,
    }
}

/// The rules of the role that a binding names.
fn role_rules(store: &Transaction<'_>, reference: &Value, namespace: &str) -> Result<Vec<Rule>, String> {
    let name = text(reference, "/name");
    let (key, singular) = match text(reference, "/kind") {
        "Role" => (Key::new(ROLES, namespace, name), "role"),
        _ => (Key::new(CLUSTER_ROLES, "", name), "clusterrole"),
    };
    let role = store.get(&key).ok_or_else(|| format!("{singular}.{GROUP} {name:?} not found"))?;
    Ok(rules(role))
}

/// The rules in a role.
pub(super) fn rules(role: &Value) -> Vec<Rule> {
    items(role, "/rules").map(Rule::from_json).collect()
}
