//! May this identity do something? The API server knows its own rules.

use providers_api::Call;
use serde_json::{Value as Json, json};

use super::{Cluster, discovery::Kind};
use crate::object::key::ObjectKey;

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    /// `patch`.
    pub(crate) verb: &'static str,
    group: String,
    plural: String,
    namespace: Option<String>,
    /// `None`: all objects there.
    name: Option<String>,
}

impl Asked {
    /// A verb on all objects of a kind, where this one lies.
    pub(crate) fn new(verb: &'static str, kind: &Kind, key: &ObjectKey) -> Self {
        let group = kind.api_version.split_once('/').map_or(String::new(), |(group, _)| group.to_owned());
        let namespace = kind.namespace(key).map(str::to_owned);
        Self { verb, group, plural: kind.plural.clone(), namespace, name: None }
    }

    /// The same in all namespaces; `None` where this is of none, or of all.
    pub(crate) fn of_all_namespaces(&self) -> Option<Self> {
        self.namespace.as_ref().map(|_| Self { namespace: None, ..self.clone() })
    }

    /// The same on one object.
    pub(crate) fn of_name(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self.clone() }
    }

    /// On what, for people: `deployments.apps in namespace a`.
    pub(crate) fn place(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        let namespace = self.namespace.as_ref().map_or(String::new(), |name| format!(" in namespace {name}"));
        format!("{}{dot}{}{namespace}", self.plural, self.group)
    }
}

/// What the API server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It may.
    Allowed,
    /// It may not.
    Denied,
    /// It may not even ask.
    Refused,
    /// There is no answer: a server without this API, or one that does not answer now. Silence is then better than a wrong word.
    Unknown,
}

impl Cluster {
    /// May this identity do it?
    pub(crate) async fn may(&self, asked: &Asked, call: Call<'_>) -> Access {
        let mut attributes = json!({"verb": asked.verb, "group": asked.group, "resource": asked.plural});
        for (field, value) in [("namespace", &asked.namespace), ("name", &asked.name)] {
            if let Some(value) = value {
                attributes[field] = value.as_str().into();
            }
        }
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes}});
        let body = Some(("application/json", review.to_string().into_bytes()));
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        match self.send("POST", path, &[], body, "cannot ask what this identity may do", call).await {
            Ok(Ok(answer)) => match answer.pointer("/status/allowed").and_then(Json::as_bool) {
                Some(true) => Access::Allowed,
                Some(false) => Access::Denied,
                None => Access::Unknown,
            },
            Ok(Err(status)) if status.code == 403 => Access::Refused,
            Ok(Err(_)) | Err(_) => Access::Unknown,
        }
    }
}
