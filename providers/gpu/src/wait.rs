//! Waiting for a condition with a deadline, its cause told at every look while it lasts. The only sleep of this crate.

use std::time::Duration;

use providers_api::{Call, ErrorKind, ProviderError};
use tokio::time::Instant;

/// Between the first looks: short, since most conditions hold within a second of being asked.
const FIRST: Duration = Duration::from_millis(100);

/// Between later looks: a fleet of 500 nodes then costs an API server 250 reads a second at most.
const LONGEST: Duration = Duration::from_secs(2);

/// Does it hold?
pub(crate) enum Wait<T> {
    /// It does.
    Done(T),
    /// Not yet; what is waited for: "pod team-b/nb-1 to end".
    For(String),
}

/// How long something is waited for. Made before the first look; [`Patience::wait`] stands between two looks.
pub(crate) struct Patience<'a> {
    call: Call<'a>,
    limit: Duration,
    deadline: Instant,
    pause: Duration,
}

impl<'a> Patience<'a> {
    /// Patience that ends after so long.
    pub(crate) fn new(call: Call<'a>, limit: Duration) -> Self {
        Self { call, limit, deadline: Instant::now() + limit, pause: FIRST }
    }

    /// Waits until the next look is worth it, and tells what for: at each look, so that whoever shows it knows that it lasts.
    ///
    /// # Errors
    /// The deadline has passed (kind timeout, with what was waited for); it was interrupted (kind cancelled).
    pub(crate) async fn wait(&mut self, what: String) -> Result<(), ProviderError> {
        if Instant::now() >= self.deadline {
            let what = format!("waited {} s for {what}", self.limit.as_secs());
            return Err(ProviderError::new(ErrorKind::Timeout, what));
        }
        self.call.waiting(what.clone());
        tokio::select! {
            () = tokio::time::sleep_until((Instant::now() + self.pause).min(self.deadline)) => {}
            () = self.call.cancel.cancelled() => {
                let what = format!("interrupted while waiting for {what}");
                return Err(ProviderError::new(ErrorKind::Cancelled, what));
            }
        }
        self.pause = (self.pause * 2).min(LONGEST);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use engine_model::{
        event::{Doing, Progress},
        host::FixedHost,
    };
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Progress for Told {
        fn doing(&self, doing: Doing) {
            let (Doing::Waiting(text) | Doing::Working(text)) = doing;
            self.0.lock().unwrap().push(text);
        }
    }

    async fn wait(answers: &[&str], cancelled: bool) -> (Result<(), ProviderError>, Vec<String>, usize) {
        let (told, cancel, host) = (Told::default(), CancellationToken::new(), FixedHost::new(0));
        if cancelled {
            cancel.cancel();
        }
        let call = Call { progress: &told, cancel: &cancel, host: &host };
        let (mut looks, mut patience) = (0, Patience::new(call, Duration::from_secs(60)));
        let result = loop {
            let answer = answers.get(looks).or(answers.last()).unwrap();
            looks += 1;
            if answer.is_empty() {
                break Ok(());
            }
            if let Err(error) = patience.wait((*answer).to_owned()).await {
                break Err(error);
            }
        };
        (result, told.0.into_inner().unwrap(), looks)
    }

    #[tokio::test(start_paused = true)]
    async fn causes_are_told_while_they_last_and_the_end_is_seen() {
        let (result, told, looks) = wait(&["a", "a", "b", ""], false).await;
        assert!(result.is_ok());
        assert_eq!((told, looks), (["a", "a", "b"].map(str::to_owned).to_vec(), 4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_says_what_was_waited_for() {
        let (result, _, looks) = wait(&["gpu-01 to be ready"], false).await;
        let error = result.unwrap_err();
        assert_eq!(
            (error.kind, error.to_string()),
            (ErrorKind::Timeout, "waited 60 s for gpu-01 to be ready".to_owned())
        );
        assert!(looks < 60, "{looks} looks in a minute are too many");
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupt_ends_it() {
        let (result, _, looks) = wait(&["x"], true).await;
        assert_eq!((result.unwrap_err().kind, looks), (ErrorKind::Cancelled, 1));
    }
}
