//! What the server was asked, by its audit log.

use std::fs;

use serde::Deserialize;

use super::ControlPlane;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// What the client calls itself.
    pub user_agent: String,
    /// The resource, in the plural; empty for paths that are not of resources.
    pub resource: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    verb: String,
    #[serde(rename = "requestURI")]
    uri: String,
    #[serde(default)]
    user_agent: String,
    user: User,
    #[serde(default)]
    object_ref: ObjectReference,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
struct ObjectReference {
    #[serde(default)]
    resource: String,
}

impl Request {
    /// Whether it would have changed something. A dry run would not; nor would a question (may I, who am I) that is
    /// asked by creating an object which is never stored.
    pub fn is_write(&self) -> bool {
        const QUESTIONS: [&str; 5] = [
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "selfsubjectreviews",
            "subjectaccessreviews",
            "localsubjectaccessreviews",
        ];
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        !matches!(self.verb.as_str(), "get" | "list" | "watch")
            && !QUESTIONS.contains(&self.resource.as_str())
            && !query.split('&').any(|pair| pair == "dryRun=All")
    }
}

impl ControlPlane {
    /// The requests of one user until now, in order. Those of the cluster's own parts are not recorded. A request is
    /// recorded before it is looked at: the log has whatever was answered.
    ///
    /// # Panics
    /// When the log cannot be read.
    pub fn requests_of(&self, user: &str) -> Vec<Request> {
        let text = fs::read_to_string(&self.supervisor.description.audit_log).unwrap();
        // The server may be writing the last line.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let events = lines.map(|line| serde_json::from_str::<Event>(line).unwrap());
        let received = events.filter(|event| event.stage == "RequestReceived" && event.user.username == user);
        let requests = received.map(|event| Request {
            verb: event.verb,
            uri: event.uri,
            user_agent: event.user_agent,
            resource: event.object_ref.resource,
        });
        requests.collect()
    }
}
