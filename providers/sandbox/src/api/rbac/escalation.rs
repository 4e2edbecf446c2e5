//! Nobody gives away what they do not have: a role holds only rights of whoever writes it, unless they may `escalate`; a
//! binding binds only such a role, unless they may `bind` it.

use serde_json::Value;

use super::super::hooks::{Attributes, Decision};
use super::super::identity::MASTERS;
use super::super::object::{self, text};
use super::super::request::Request;
use super::super::resource::Resource;
use super::super::status::Failure;
use super::rule::{Rule, missing, quoted};
use super::{GROUP, role_rules, rules, rules_of};
use crate::store::Transaction;

/// Checks a role or binding that is to be written; `old` is what it was.
pub(in crate::api) fn check(
    request: &Request<'_>,
    store: &Transaction<'_>,
    resource: &Resource,
    old: Option<&Value>,
    new: &Value,
) -> Result<(), Failure> {
    if resource.group != GROUP || request.user.is_in(MASTERS) {
        return Ok(());
    }
    let is_same = |field: &str| old.is_some_and(|old| old.get(field) == new.get(field));
    match resource.kind.as_str() {
        "Role" | "ClusterRole" if is_same("rules") && is_same("aggregationRule") => Ok(()),
        "Role" | "ClusterRole" => role(request, store, resource, new),
        "RoleBinding" | "ClusterRoleBinding" if is_same("roleRef") && is_same("subjects") => Ok(()),
        "RoleBinding" | "ClusterRoleBinding" => binding(request, store, resource, new),
        _ => Ok(()),
    }
}

fn may(request: &Request<'_>, store: &Transaction<'_>, verb: &str, plural: &str, namespace: &str, name: &str) -> bool {
    let attributes = Attributes { verb, group: GROUP, resource: plural, subresource: "", namespace, name };
    request.api.authorizer.authorize(store, request.user, &attributes) == Decision::Allow
}

fn role(request: &Request<'_>, store: &Transaction<'_>, resource: &Resource, new: &Value) -> Result<(), Failure> {
    let namespace = object::namespace(new);
    if may(request, store, "escalate", &resource.plural, namespace, request.name()) {
        return Ok(());
    }
    let mut wanted = rules(new);
    if new.get("aggregationRule").is_some_and(Value::is_object) {
        // It may come to hold anything.
        wanted = Rule::everything().into();
    }
    confirm(request, store, resource, new, &wanted)
}

fn binding(request: &Request<'_>, store: &Transaction<'_>, resource: &Resource, new: &Value) -> Result<(), Failure> {
    let namespace = object::namespace(new);
    let reference = new.get("roleRef").cloned().unwrap_or_default();
    let name = text(&reference, "/name");
    let plural = if text(&reference, "/kind") == "Role" { "roles" } else { "clusterroles" };
    if may(request, store, "bind", plural, namespace, name) {
        return Ok(());
    }
    let wanted =
        role_rules(store, &reference, namespace).map_err(|_| Failure::not_found(GROUP, &resource.plural, name))?;
    confirm(request, store, resource, new, &wanted)
}

fn confirm(
    request: &Request<'_>,
    store: &Transaction<'_>,
    resource: &Resource,
    new: &Value,
    wanted: &[Rule],
) -> Result<(), Failure> {
    let (held, errors) = rules_of(store, request.user, object::namespace(new));
    let missing = missing(&held, wanted);
    if missing.is_empty() {
        return Ok(());
    }
    let user = request.user;
    let mut why = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted(user.all_groups()),
        missing.join("\n")
    );
    if !errors.is_empty() {
        why = format!("{why}; resolution errors: [{}]", errors.join(", "));
    }
    Err(Failure::forbidden(&resource.group, &resource.plural, object::name(new), &why))
}
