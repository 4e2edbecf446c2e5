//! Waiting until an object is as it should be, told by the cluster itself and not by asking again and again.

use std::{pin::pin, time::Duration};

use futures::StreamExt;
use kube::{Api, core::DynamicObject, runtime::watcher};
use providers_api::{Call, ErrorKind, ProviderError};

use super::{Cluster, discovery::Kind};
use crate::object::{key::ObjectKey, readiness::Readiness};

/// After the first failure of a watch; doubled each time, up to [`LONGEST_DELAY`].
const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(8);

/// What is waited for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    /// The object.
    pub(crate) key: &'a ObjectKey,
    /// In words: "Namespace a to be gone".
    pub(crate) what: &'a str,
    /// How long.
    pub(crate) timeout: Duration,
}

impl Cluster {
    /// Waits for an object. `look` sees it each time that it changes; `None`: it is not there.
    ///
    /// A watch that breaks, for whatever passing reason, is taken up again until the time is over: an API server that
    /// restarts, or has forgotten where the watch was, only costs a look at the object as it is then.
    ///
    /// # Errors
    /// It took too long (with what was missing last), it never will be, it was interrupted, or this identity may not watch.
    pub(crate) async fn wait_for(
        &self,
        kind: &Kind,
        awaited: Awaited<'_>,
        call: Call<'_>,
        mut look: impl FnMut(Option<&DynamicObject>) -> Readiness,
    ) -> Result<(), ProviderError> {
        let Awaited { key, what, timeout } = awaited;
        let api = self.objects(kind, kind.namespace(key)).await?;
        let mut seen = pin!(watcher::watch_object(api, &key.name));
        let mut deadline = pin!(tokio::time::sleep(timeout));
        let (mut missing, mut failures) = (String::new(), 0);
        call.waiting(what);
        loop {
            let next = tokio::select! {
                next = seen.next() => next,
                () = &mut deadline => return Err(too_late(awaited, &missing)),
                () = call.cancel.cancelled() => return Err(interrupted(what)),
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
                    let error = self.watch_failed(what, &error);
                    if !passes(&error) {
                        return Err(error);
                    }
                    failures += 1;
                    missing = error.to_string();
                    call.waiting(format!("{what}: {missing}"));
                    tokio::select! {
                        () = tokio::time::sleep(delay(&error, failures)) => {}
                        () = &mut deadline => return Err(too_late(awaited, &missing)),
                        () = call.cancel.cancelled() => return Err(interrupted(what)),
                    }
                }
                None => return Err(ProviderError::permanent(format!("the watch for {what} ended"))),
            }
        }
    }

    /// The objects of a kind for the client's own watches.
    pub(super) async fn objects(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
    ) -> Result<Api<DynamicObject>, ProviderError> {
        let client = self.connection.client().await?;
        let resource = kind.api_resource();
        Ok(match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        })
    }

    pub(super) fn watch_failed(&self, what: &str, error: &watcher::Error) -> ProviderError {
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

fn too_late(awaited: Awaited<'_>, missing: &str) -> ProviderError {
    let because = if missing.is_empty() { String::new() } else { format!(": {missing}") };
    let text = format!("waited {} s for {}{because}", awaited.timeout.as_secs(), awaited.what);
    ProviderError::new(ErrorKind::Timeout, text)
}

fn interrupted(what: &str) -> ProviderError {
    ProviderError::new(ErrorKind::Cancelled, format!("interrupted while waiting for {what}"))
}

/// May a failed watch be taken up again? A moment ago the same server let us write.
pub(super) fn passes(error: &ProviderError) -> bool {
    matches!(error.kind, ErrorKind::Transient { .. } | ErrorKind::Unreachable | ErrorKind::Timeout)
}

/// How long to wait after so many failures in a row; the server's own word wins.
pub(super) fn delay(error: &ProviderError, failures: u32) -> Duration {
    match error.kind {
        ErrorKind::Transient { after: Some(after) } => after,
        _ => LONGEST_DELAY.min(FIRST_DELAY * 2u32.saturating_pow(failures.saturating_sub(1))),
    }
}
