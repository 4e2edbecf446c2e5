//! The one retry policy: what is transient is tried again a few times, each time later.

use std::{future::Future, time::Duration};

use crate::{Call, ErrorKind, ProviderError};

/// Tries in all. With the delays below the last one is made after about 47 s: longer than the only API server of a
/// cluster takes to restart, short enough for a person to wait.
const TRIES: u32 = 8;

/// Before the second try; doubled each time.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// No longer than that between two tries, unless the server says so.
const LONGEST_DELAY: Duration = Duration::from_secs(16);

/// A server that wants to be left alone for longer than that is an error: nobody waits so long without being told why.
const MOST_ASKED: Duration = Duration::from_secs(120);

/// How long to wait before try number `tried + 1`; `None`: give up. Never less than the server asks for.
pub fn delay(error: &ProviderError, tried: u32) -> Option<Duration> {
    let ErrorKind::Transient { after } = error.kind else { return None };
    let asked = after.unwrap_or_default();
    let doubled = FIRST_DELAY.saturating_mul(2u32.saturating_pow(tried.saturating_sub(1)));
    (tried < TRIES && asked <= MOST_ASKED).then(|| asked.max(doubled.min(LONGEST_DELAY)))
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
        assert_eq!(delay(&transient(Some(Duration::from_secs(1))), 5), Some(FIRST_DELAY * 16));
        assert_eq!(delay(&transient(None), TRIES - 1), Some(LONGEST_DELAY));
        assert_eq!(delay(&transient(None), TRIES), None);
        assert_eq!(delay(&transient(Some(Duration::from_secs(3600))), 1), None);
    }
}
