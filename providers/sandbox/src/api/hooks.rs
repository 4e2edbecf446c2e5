//! Where the sandbox's composition takes part in requests: who may do what, and what a write must satisfy.

use serde_json::Value;

use super::identity::User;
use crate::store::Transaction;

/// What is asked, as authorisation sees it: before the body is read.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: &'a str,
    /// API group; empty for the core group.
    pub group: &'a str,
    /// Plural name; empty for paths that are not resources.
    pub resource: &'a str,
    /// Empty for the object itself.
    pub subresource: &'a str,
    /// Empty when there is none.
    pub namespace: &'a str,
    /// From the path, or from a field selector on `metadata.name`; empty when there is none.
    pub name: &'a str,
}

/// Whether a request may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// It may not, and why.
    Deny(String),
}

/// Decides who may do what. It is called inside a transaction: it must be quick, and must not call the API.
pub trait Authorizer: Send + Sync {
    /// Called once for each request for a resource.
    fn authorize(&self, store: &Transaction<'_>, user: &User, attributes: &Attributes<'_>) -> Decision;

    /// The same for a path that is no resource: discovery, versions, health.
    fn authorize_path(&self, store: &Transaction<'_>, user: &User, verb: &str, path: &str) -> Decision;
}

/// What is about to be written.
#[derive(Debug)]
pub struct Review<'a> {
    /// Who writes.
    pub user: &'a User,
    /// API group; empty for the core group.
    pub group: &'a str,
    /// Plural name.
    pub resource: &'a str,
    /// Empty for the object itself.
    pub subresource: &'a str,
    /// The object as it was; none when it is created.
    pub old: Option<&'a Value>,
    /// The object as it would be; none when it is deleted.
    pub new: Option<&'a Value>,
    /// Nothing will be written.
    pub dry_run: bool,
}

/// A rule over writes. It is called inside the write's transaction: it must be quick, and must not call the API.
pub trait Admission: Send + Sync {
    /// # Errors
    /// Why the write is refused; the caller gets it with code 403.
    fn review(&self, review: &Review<'_>) -> Result<(), String>;
}

/// The text of Kubernetes for a refusal.
pub(super) fn refusal(user: &User, attributes: &Attributes<'_>) -> String {
    let Attributes { verb, group, resource, subresource, namespace, .. } = attributes;
    let part = if subresource.is_empty() { String::new() } else { format!("/{subresource}") };
    let scope = match *namespace {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    format!("User {:?} cannot {verb} resource \"{resource}{part}\" in API group {group:?} {scope}", user.name)
}

/// The same for a path that is no resource.
pub(super) fn path_refusal(user: &User, verb: &str, path: &str) -> String {
    format!("User {:?} cannot {verb} path {path:?}", user.name)
}
