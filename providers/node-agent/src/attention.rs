//! How others in the agent's process ask it to look again, and learn that it has.
//!
//! The hardware tells nobody that it was cut anew, and the kubelet's list of devices cannot be watched: by itself the agent
//! notices at its next heartbeat. Who knows earlier, says so here.

use std::sync::Arc;

use tokio::sync::watch;

/// The attention of one agent. Clones are the same.
#[derive(Clone, Debug)]
pub struct Attention {
    /// How often a look was asked for.
    wanted: Arc<watch::Sender<u64>>,
    /// Up to which of them it has looked and reported.
    looked: Arc<watch::Sender<u64>>,
}

impl Default for Attention {
    fn default() -> Self {
        Self { wanted: Arc::new(watch::Sender::new(0)), looked: Arc::new(watch::Sender::new(0)) }
    }
}

impl Attention {
    /// Asks the agent to look soon. Calls while it is busy become one.
    pub fn call(&self) -> u64 {
        let mut number = 0;
        self.wanted.send_modify(|wanted| {
            *wanted += 1;
            number = *wanted;
        });
        number
    }

    /// Returns when the agent has read everything anew after this call, and its object says what it saw. As long as no
    /// agent runs that does not happen: bound it.
    pub async fn look(&self) {
        let number = self.call();
        // Cannot fail: `self` holds the sender.
        let _ = self.looked.subscribe().wait_for(|looked| *looked >= number).await;
    }

    pub(crate) fn calls(&self) -> watch::Receiver<u64> {
        self.wanted.subscribe()
    }

    pub(crate) fn answer(&self, number: u64) {
        self.looked.send_replace(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_look_that_began_before_the_call_is_no_answer() {
        let attention = Attention::default();
        let mut calls = attention.calls();
        let early = attention.call();
        let other = attention.clone();
        let waits = tokio::spawn(async move { other.look().await });
        calls.wait_for(|wanted| *wanted == 2).await.unwrap();
        attention.answer(early);
        assert!(!waits.is_finished());
        attention.answer(2);
        waits.await.unwrap();
    }
}
