//! A resource that is served: a kind in one version, with all that the verbs need to know about it.

use std::sync::Arc;

use serde_json::Value;

use super::columns::Column;
use super::conform::Flavour;
use super::kinds::Builtin;
use super::names::NameRule;
use super::scale::Paths;
use super::schema::{Id, Schema, Type};
use crate::store::Key;

/// See the module.
pub(super) struct Resource {
    pub(super) group: String,
    pub(super) version: String,
    /// The version that objects are stored in; the others differ in `apiVersion` only (conversion `None`).
    pub(super) storage_version: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    pub(super) namespaced: bool,
    pub(super) has_status: bool,
    pub(super) has_generation: bool,
    pub(super) name_rule: NameRule,
    pub(super) selectable: Vec<String>,
    pub(super) schema: Arc<Schema>,
    pub(super) root: Id,
    pub(super) flavour: Flavour,
    pub(super) columns: Vec<Column>,
    /// Where its objects keep their replicas.
    pub(super) scale: Option<Paths>,
    /// What tells its schema from another one under the same name.
    pub(super) digest: String,
    /// The store's name for it: plural and group.
    pub(super) storage: Arc<str>,
    pub(super) builtin: Option<&'static Builtin>,
}

/// All verbs, as every resource has them that is kept.
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl Resource {
    /// The type of its objects.
    pub(super) fn schema(&self) -> Type<'_> {
        self.schema.at(self.root)
    }

    /// `v1`, `apps/v1`.
    pub(super) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    /// Where an object is stored; the namespace counts for namespaced resources only.
    pub(super) fn key(&self, namespace: &str, name: &str) -> Key {
        let namespace = if self.namespaced { namespace.into() } else { "".into() };
        Key { resource: self.storage.clone(), namespace, name: name.into() }
    }

    /// The object as this version shows it.
    pub(super) fn present(&self, object: &Arc<Value>) -> Arc<Value> {
        if self.version == self.storage_version {
            return object.clone();
        }
        let mut shown = (**object).clone();
        shown["apiVersion"] = self.api_version().into();
        Arc::new(shown)
    }

    /// Marks the object with the stored version's `apiVersion` and the kind.
    pub(super) fn mark_for_storage(&self, object: &mut Value) {
        object["apiVersion"] = group_version(&self.group, &self.storage_version).into();
        object["kind"] = self.kind.as_str().into();
    }

    /// Whether its objects are questions, which are answered and not kept.
    pub(super) fn is_review(&self) -> bool {
        self.builtin.is_some_and(|builtin| builtin.is_review)
    }

    /// What can be done with its objects.
    pub(super) fn verbs(&self) -> &'static [&'static str] {
        if self.is_review() { &["create"] } else { VERBS }
    }

    /// Subresources, with the group, version and kind of their bodies where these differ, and their verbs.
    pub(super) fn subresources(&self) -> Vec<Subresource> {
        let mut list = Vec::new();
        if self.has_status && !self.is_review() {
            list.push(Subresource { name: "status", body: None, verbs: &["get", "patch", "update"] });
        }
        if self.scale.is_some() {
            let body = Some(("autoscaling", "v1", "Scale"));
            list.push(Subresource { name: "scale", body, verbs: &["get", "patch", "update"] });
        }
        if self.builtin.is_some_and(|builtin| builtin.kind == "Pod") {
            list.push(Subresource { name: "log", body: None, verbs: &["get"] });
            list.push(Subresource { name: "binding", body: Some(("", "v1", "Binding")), verbs: &["create"] });
            list.push(Subresource { name: "eviction", body: Some(("policy", "v1", "Eviction")), verbs: &["create"] });
        }
        if self.builtin.is_some_and(|builtin| builtin.kind == "ServiceAccount") {
            let body = Some(("authentication.k8s.io", "v1", "TokenRequest"));
            list.push(Subresource { name: "token", body, verbs: &["create"] });
        }
        if self.builtin.is_some_and(|builtin| builtin.kind == "Namespace") {
            list.push(Subresource { name: "finalize", body: None, verbs: &["update"] });
        }
        list
    }
}

/// A part of a resource with verbs of its own.
pub(super) struct Subresource {
    pub(super) name: &'static str,
    /// Group, version and kind of what is sent to it, when it is not the resource's own.
    pub(super) body: Option<(&'static str, &'static str, &'static str)>,
    pub(super) verbs: &'static [&'static str],
}

/// `v1`, `apps/v1`.
pub(super) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
