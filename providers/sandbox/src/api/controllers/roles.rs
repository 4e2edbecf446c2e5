//! Cluster roles that are made of others: their rules follow those of the roles that they select.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::object::{self, items};
use super::super::rbac::CLUSTER_ROLES;
use super::super::selectors::LabelSelector;
use crate::store::{Key, Transaction};

/// Brings the rules of aggregated roles up to date. Called after a change of a cluster role; what it changes may be part of
/// another, so it is called again for that.
pub(super) fn refresh(store: &mut Transaction<'_>) {
    let roles: Vec<(Key, Arc<Value>)> =
        store.list(CLUSTER_ROLES).map(|(key, role)| (key.clone(), role.clone())).collect();
    for (key, role) in roles.iter().filter(|(_, role)| role.pointer("/aggregationRule/clusterRoleSelectors").is_some())
    {
        let selectors: Vec<LabelSelector> =
            items(role, "/aggregationRule/clusterRoleSelectors").map(LabelSelector::from_json).collect();
        let mut rules: Vec<Value> = Vec::new();
        for selector in &selectors {
            let parts = roles.iter().filter(|(_, part)| object::name(part) != object::name(role));
            for rule in parts.filter(|(_, part)| selector.matches(part)).flat_map(|(_, part)| items(part, "/rules")) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
        if items(role, "/rules").eq(rules.iter()) {
            continue;
        }
        let mut next = (**role).clone();
        next["rules"] = json!(rules);
        store.put(key, next);
    }
}
