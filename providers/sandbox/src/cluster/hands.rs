//! How the parts of a cluster write: through the API, each under its own name.

use std::sync::Arc;

use http::Method;
use serde_json::Value;

use super::ApiServer;
use crate::api::{Failure, User};
use crate::world::Trouble;

/// One pair for all of them.
pub(super) struct Hands {
    api: Arc<dyn ApiServer>,
    trouble: Trouble,
}

/// Who writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Kubelet,
    DevicePlugin,
    FeatureDiscovery,
    Scheduler,
    Controllers,
    Commands,
}

impl Part {
    fn user(self) -> User {
        User::admin(match self {
            Self::Scheduler => "kube-scheduler",
            other => other.component(),
        })
    }

    /// Who tells an event.
    pub(super) fn component(self) -> &'static str {
        match self {
            Self::Kubelet => "kubelet",
            Self::DevicePlugin => "nvidia-device-plugin",
            Self::FeatureDiscovery => "gpu-feature-discovery",
            Self::Scheduler => "default-scheduler",
            Self::Controllers => "kube-controller-manager",
            Self::Commands => "sandbox",
        }
    }
}

impl Hands {
    pub(super) fn new(api: Arc<dyn ApiServer>, trouble: Trouble) -> Self {
        Self { api, trouble }
    }

    /// A merge patch. What is gone meanwhile needs no patch.
    pub(super) fn merge(&self, part: Part, path: &str, body: &Value) {
        self.done(part, path, self.api.call(&part.user(), &Method::PATCH, path, Some(body)));
    }

    /// A server-side apply.
    pub(super) fn apply(&self, part: Part, path: &str, body: &Value) {
        let user = part.user();
        let path = format!("{path}?fieldManager={}&force=true", user.name);
        let answer = self.api.call_as(&user, &Method::PATCH, &path, "application/apply-patch+yaml", Some(body));
        self.done(part, &path, answer);
    }

    pub(super) fn create(&self, part: Part, path: &str, body: &Value) {
        self.done(part, path, self.api.call(&part.user(), &Method::POST, path, Some(body)));
    }

    pub(super) fn delete(&self, part: Part, path: &str, body: &Value) {
        self.done(part, path, self.api.call(&part.user(), &Method::DELETE, path, Some(body)));
    }

    /// A call that may be refused: by a quota, a limit, or because somebody was faster.
    pub(super) fn attempt(&self, part: Part, method: &Method, path: &str, body: &Value) -> Result<Value, Failure> {
        self.api.call(&part.user(), method, path, Some(body))
    }

    /// An object that changed or went in between is looked at again, since its change is in the feed.
    fn done(&self, part: Part, path: &str, answer: Result<Value, Failure>) {
        match answer {
            Ok(_) => {}
            Err(failure) if [404, 409].contains(&failure.code) => {}
            Err(failure) => {
                self.trouble.report(format!("{} was refused at {path}: {}", part.user().name, failure.message));
            }
        }
    }
}
