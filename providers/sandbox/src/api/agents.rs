//! What a node's agent may do: read its own node and its own node resource, create that resource without a spec, write
//! its status, and keep its own lease. Everything else is refused; other users go to the next authoriser.

use serde_json::Value;

use super::hooks::{Admission, Attributes, Authorizer, Decision, Review, refusal};
use super::identity::User;
use super::object;
use crate::store::Transaction;

/// The group of all agents.
pub const AGENTS: &str = "sliceform:agents";

/// The rules for agents, in front of those for others.
pub struct AgentRules<A> {
    /// API group of the node resource.
    pub group: String,
    /// Plural name of the node resource.
    pub plural: String,
    /// Where agents keep their leases.
    pub lease_namespace: String,
    /// For users that are no agents.
    pub others: A,
}

impl<A> AgentRules<A> {
    fn may(&self, node: &str, attributes: &Attributes<'_>) -> bool {
        let Attributes { verb, group, resource, subresource, namespace, name } = attributes;
        let reads = ["get", "list", "watch"].contains(verb);
        let own = *name == node;
        match (*group, *resource, *subresource) {
            ("", "nodes", "") => own && reads,
            ("coordination.k8s.io", "leases", "") => {
                // A create has no name in its path; admission looks into the body.
                *namespace == self.lease_namespace
                    && (*verb == "create" || (own && (reads || ["update", "patch"].contains(verb))))
            }
            (group, resource, part) if (group, resource) == (self.group.as_str(), self.plural.as_str()) => match part {
                "" => *verb == "create" || (own && reads),
                "status" => own && ["get", "update", "patch"].contains(verb),
                _ => false,
            },
            _ => false,
        }
    }
}

impl<A: Authorizer> Authorizer for AgentRules<A> {
    fn authorize(&self, store: &Transaction<'_>, user: &User, attributes: &Attributes<'_>) -> Decision {
        if !user.is_in(AGENTS) {
            return self.others.authorize(store, user, attributes);
        }
        match user.node() {
            Some(node) if self.may(node, attributes) => Decision::Allow,
            _ => Decision::Deny(refusal(user, attributes)),
        }
    }

    /// Discovery is for agents as for everybody.
    fn authorize_path(&self, store: &Transaction<'_>, user: &User, verb: &str, path: &str) -> Decision {
        self.others.authorize_path(store, user, verb, path)
    }
}

impl<A: Authorizer> Admission for AgentRules<A> {
    fn review(&self, review: &Review<'_>) -> Result<(), String> {
        if !review.user.is_in(AGENTS) {
            return Ok(());
        }
        let node = review.user.node().unwrap_or_default();
        let Some(new) = review.new else { return Err("an agent deletes nothing".to_owned()) };
        if object::name(new) != node {
            return Err(format!(
                "the agent of node {node:?} writes objects of that name only, not {:?}",
                object::name(new)
            ));
        }
        let is_node_resource = (review.group, review.resource) == (self.group.as_str(), self.plural.as_str());
        let spec = new.get("spec").filter(|spec| !spec.as_object().is_some_and(serde_json::Map::is_empty));
        if is_node_resource && review.old.is_none() && spec.is_some_and(|spec| *spec != Value::Null) {
            return Err(
                "an agent creates its node resource without spec: the layout comes from an approved plan".to_owned()
            );
        }
        Ok(())
    }
}
