//! The one retry policy: what is transient is tried again a few times, each time later.

use std::{future::Future, time::Duration};

use crate::{Call, ErrorKind, ProviderError};

/// Tries in all. With the delays below the last one is made after about 15 s: longer than an API server takes to
/// restart behind a load balancer, short enough for a person to wait.
const TRIES: u32 = 6;

/// Before the second try; doubled each time.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// How long to wait before try number `tried + 1`; `None`: give up. The server's own word wins over the doubling.
pub fn delay(error: &ProviderError, tried: u32) -> Option<Duration> {
    match error.kind {
        ErrorKind::Transient { after } if tried < TRIES => {
            Some(after.unwrap_or(FIRST_DELAY * 2u32.saturating_pow(tried.saturating_sub(1))))
        }
        _ => None,
    }
}

/// Calls until it succeeds, fails for good, or was tried often enough. Ends early at an interrupt.
///
/// # Errors
/// The last error.
pub async fn retrying<T, F>(call: Call<'_>, mut attempt: impl FnMut() -> F) -> Result<T, ProviderError>
where
    // Not `AsyncFnMut`: the compiler cannot tell that such a call may move between threads, as instances' must.
    F: Future<Output = Result<T, ProviderError>>,
{
    let mut tried = 0;
    loop {
        let error = match attempt().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        tried += 1;
        if !again(call, &error, tried).await {
            return Err(error);
        }
    }
}

/// Waits before try number `tried + 1`. False: it failed for good, was tried often enough, or was interrupted.
pub async fn again(call: Call<'_>, error: &ProviderError, tried: u32) -> bool {
    let Some(delay) = delay(error, tried) else { return false };
    call.waiting(format!("the next try in {} s: {error}", delay.as_secs_f32()));
    tokio::select! {
        () = tokio::time::sleep(delay) => true,
        () = call.cancel.cancelled() => false,
    }
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Silent;

    fn transient(after: Option<Duration>) -> ProviderError {
        ProviderError::new(ErrorKind::Transient { after }, "the server is busy")
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_transient_is_tried_again_and_what_is_not_is_not() {
        for (kind, expected) in
            [(ErrorKind::Transient { after: None }, TRIES), (ErrorKind::Permanent, 1), (ErrorKind::Conflict, 1)]
        {
            let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
            let mut tries = 0;
            let call = Call { progress: &Silent, cancel: &cancel, host: &host };
            let result = retrying(call, || {
                tries += 1;
                async move { Err::<(), _>(ProviderError::new(kind, "no")) }
            })
            .await;
            assert!(result.is_err());
            assert_eq!(tries, expected, "{kind:?}");
        }
    }

    #[test]
    fn the_server_may_say_when() {
        let seven = Duration::from_secs(7);
        assert_eq!(delay(&transient(Some(seven)), 1), Some(seven));
        assert_eq!(delay(&transient(None), 3), Some(FIRST_DELAY * 4));
        assert_eq!(delay(&transient(None), TRIES), None);
    }
}
