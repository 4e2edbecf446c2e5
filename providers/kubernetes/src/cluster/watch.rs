//! Waiting until an object is as it should be, told by the cluster itself and not by asking again and again.

use std::{pin::pin, time::Duration};

use futures::StreamExt;
use kube::{Api, core::DynamicObject, runtime::watcher};
use providers_api::{Call, ErrorKind, ProviderError, retry};

use super::{Cluster, discovery::Kind};
use crate::object::{key::ObjectKey, readiness::Readiness};

impl Cluster {
    /// Waits for an object. `look` sees it each time that it changes; `None`: it is not there. `what` is what is waited
    /// for: "Namespace a to be gone".
    ///
    /// # Errors
    /// It took too long (with what was missing last), it never will be, it was interrupted, or the cluster failed.
    pub(crate) async fn wait_for(
        &self,
        kind: &Kind,
        key: &ObjectKey,
        what: &str,
        timeout: Duration,
        call: Call<'_>,
        mut look: impl FnMut(Option<&DynamicObject>) -> Readiness,
    ) -> Result<(), ProviderError> {
        let client = self.connection.client().await?;
        let resource = kind.api_resource();
        let api: Api<DynamicObject> = match kind.namespace(key) {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        let mut seen = pin!(watcher::watch_object(api, &key.name));
        let mut deadline = pin!(tokio::time::sleep(timeout));
        let (mut missing, mut failures) = (String::new(), 0);
        call.waiting(what);
        loop {
            let next = tokio::select! {
                next = seen.next() => next,
                () = &mut deadline => {
                    let because = if missing.is_empty() { String::new() } else { format!(": {missing}") };
                    let text = format!("waited {} s for {what}{because}", timeout.as_secs());
                    return Err(ProviderError::new(ErrorKind::Timeout, text));
                }
                () = call.cancel.cancelled() => {
                    return Err(ProviderError::new(ErrorKind::Cancelled, format!("interrupted while waiting for {what}")));
                }
            };
            match next {
                Some(Ok(object)) => {
                    failures = 0;
                    match look(object.as_ref()) {
                        Readiness::Ready => return Ok(()),
                        Readiness::Never(why) => return Err(ProviderError::permanent(format!("{what} failed: {why}"))),
                        Readiness::NotYet(more) => {
                            if more != missing {
                                call.waiting(format!("{what}: {more}"));
                                missing = more;
                            }
                        }
                    }
                }
                Some(Err(error)) => {
                    failures += 1;
                    let error = self.watch_failed(what, &error);
                    if !retry::again(call, &error, failures).await {
                        return Err(error);
                    }
                }
                None => return Err(ProviderError::permanent(format!("the watch for {what} ended"))),
            }
        }
    }

    fn watch_failed(&self, what: &str, error: &watcher::Error) -> ProviderError {
        let doing = format!("cannot watch for {what}");
        match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => self.connection.error(&doing, error),
            watcher::Error::WatchError(status) => self.refused(&doing, status.clone()),
            other => ProviderError::new(ErrorKind::Transient { after: None }, format!("{doing}: {other}")),
        }
    }
}
