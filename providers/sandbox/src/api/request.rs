//! One request on its way: who asks, for what, with which options; and what the verbs need at hand.

use jiff::Timestamp;

use super::form::Form;
use super::handler::Api;
use super::identity::User;
use super::managed::Writer;
use super::options::Options;
use super::place::Place;
use super::resource::Resource;
use super::status::Failure;
use crate::store::{Key, Mode, Transaction};

/// See the module.
pub(super) struct Request<'a> {
    pub(super) api: &'a Api,
    pub(super) user: &'a User,
    pub(super) options: Options,
    pub(super) place: Place,
    pub(super) form: Form,
    /// The moment that this request writes into objects, in whole seconds as Kubernetes keeps them.
    pub(super) now: Timestamp,
    /// For the managers of updates that do not name theirs.
    pub(super) user_agent: String,
    /// Sent as `Warning` headers.
    pub(super) warnings: Vec<String>,
}

impl<'a> Request<'a> {
    /// The moment, as objects carry it.
    pub(super) fn time(&self) -> String {
        self.now.to_string()
    }

    /// The transaction of a write.
    pub(super) fn begin(&self) -> Transaction<'a> {
        self.api.store.begin(if self.options.dry_run { Mode::DryRun } else { Mode::Write })
    }

    /// The name in the path.
    pub(super) fn name(&self) -> &str {
        self.place.name.as_deref().unwrap_or_default()
    }

    /// The namespace in the path.
    pub(super) fn namespace(&self) -> &str {
        self.place.namespace.as_deref().unwrap_or_default()
    }

    /// The key of the object that the path names.
    pub(super) fn key(&self, resource: &Resource) -> Key {
        resource.key(self.namespace(), self.name())
    }

    /// The field manager: as named, or the client's program.
    pub(super) fn manager(&self) -> String {
        match &self.options.field_manager {
            Some(name) => name.clone(),
            None => self.user_agent.split('/').next().filter(|name| !name.is_empty()).unwrap_or("unknown").to_owned(),
        }
    }

    /// Who writes, for field ownership.
    pub(super) fn writer<'w>(&'w self, manager: &'w str, api_version: &'w str, now: &'w str) -> Writer<'w> {
        Writer { manager, api_version, subresource: &self.place.subresource, now }
    }

    /// The object that the path names is not there.
    pub(super) fn not_found(&self, resource: &Resource) -> Failure {
        Failure::not_found(&resource.group, &resource.plural, self.name())
    }
}
