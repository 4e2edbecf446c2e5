//! Another API server, over HTTPS.

use std::sync::Arc;
use std::time::Duration;

use engine_diag::chain;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use kube::Client;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::mirror::Mirror;
use crate::api::{Failure, User};
use crate::cluster::ApiServer;

/// How long a server that does not answer is asked again: one that restarts is back by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// Before it is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// See the module. What it answers is in the copy at once.
pub(super) struct Remote {
    client: Client,
    mirror: Arc<Mirror>,
}

impl Remote {
    pub(super) fn new(client: Client, mirror: Arc<Mirror>) -> Self {
        Self { client, mirror }
    }

    async fn send(
        &self,
        user: &User,
        method: &Method,
        path: &str,
        content: &str,
        body: &[u8],
    ) -> Result<Value, Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, content);
            let request = request.header(USER_AGENT, &user.name).body(body.to_vec());
            let request = request.map_err(|_| Failure::bad_request(format!("{path:?} is not a path")))?;
            let failure = match self.client.request::<Value>(request).await {
                Ok(object) => return Ok(object),
                Err(kube::Error::Api(status)) => {
                    let reason = if status.reason == "AlreadyExists" { "AlreadyExists" } else { "" };
                    let failure = Failure::new(status.code, reason, status.message.clone());
                    if status.code < 500 && status.code != 429 {
                        return Err(failure);
                    }
                    failure
                }
                Err(error) => Failure::unavailable(chain(&error)),
            };
            if Instant::now() >= deadline {
                return Err(failure);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

impl ApiServer for Remote {
    /// Waits for the answer in this thread, of which the runtime must have more than one.
    fn call_as(
        &self,
        user: &User,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let sent = self.send(user, method, path, content_type, &body);
        let object = tokio::task::block_in_place(|| Handle::current().block_on(sent))?;
        self.mirror.put(object.clone());
        Ok(object)
    }
}
