//! Something that requests wait for, until a test lets them go on: slowness without a clock.

use std::sync::Arc;

use tokio::sync::watch;

/// See the module. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_open: bool,
    /// How many have come, those that went on included.
    arrived: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }
}

impl Gate {
    /// Lets all go on that wait, and all that come.
    pub fn open(&self) {
        self.0.send_modify(|state| state.is_open = true);
    }

    /// Makes those wait that come from now on.
    pub fn close(&self) {
        self.0.send_modify(|state| state.is_open = false);
    }

    /// Returns when so many requests have come to the gate since it was made.
    pub async fn arrived(&self, requests: usize) {
        // The sender lives in this gate, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|state| state.arrived >= requests).await;
    }

    /// Comes to the gate and goes on when it is open.
    pub(in crate::api) async fn pass(&self) {
        self.0.send_modify(|state| state.arrived += 1);
        let _ = self.0.subscribe().wait_for(|state| state.is_open).await;
    }
}
