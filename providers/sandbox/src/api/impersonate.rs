//! Impersonation: a request in the name of somebody else, by whoever may `impersonate` them.

use http::HeaderMap;

use super::handler::Api;
use super::hooks::Attributes;
use super::identity::{AUTHENTICATED, User};
use super::status::Failure;
use super::tokens::account_groups;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

impl Api {
    /// The user in whose name the request is made; none: the sender's own.
    pub(super) fn impersonated(&self, sender: &User, headers: &HeaderMap) -> Result<Option<User>, Failure> {
        let first = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let groups: Vec<String> =
            headers.get_all(GROUP).iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
        let mut user = User { name: first(USER).to_owned(), uid: first(UID).to_owned(), groups, ..User::default() };
        for (name, value) in headers {
            if let (Some(key), Ok(value)) = (name.as_str().strip_prefix(EXTRA), value.to_str()) {
                let key = key.replace("%2f", "/").replace("%2F", "/");
                user.extra.entry(key).or_default().push(value.to_owned());
            }
        }
        if user.name.is_empty() {
            return match user == User::default() {
                true => Ok(None),
                false => Err(Failure::bad_request(
                    "requested impersonation of groups, a UID or extra without impersonating a user",
                )),
            };
        }
        let account = user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
        let account = account.map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
        match &account {
            Some((namespace, name)) => self.may_impersonate(sender, "", "serviceaccounts", "", namespace, name)?,
            None => self.may_impersonate(sender, "", "users", "", "", &user.name)?,
        }
        for group in &user.groups {
            self.may_impersonate(sender, "", "groups", "", "", group)?;
        }
        const AUTHENTICATION: &str = "authentication.k8s.io";
        if !user.uid.is_empty() {
            self.may_impersonate(sender, AUTHENTICATION, "uids", "", "", &user.uid)?;
        }
        for (key, value) in user.extra.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value))) {
            self.may_impersonate(sender, AUTHENTICATION, "userextras", key, "", value)?;
        }
        if let Some((namespace, _)) = account.filter(|_| user.groups.is_empty()) {
            user.groups = account_groups(&namespace);
        }
        user.groups.retain(|group| group != AUTHENTICATED);
        Ok(Some(user))
    }

    fn may_impersonate(
        &self,
        sender: &User,
        group: &str,
        resource: &str,
        subresource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<(), Failure> {
        let attributes = Attributes { verb: "impersonate", group, resource, subresource, namespace, name };
        self.authorize(&self.store.read(), sender, &attributes)
    }
}
