//! The API server that the parts of a cluster work at: the sandbox's own, or another that the nodes of a fleet have joined.

use http::Method;
use serde_json::Value;

use crate::api::{Api, Failure, User};

/// Requests, one after the other. What is written is in the store that the cluster reads when the call returns.
pub(crate) trait ApiServer: Send + Sync {
    /// One request. The content type tells the kinds of patches apart.
    ///
    /// # Errors
    /// What the server refuses.
    fn call_as(
        &self,
        user: &User,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure>;

    /// The same, where a patch is one that merges.
    ///
    /// # Errors
    /// What the server refuses.
    fn call(&self, user: &User, method: &Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let content_type = if *method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        self.call_as(user, method, path, content_type, body)
    }
}

impl ApiServer for Api {
    fn call_as(
        &self,
        user: &User,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        Self::call_as(self, user, method, path, content_type, body)
    }
}
